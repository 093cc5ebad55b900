import { join } from "node:path";
import type { Context } from "aws-lambda";
import * as v from "valibot";
import { runExecution, runScan } from "#shared/sandbox/harness-process.ts";
import { emptyTemporaryDirectory } from "#shared/sandbox/processes.ts";
import { removeAbandoned } from "#shared/sandbox/scratch.ts";
import { Envelope } from "#shared/wire/harness.ts";
import { ScanRequest } from "#shared/wire/scan.ts";

/**
 * Reserved from the function's time so that the harness can end its run, and this function can report a harness that did not. A short
 * invocation reserves a quarter of its time.
 */
const MARGIN_MS = 15_000;
const MARGIN_SHARE = 0.25;

type SandboxContext = Pick<Context, "getRemainingTimeInMillis">;

/** Handles a scan for skills, which returns its result, or an envelope, whose execution runs to its end. */
export async function runSandbox(event: unknown, context: SandboxContext): Promise<unknown> {
  if (isScan(event)) return runScan(v.parse(ScanRequest, event), program("scan.mjs"));
  const envelope = v.parse(Envelope, event);
  const time = context.getRemainingTimeInMillis();
  const margin = Math.min(MARGIN_MS, time * MARGIN_SHARE);
  const options = { program: program("harness.mjs"), graceMs: margin / 3, print };
  await Promise.all([
    runExecution({ ...envelope, deadline_at: Date.now() + time - margin }, options),
    removeAbandoned(),
  ]);
  return undefined;
}

/** Does the same where executions share Lambda's environments: its caller ends the process after each execution. */
export async function runSharedSandbox(event: unknown, context: SandboxContext): Promise<unknown> {
  // Lambda keeps the files of an environment, even where its process exits between executions.
  if (!isScan(event)) await emptyTemporaryDirectory();
  return runSandbox(event, context);
}

/** Does the same on the runtime of Node, which serves further invocations from the same process. */
export async function runSandboxAndExit(event: unknown, context: SandboxContext): Promise<unknown> {
  const result = await runSharedSandbox(event, context);
  // Nobody reads the result of an asynchronous invocation.
  if (!isScan(event)) process.exit(0);
  return result;
}

const isScan = (event: unknown): boolean => v.is(v.looseObject({ kind: v.literal("scan") }), event);

/** A program next to this one. */
const program = (file: string) => ({ file: join(import.meta.dirname, file) });

function print(line: string): void {
  // biome-ignore lint/suspicious/noConsole: The lines are log entries already; the console is where the runtime takes them from.
  console.log(line);
}
