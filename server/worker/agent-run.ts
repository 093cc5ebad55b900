import { randomUUID } from "node:crypto";
import * as v from "valibot";
import { runExecution } from "#shared/sandbox/harness-process.ts";
import { type Envelope, ResolvePromptResponse } from "#shared/wire/harness.ts";
import { HARNESS_PROTOCOL } from "#shared/wire/protocol.ts";
import { complain, Problem, say } from "../host/terminal.ts";
import { prepareHarness } from "./harness-program.ts";
import type { AgentOptions } from "./options.ts";
import { describeRefusal } from "./refusal.ts";

const GRACE_MS = 5_000;
/** Exit codes, as AGENT_HELP lists them. */
const ENDED = 0;
const LOST = 1;
const REFUSED = 3;

/** Executes one run, as the program that a worker starts for each task. Returns the exit code. */
export async function runAgent(options: AgentOptions, environment: NodeJS.ProcessEnv, stop: AbortSignal) {
  const { program } = await prepareHarness(options.isolates, options.directory, environment);
  const executionId = environment["RUNYARD_EXECUTION_ID"] || (await findExecution(options));
  if (executionId === undefined) {
    complain(`The service refused the key of run ${options.runId}: its execution is over, or has not been claimed.`);
    return REFUSED;
  }
  const envelope: Envelope = {
    version: 1,
    base_url: options.baseUrl,
    model_url: environment["RUNYARD_MODEL_URL"] || `${options.baseUrl}/model`,
    run_id: options.runId,
    execution_id: executionId,
    key: options.key,
    waits: true,
  };
  say(`run ${options.runId}: started, execution ${executionId}`);
  const loss = await runExecution(envelope, { program: program(), print: say, stop, graceMs: GRACE_MS });
  say(`run ${options.runId}: ${loss === undefined ? "ended" : `lost: ${loss}`}`);
  return loss === undefined ? ENDED : LOST;
}

/** Asks the service which execution the key is for; undefined if it refuses the key. */
async function findExecution({ baseUrl, key }: AgentOptions): Promise<string | undefined> {
  const response = await fetch(`${baseUrl}/harness-support/resolve-prompt`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${key}`,
      "content-type": "application/json",
      "runyard-protocol": String(HARNESS_PROTOCOL),
      "x-request-id": randomUUID(),
    },
    body: "{}",
  });
  const text = await response.text();
  if (response.status === 401 || response.status === 403) return undefined;
  if (!response.ok) throw new Problem(`${baseUrl} returned ${describeRefusal(response.status, text)}`);
  return v.parse(v.pipe(v.string(), v.parseJson(), ResolvePromptResponse), text).context?.execution_id;
}
