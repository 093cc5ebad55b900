import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { root } from "../../scripts/run-command.ts";

const Versions = v.record(v.string(), v.string());
const Manifest = v.object({ scripts: Versions, dependencies: Versions, devDependencies: Versions });
const manifest = v.parse(Manifest, JSON.parse(read("package.json")));

describe("package.json", () => {
  it("begins every script with the check for Node 24", () => {
    const bare = Object.entries(manifest.scripts).filter(
      ([, line]) => !line.startsWith("node scripts/require-node.mjs && "),
    );
    expect(bare).toEqual([]);
  });

  it("names only scripts whose program exists", () => {
    const programs = Object.values(manifest.scripts).flatMap((line) => line.match(/\b[\w/-]+\.(?:ts|mjs)\b/g) ?? []);
    expect(programs.filter((program) => !existsSync(join(root, program)))).toEqual([]);
  });

  it("pins every dependency to one version", () => {
    const all = { ...manifest.dependencies, ...manifest.devDependencies };
    expect(Object.entries(all).filter(([, version]) => !/^\d+\.\d+\.\d+$/.test(version))).toEqual([]);
  });
});

describe("scripts/require-node.mjs", () => {
  it("prints the remedy in one line if Node is too old", () => {
    const { status, stderr } = requireNode("20.20.2");
    expect(status).toBe(1);
    expect(stderr).toBe(
      "Runyard needs Node 24 or newer and found 20.20.2: run `npm rebuild node --ignore-scripts=false`, or put a Node 24 on your PATH.\n",
    );
  });

  it("prints nothing if it is new enough", () => {
    expect(requireNode("24.0.0")).toMatchObject({ status: 0, stdout: "", stderr: "" });
    expect(requireNode("26.1.0")).toMatchObject({ status: 0, stdout: "", stderr: "" });
  });
});

describe(".ci/run", () => {
  it("runs exactly the test command of the README", () => {
    const [, command] = /```sh skip=install\n(.*npm test)\n```/.exec(read("README.md")) ?? [];
    expect(read(".ci/run").trimEnd().split("\n").at(-1)).toBe(command);
    expect(read("README.md")).toContain("```sh skip=install\nnpm ci && npm start\n```");
  });
});

describe("every function", () => {
  it("has no effect when it is imported: reads no setting, throws nothing, leaves nothing open", () => {
    const files = globSync("functions/**/*.ts", { cwd: root });
    const program = `
      const read = new Set();
      const settings = /^(TABLE_NAME|BUCKET_NAME|.*_QUEUE_URL|SANDBOX_FUNCTION_NAME|BASE_URL|WEB_URL|PRINCIPALS|SIGNED_URL_SECONDS|STAGE)$/;
      process.env = new Proxy({}, { get: (_, name) => (settings.test(String(name)) ? void read.add(name) : undefined) });
      const open = () => process.getActiveResourcesInfo().length;
      process.stdout.write("");
      process.stderr.write("");
      const before = open();
      const failures = [];
      for (const file of ${JSON.stringify(files)}) {
        await import(${JSON.stringify(root)} + "/" + file).catch((error) => failures.push(file + " throws " + error.message));
        failures.push(...[...read].map((name) => file + " reads " + name));
        if (open() > before) failures.push(file + " leaves open " + process.getActiveResourcesInfo().join(", "));
        read.clear();
      }
      process.stdout.write(JSON.stringify(failures));`;
    const output = execFileSync(process.execPath, ["--input-type=module", "-e", program], { env: {}, cwd: root });
    expect(files).not.toEqual([]);
    expect(JSON.parse(output.toString("utf8"))).toEqual([]);
  });
});

describe("every file", () => {
  const client = "clients/typescript/{scripts,bench,src,src/resources}/*.ts";
  const files = globSync(
    ["{functions,shared,server,infra,harness,emulator,operate,scripts,lab,cli,action}/**/*.ts", client],
    {
      cwd: root,
      exclude: ["**/node_modules/**"],
    },
  );

  it("is short enough to be read at once", () => {
    const lengths = files.map((file) => [file, read(file).split("\n").length] as const);
    expect(lengths.filter(([, length]) => length > 400)).toEqual([]);
  });

  it("asserts a type only at the edge of a framework's types, with a reason", () => {
    const allowed: Record<string, number> = {
      "shared/http/endpoint.ts": 1,
      "shared/http/request.ts": 1,
      "shared/aws/middleware.ts": 1,
    };
    const asserting = files.map((file) => [file, read(file).split("biome-ignore lint/plugin").length - 1] as const);
    expect(asserting.filter(([file, count]) => count > (allowed[file] ?? 0))).toEqual([]);
  });
});

function read(file: string): string {
  return readFileSync(join(root, file), "utf8");
}

function requireNode(version: string) {
  const program = `
    Object.defineProperty(process, "versions", { value: { node: ${JSON.stringify(version)} } });
    await import(${JSON.stringify(join(root, "scripts", "require-node.mjs"))});`;
  return spawnSync(process.execPath, ["--input-type=module", "-e", program], { encoding: "utf8" });
}
