import { vi } from "vitest";
import { type CommandRequest, createCommandRunner } from "#harness/commands/command-runner.ts";
import { prepareHost } from "#harness/isolation/host.ts";
import { createMarker } from "#harness/isolation/processes.ts";
import { createRedactor } from "#harness/redaction/redactor.ts";

export const SECRET = "planted-value-0001";

/** A command runner as an execution uses it. */
export async function createStage(kind: string) {
  vi.stubEnv("RUNYARD_SANDBOX", kind);
  // It reads its variables, also those of limits, before it first waits, so that stages can be created at the same time.
  const preparation = prepareHost();
  vi.unstubAllEnvs();
  const host = await preparation;
  const executionId = crypto.randomUUID();
  const sandbox = host.sandbox({ runId: "run-1", marker: createMarker(executionId), secrets: { TOKEN: SECRET } });
  const stop = new AbortController();
  const redactor = createRedactor([SECRET]);
  const options = { sandbox, host: host.workspace.paths, executionId, redactor, signal: stop.signal };
  const runner = createCommandRunner(options);
  const workingDirectory = sandbox.paths.workspace;
  return {
    stop,
    options,
    workingDirectory,
    host: host.workspace.paths,
    seen: sandbox.paths,
    runner,
    run: (command: string, more: Partial<CommandRequest> = {}) =>
      runner.run({ command, workingDirectory, timeoutMs: 60_000, ...more }),
    [Symbol.asyncDispose]: () => host.close(),
  };
}
