import { runSandbox, runSharedSandbox } from "../functions/executions/run-sandbox.ts";
import { copyHarness, takeEnvelope } from "./container.ts";
import { serveInvocations } from "./lambda-runtime.ts";
import { serveHooks } from "./microvm-hooks.ts";

/** Port for the hooks of a MicroVM, as in infra/constructs/microvm-image.ts. */
const HOOKS_PORT = 9000;
/** The longest execution if the envelope has no deadline. */
const MAX_EXECUTION_MS = 86_400_000;

/** Runs the execution of an envelope that contains its deadline, like the Lambda function does. */
const execute = (envelope: unknown): Promise<unknown> =>
  runSandbox(envelope, {
    getRemainingTimeInMillis: () => (readDeadline(envelope) ?? Date.now() + MAX_EXECUTION_MS) - Date.now(),
  });

function readDeadline(envelope: unknown): number | undefined {
  if (typeof envelope !== "object" || envelope === null || !("deadline_at" in envelope)) return undefined;
  return typeof envelope.deadline_at === "number" ? envelope.deadline_at : undefined;
}

/** The entry point of every sandbox on AWS: a Lambda function, a MicroVM, or one of the two containers of a task. */
async function main(): Promise<void> {
  // A custom image may contain bubblewrap, which does not work in these machines and is not needed.
  process.env["RUNYARD_SANDBOX"] ??= "machine";
  const [what, folder = ""] = process.argv.slice(2);
  const runtime = process.env["AWS_LAMBDA_RUNTIME_API"];
  if (runtime !== undefined) {
    const isShared = what === "sharedHandler";
    return serveInvocations(runtime, isShared ? runSharedSandbox : runSandbox, { once: isShared });
  }
  if (what === "copy") return copyHarness(folder, process.env["RUNYARD_ENVELOPE"] ?? "");
  if (what === "run") return void (await execute(takeEnvelope(folder)));
  await serveHooks(Number(process.env["RUNYARD_HOOKS_PORT"] ?? HOOKS_PORT), execute);
}

main().then(
  () => process.exit(0),
  (error: unknown) => {
    process.stderr.write(`${JSON.stringify({ level: "error", message: String(error) })}\n`);
    process.exit(1);
  },
);
