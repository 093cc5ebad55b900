import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import * as v from "valibot";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { root } from "../../scripts/run-command.ts";

const run = promisify(execFile);
const folder = mkdtempSync(path.join(tmpdir(), "runyard-release-"));
const release = path.join(folder, "release");
const runtimes = path.join(root, "node_modules");
const environment = {
  ...process.env,
  DENO: path.join(runtimes, "@deno/linux-x64-glibc/deno"),
  BUN: path.join(runtimes, "@oven/bun-linux-x64/bin/bun"),
};

beforeAll(async () => {
  const tools = path.join(folder, "tools");
  const python = path.join(tools, "bin/python");
  const requirements = path.join(root, "clients/python/requirements/tools.txt");
  await run(process.env["RUNYARD_PYTHON"] ?? "python3", ["-m", "venv", tools]);
  await run(python, ["-m", "pip", "--quiet", "install", "--require-hashes", "--no-deps", "-r", requirements]);
  const env = { ...process.env, RUNYARD_PYTHON: python };
  await run(process.execPath, [path.join(root, "scripts/release.ts"), release], { cwd: root, env });
}, 400_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("a release", () => {
  it("has the packages of npm and PyPI, with their checksums", async () => {
    const files = readdirSync(release).toSorted();
    expect(files.map((file) => file.replace(/\d+\.\d+\.\d+/, "VERSION"))).toEqual([
      "SHA256SUMS",
      "runyard-VERSION-py3-none-any.whl",
      "runyard-VERSION.tar.gz",
      "runyard-VERSION.tgz",
      "runyard-cli-VERSION.tgz",
      "runyard-server-VERSION.tgz",
    ]);
    await run("sha256sum", ["--check", "--strict", "SHA256SUMS"], { cwd: release });
  });

  it.each([
    ["node", /^the TypeScript client works\nrunyard \d[^\n]*\n[\s\S]*SUCCEEDED/],
    ["deno", /^the TypeScript client works\n$/],
    ["bun", /^the TypeScript client works\n$/],
    ["python", /^the Python client works\n$/],
  ])(
    "is installed into an empty project of %s and used there",
    async (runtime, printed) => {
      const program = path.join(root, "scripts/try-packages.sh");
      const { stdout } = await run("bash", [program, release, runtime], { env: environment });
      expect(stdout).toMatch(printed);
    },
    400_000,
  );

  it("is published by a workflow only for a tag, with provenance and without stored tokens", () => {
    const Workflow = v.object({
      on: v.looseObject({ push: v.object({ tags: v.array(v.string()) }), workflow_dispatch: v.unknown() }),
      jobs: v.record(v.string(), v.looseObject({ if: v.optional(v.string()), permissions: v.optional(v.unknown()) })),
    });
    const text = readFileSync(path.join(root, ".github/workflows/release.yml"), "utf8");
    const { jobs } = v.parse(Workflow, parse(text));
    expect(jobs["publish"]).toMatchObject({
      if: "github.ref_type == 'tag'",
      permissions: { "id-token": "write", attestations: "write" },
    });
    expect(text).toContain('npm publish "./$file" --access public --provenance');
    expect(text).not.toContain("secrets.");
    const scripts = [...text.matchAll(/\bscripts\/[\w.-]+/g)].map(([script]) => script);
    for (const script of scripts) expect(readFileSync(path.join(root, script), "utf8")).not.toBe("");
  });
});
