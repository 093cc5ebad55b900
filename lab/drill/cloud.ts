import { mkdir } from "node:fs/promises";
import path from "node:path";
import * as v from "valibot";
import { cdkEnvironment } from "../../emulator/deployment.ts";
import { killEmulator, startEmulator } from "../../emulator/emulator.ts";
import { wakeFunction } from "../../emulator/emulator-calls.ts";
import { startHttpProxy } from "../../emulator/http-proxy.ts";
import { ensurePythonEnvironment } from "../../emulator/python-environment.ts";
import { Timers } from "../../emulator/timers.ts";
import { root, runCommand } from "../../scripts/run-command.ts";
import { lastLines } from "../../server/host/commands.ts";
import { findIsolation } from "../../server/host/isolation.ts";
import { localPaths } from "../../server/host/paths.ts";
import { firstFreePort } from "../../server/host/ports.ts";
import { Problem } from "../../server/host/terminal.ts";
import { startKeyProxy } from "./key-proxy.ts";

const FIRST_PORT = 16_000;
const COMMAND_SECONDS = 600;

/** An emulated AWS account with nothing in it, and the address at which its API will be served. */
export interface DrillCloud {
  readonly url: string;
  /** Runs a command of docs/aws.md in a directory, and returns its output. @throws Problem if it fails */
  run(command: string, directory: string): Promise<string>;
  /** The outputs of a stack. */
  readOutputs(stack: string): Promise<Readonly<Record<string, string>>>;
  /** Serves the API that is deployed now at the address. */
  serveApi(): Promise<void>;
  stop(): Promise<void>;
}

const Stacks = v.object({
  Stacks: v.array(v.object({ Outputs: v.optional(v.array(v.record(v.string(), v.string())), []) })),
});

/** Starts it with its state below a directory. */
export async function startDrillCloud(home: string, python: string, signal: AbortSignal): Promise<DrillCloud> {
  const paths = localPaths({ RUNYARD_STATE: home });
  const commandLine = path.join(root, ".runyard", "aws-cli");
  await ensurePythonEnvironment(paths.venv, python, signal);
  await ensurePythonEnvironment(commandLine, python, signal, path.join(import.meta.dirname, "requirements.txt"));
  const timers = await Timers.open(paths.timers);
  const proxy = await startHttpProxy({
    port: await firstFreePort(FIRST_PORT),
    webDirectory: path.join(root, "dist/web"),
    timers,
  });
  const { isolation } = await findIsolation();
  const emulator = await startEmulator(paths, {
    port: await firstFreePort(FIRST_PORT + 1_000),
    scratch: home,
    schedulerUrl: proxy.schedulerUrl,
    environment: { ...process.env, RUNYARD_SANDBOX: isolation },
    remember: async () => undefined,
  });
  const keyProxy = await startKeyProxy(emulator);
  timers.begin((name, event) => wakeFunction(emulator, name, JSON.parse(event)));
  const user = path.join(home, "user");
  await mkdir(user, { recursive: true });
  // Settings and credentials of the caller must not reach the commands.
  const foreign = Object.keys(process.env).filter((name) => /^(AWS|CDK)_/.test(name));
  const own = cdkEnvironment(emulator, process.env);
  const environment = {
    ...Object.fromEntries(Object.entries(own).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]))),
    HOME: user,
    PATH: [path.join(commandLine, "bin"), path.dirname(process.execPath), process.env["PATH"] ?? ""].join(
      path.delimiter,
    ),
    CDK_REQUIRE_APPROVAL: "never",
    // The templates are checked by tests; here it would take as long as the rest of the synthesis.
    CDK_VALIDATION: "false",
    AWS_PAGER: "",
  };

  const run: DrillCloud["run"] = async (command, directory) => {
    // A person would confirm it. The templates are those of the last deployment.
    const confirmed = command.startsWith("npx cdk destroy") ? { CDK_FORCE: "true", CDK_APP: "cdk.out" } : {};
    const address = command.startsWith("aws ") ? { AWS_ENDPOINT_URL: keyProxy.url } : {};
    const env = { ...environment, ...confirmed, ...address };
    const options = { cwd: directory, env, timeoutSeconds: COMMAND_SECONDS };
    const unset = foreign.filter((name) => !(name in env)).flatMap((name) => ["--unset", name]);
    const { exitCode, output } = await runCommand("env", [...unset, "bash", "-euc", command], options);
    if (exitCode !== 0) throw new Problem(`This command failed: ${command}`, lastLines(output, 40));
    return output;
  };
  const readOutputs: DrillCloud["readOutputs"] = async (stack) => {
    const reply = await run(`aws cloudformation describe-stacks --stack-name ${stack} --output json`, home);
    const { Stacks: [found] = [] } = v.parse(v.pipe(v.string(), v.parseJson(), Stacks), reply);
    return Object.fromEntries(
      (found?.Outputs ?? []).map((output) => [output["OutputKey"], output["OutputValue"] ?? ""]),
    );
  };
  return {
    url: `http://127.0.0.1:${proxy.port}`,
    run,
    readOutputs,
    async serveApi() {
      const { ApiId } = await readOutputs("Runyard-Api");
      proxy.openTo(`${emulator.endpoint}/_aws/execute-api/${ApiId}/$default`, emulator.secretKey);
    },
    async stop() {
      await Promise.all([proxy.close(), keyProxy.close()]);
      await timers.end();
      killEmulator(emulator.mark);
      await emulator.ended;
    },
  };
}
