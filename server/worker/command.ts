import { setLogOutput } from "#shared/log/log.ts";
import { abortOnSignals } from "../command/stop-signals.ts";
import { say } from "../host/terminal.ts";
import { checkSwitches } from "../switches.ts";
import { AGENT_HELP, parseAgentOptions, parseWorkerOptions, WORKER_HELP } from "./options.ts";

/** `runyard-server worker …`: executes the runs of a self-hosted worker. Returns the exit code. @throws UsageError */
export async function workerCommand(args: readonly string[]): Promise<number> {
  const options = parseWorkerOptions(args, process.env);
  if (options === undefined) return showHelp(WORKER_HELP);
  checkSwitches(process.env);
  setLogOutput((line) => process.stderr.write(line));
  const { runWorker } = await import("./worker.ts");
  return runWorker(options, abortOnSignals());
}

/** `runyard-server agent run …`: executes one run, for a worker of another kind. Returns the exit code. @throws UsageError */
export async function agentCommand(args: readonly string[]): Promise<number> {
  const options = parseAgentOptions(args, process.env);
  if (options === undefined) return showHelp(AGENT_HELP);
  checkSwitches(process.env);
  const { runAgent } = await import("./agent-run.ts");
  return runAgent(options, process.env, abortOnSignals());
}

function showHelp(help: string): number {
  say(help);
  return 0;
}
