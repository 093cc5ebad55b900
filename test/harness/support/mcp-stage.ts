import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { buildSync } from "esbuild";
import { createCommandRunner } from "#harness/commands/command-runner.ts";
import { createShell } from "#harness/commands/shell.ts";
import { prepareHost } from "#harness/isolation/host.ts";
import { createMarker } from "#harness/isolation/processes.ts";
import { createRedactor } from "#harness/redaction/redactor.ts";
import { createSlice } from "#harness/support/time-slice.ts";
import { connectServers } from "#harness/tools/remote/mcp-servers.ts";
import type { ServerConfig } from "#harness/tools/remote/mcp-settings.ts";
import { fixedValues } from "#harness/tools/remote/mcp-tokens.ts";
import { createOutwardFetch } from "#harness/tools/remote/outward-fetch.ts";

export interface Report {
  readonly text: string;
  readonly isError: boolean;
}

/** A sandbox as an execution has it, in which MCP servers can be started. */
export async function mcpStage({ sandbox: kind = "bubblewrap", secrets = {}, loopback = false } = {}) {
  const before = process.env["RUNYARD_SANDBOX"];
  process.env["RUNYARD_SANDBOX"] = kind;
  const host = await prepareHost();
  const executionId = crypto.randomUUID();
  const sandbox = host.sandbox({ runId: "run-1", marker: createMarker(executionId), secrets });
  if (before === undefined) delete process.env["RUNYARD_SANDBOX"];
  else process.env["RUNYARD_SANDBOX"] = before;
  const redactor = createRedactor(Object.values(secrets));
  const stop = new AbortController();
  const places = host.workspace.paths;
  const runner = createCommandRunner({ sandbox, host: places, executionId, redactor, signal: stop.signal });
  const shell = createShell({
    runner,
    workingDirectory: sandbox.paths.workspace,
    slice: createSlice(undefined),
  });
  const reports: Report[] = [];
  return {
    sandbox,
    places,
    shell,
    redactor,
    stop,
    /** What was reported to the timeline. */
    reports,
    connect: (servers: Readonly<Record<string, ServerConfig>>, { connectMs = 60_000 } = {}) =>
      connectServers(servers, {
        sandbox,
        host: places,
        executionId,
        workingDirectory: sandbox.paths.workspace,
        redactor,
        values: fixedValues({}),
        signal: stop.signal,
        fetch: createOutwardFetch({ loopback, privateNetworks: false }),
        connectMs,
        async timed(detail, work) {
          try {
            const result = await work();
            reports.push({ text: detail(result), isError: false });
            return result;
          } catch (error) {
            reports.push({ text: error instanceof Error ? error.message : "", isError: true });
            throw error;
          }
        },
      }),
    async [Symbol.asyncDispose]() {
      stop.abort(new Error("the test is over"));
      await host.close();
    },
  };
}

const require = createRequire(import.meta.url);

/** The programs of real servers. */
export const SERVERS = {
  everything: join(dirname(require.resolve("@modelcontextprotocol/server-everything/package.json")), "dist/index.js"),
  filesystem: join(dirname(require.resolve("@modelcontextprotocol/server-filesystem/package.json")), "dist/index.js"),
};

/** A server of the npm registry as one file, which needs nothing but Node. */
export function bundledServer(name: "everything" | "filesystem", folder: string): void {
  const outfile = join(folder, `${name}.mjs`);
  buildSync({
    entryPoints: [SERVERS[name]],
    bundle: true,
    platform: "node",
    format: "esm",
    outfile,
    logLevel: "error",
    banner: { js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);' },
  });
}
