import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Bundle, bundle, bundleSizes, entryFiles } from "#infra/bundle.ts";
import { repository } from "./synthesize.ts";

let root: string;
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), "runyard-bundle-"));
  symlinkSync(join(repository, "node_modules"), join(root, "node_modules"));
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

const write = (path: string, text: string) => {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
};

describe("bundle", () => {
  it("names the files that routes.ts and triggers.ts promise and nobody wrote", () => {
    expect(() => bundle({ root })).toThrow(/not there: functions\/runs\/create-run\.ts, .*harness\/main\.ts/);
  });

  it("makes one module a function, with the programs of the sandbox beside it, and runs what it made", async () => {
    for (const file of entryFiles) write(`functions/${file}.ts`, `export const handler = (): string => "${file}";\n`);
    write("harness/main.ts", 'process.stdout.write("harness");\n');
    write("harness/scan-main.ts", 'process.stdout.write("scan");\n');
    const made = bundle({ root });
    for (const file of entryFiles) expect(existsSync(join(made.assetDir(file), "index.mjs")), file).toBe(true);
    expect(existsSync(join(made.assetDir("execution/run-sandbox"), "harness.mjs"))).toBe(true);
    const { handler } = await import(pathToFileURL(join(made.assetDir("runs/get-run"), "index.mjs")).href);
    expect(handler()).toBe("runs/get-run");
    expect(existsSync(join(made.assetDir("execution/run-sandbox"), "scan.mjs"))).toBe(true);
    expect(bundleSizes(made)).toHaveLength(entryFiles.length + 2);
    expect(JSON.parse(readFileSync(join(root, "dist/metafile.json"), "utf8"))).toHaveProperty("outputs");
  });
});

describe("the deployed code", () => {
  const made: Bundle[] = [];
  beforeAll(() => {
    made.push(bundle({ outdir: join(root, "real/functions") }));
  });
  const routesOnly = () =>
    made.flatMap(bundleSizes).filter(({ output }) => output.endsWith("/index.mjs") && !output.startsWith("execution/"));

  it("of a route is at most 600 kB with the SDK", () => {
    for (const { output, bytes } of routesOnly()) expect(bytes, output).toBeLessThanOrEqual(600_000);
  });

  it("has the OpenAPI document only where it is served", () => {
    const holding = made.flatMap(({ metafile }) =>
      Object.entries(metafile.outputs)
        .filter(([, { inputs }]) => inputs["docs/openapi.json"] !== undefined)
        .map(([path]) => path.split("/").slice(-3, -1).join("/")),
    );
    expect(holding.sort()).toEqual(["docs/get-openapi", "docs/get-reference"]);
  });

  it("of a route is at most 85 kB without the SDK", () => {
    for (const { output, ownBytes } of routesOnly()) {
      expect(ownBytes, output).toBeLessThanOrEqual(85_000 + carriedBytes(output));
    }
  });
});

/** What single routes carry beyond the rest: docs/decisions/0017 says why. */
function carriedBytes(output: string): number {
  // What says when a schedule fires carries the library of crons, one class that nothing can be left out of.
  return /^schedules\/(create|update|pause|resume)-/.test(output) ? 34_000 : 0;
}
