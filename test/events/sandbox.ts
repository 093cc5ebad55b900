import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { isDeepStrictEqual } from "node:util";
import { build } from "esbuild";
import * as v from "valibot";
import type { Outcome } from "./expectations.ts";

const Module = v.object({ runSandbox: v.function() });
const Received = v.pipe(v.string(), v.parseJson(), v.looseObject({ deadline_at: v.number() }));

/** A harness that writes its input to a file in its own folder, and exits. */
const HARNESS = `
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
writeFileSync(join(import.meta.dirname, "received.json"), readFileSync(0));
`;

/** A scan program that finds nothing. */
const SCAN = `process.stdout.write(JSON.stringify({ outcome: "found", files: [], left_out: 0 }));`;

/** Invokes the sandbox function, bundled as it is deployed, with stand-ins for its programs. */
export async function runSandbox(event: unknown): Promise<Outcome> {
  const folder = mkdtempSync(join(tmpdir(), "runyard-events-"));
  const before = process.env["TMPDIR"];
  try {
    await build({
      entryPoints: { index: join(import.meta.dirname, "../../functions/executions/run-sandbox.ts") },
      outdir: folder,
      outExtension: { ".js": ".mjs" },
      bundle: true,
      platform: "node",
      format: "esm",
    });
    writeFileSync(join(folder, "harness.mjs"), HARNESS);
    writeFileSync(join(folder, "scan.mjs"), SCAN);
    mkdirSync(join(folder, "tmp"));
    process.env["TMPDIR"] = join(folder, "tmp");
    const { runSandbox: handler } = v.parse(Module, await import(pathToFileURL(join(folder, "index.mjs")).href));
    const responses: unknown = await handler(event, { getRemainingTimeInMillis: () => 60_000 });
    if (responses !== undefined) return { responses };
    const { deadline_at, ...envelope } = v.parse(Received, readFileSync(join(folder, "received.json"), "utf8"));
    return { harness: deadline_at > Date.now() && isDeepStrictEqual(envelope, event) ? "started" : "not started" };
  } finally {
    if (before === undefined) delete process.env["TMPDIR"];
    else process.env["TMPDIR"] = before;
    rmSync(folder, { recursive: true, force: true });
  }
}
