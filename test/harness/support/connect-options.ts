import { tmpdir } from "node:os";
import { createPlainSandbox } from "#harness/isolation/sandbox.ts";
import { createRedactor } from "#harness/redaction/redactor.ts";
import type { ConnectOptions } from "#harness/tools/remote/mcp-connection.ts";
import { fixedValues } from "#harness/tools/remote/mcp-tokens.ts";

/** Options to connect to an MCP server without an isolation boundary, of a run with one secret. */
export function createConnectOptions(options: Partial<ConnectOptions> = {}): ConnectOptions {
  const paths = { workspace: tmpdir(), home: tmpdir(), tmp: tmpdir(), output: tmpdir(), steps: tmpdir() };
  return {
    sandbox: createPlainSandbox({ host: paths, runId: "run-1", marker: {} }, "none"),
    host: paths,
    executionId: crypto.randomUUID(),
    workingDirectory: tmpdir(),
    redactor: createRedactor(["s3cr3t-value-of-the-run"]),
    signal: new AbortController().signal,
    fetch: (target, init) => fetch(target, init),
    values: fixedValues({}),
    ...options,
  };
}
