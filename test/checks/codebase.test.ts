import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
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

  it("has scripts that a person can remember", () => {
    expect(Object.keys(manifest.scripts).length).toBeLessThanOrEqual(14);
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
  it("runs the test commands of the README", () => {
    const lines = read(".ci/run").split("\n");
    const [, block = ""] = /```sh skip=install\n(bash scripts\/install[^`]*)```/.exec(read("README.md")) ?? [];
    const commands = block.split(/\n| && /).flatMap((line) => line.replace(/ +#.*/, "") || []);
    expect(commands).toEqual(["bash scripts/install-test-tools.sh", "npm ci", "npm test", "npm run test:full"]);
    const [install, packages, first, full = ""] = commands;
    const inCi = [install, packages, `${first} || failed=1`, `${full.replace("run", "run --silent")} || failed=1`];
    expect(lines.filter((line) => inCi.includes(line))).toEqual(inCi);
    expect(read("README.md")).toContain("```sh skip=install\nnpm ci --omit=dev && npm start\n```");
  });

  it.each([
    ["passes if both tiers pass", 0, 0, 0],
    ["runs the second tier after a failure of the first, and fails", 1, 0, 1],
    ["fails if the second tier fails", 0, 1, 1],
  ])("%s; its last line is that of the second tier", (_, first, full, status) => {
    expect(runCi({ first, full, install: 0 })).toEqual({ status, lines: ["ci", "test", "run --silent test:full"] });
  });

  it("runs no test if the installation fails", () => {
    expect(runCi({ first: 0, full: 0, install: 1 })).toEqual({ status: 1, lines: [] });
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

/** Runs .ci/run with programs that print their arguments in place of npm and the installation. */
function runCi({ first, full, install }: { first: number; full: number; install: number }) {
  const folder = mkdtempSync(join(tmpdir(), "runyard-ci-"));
  try {
    for (const name of [".ci", "scripts", "bin"]) mkdirSync(join(folder, name));
    writeFileSync(join(folder, ".ci/run"), read(".ci/run"));
    writeFileSync(join(folder, "scripts/install-test-tools.sh"), `exit ${install}\n`);
    const npm = `#!/bin/sh\necho "$@"\ncase "$*" in test) exit ${first} ;; *:full) test -f "$RUNYARD_TALLY" && exit ${full} ;; esac\n`;
    writeFileSync(join(folder, "bin/npm"), npm, { mode: 0o755 });
    const { status, stdout } = spawnSync("bash", [join(folder, ".ci/run")], {
      encoding: "utf8",
      env: { ...process.env, PATH: `${join(folder, "bin")}:${process.env["PATH"]}` },
    });
    return { status, lines: stdout.split("\n").filter((line) => line !== "") };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function requireNode(version: string) {
  const program = `
    Object.defineProperty(process, "versions", { value: { node: ${JSON.stringify(version)} } });
    await import(${JSON.stringify(join(root, "scripts", "require-node.mjs"))});`;
  return spawnSync(process.execPath, ["--input-type=module", "-e", program], { encoding: "utf8" });
}
