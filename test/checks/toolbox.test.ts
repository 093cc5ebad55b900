import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { LAB } from "../../lab/main.ts";
import { AWS } from "../../operate/main.ts";
import { root } from "../../scripts/run-command.ts";
import { runVerb, type Toolbox } from "../../scripts/run-verb.ts";

describe.each([
  ["npm run aws", AWS, "operate/main.ts"],
  ["npm run lab", LAB, "lab/main.ts"],
])("%s", (command, toolbox, program) => {
  const run = (...args: string[]) =>
    spawnSync(process.execPath, [program, ...args], { cwd: root, encoding: "utf8", timeout: 120_000 });

  it.each([[[]], [["--help"]], [["-h"]]])("lists its verbs with %j", (args) => {
    const { status, stdout } = run(...args);
    expect(status).toBe(0);
    expect(stdout).toContain(`Usage: ${command} -- VERB`);
    for (const name of Object.keys(toolbox.verbs)) expect(stdout).toMatch(new RegExp(`^  ${name} +\\S`, "m"));
  });

  it("refuses an unknown verb with the list", () => {
    const { status, stdout, stderr } = run("toString");
    expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
    expect(stderr).toContain(`${command} has no verb "toString".`);
    expect(stderr).toContain(`Usage: ${command} -- VERB`);
  });

  it("has a program for each verb", () => {
    const files = Object.values(toolbox.verbs).map(({ file }) => file);
    expect(files.filter((file) => !existsSync(join(root, file)))).toEqual([]);
    expect(new Set(files).size).toBe(files.length);
  });
});

describe("a verb", () => {
  let folder = "";
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "runyard-verb-"));
  });
  afterEach(() => {
    vi.restoreAllMocks();
    rmSync(folder, { recursive: true });
  });

  it("passes its arguments and the options of Node to its program, and ends with its exit code", async () => {
    const file = join(folder, "program.mjs");
    const out = join(folder, "out.json");
    const text = `import { writeFileSync } from "node:fs";
      writeFileSync(${JSON.stringify(out)}, JSON.stringify([typeof globalThis.gc, ...process.argv.slice(2)]));
      process.exitCode = 7;`;
    writeFileSync(file, text);
    const toolbox: Toolbox = {
      command: "npm run x",
      summary: "",
      verbs: { go: { file: relative(root, file), summary: "goes", nodeOptions: ["--expose-gc"] } },
    };
    expect(await runVerb(toolbox, ["go", "--all", "a b"])).toBe(7);
    const { default: written } = await import(out, { with: { type: "json" } });
    expect(written).toEqual(["function", "--all", "a b"]);
  });

  it("fails if its program is killed", async () => {
    const file = join(folder, "program.mjs");
    writeFileSync(file, 'process.kill(process.pid, "SIGKILL");');
    const verbs = { go: { file: relative(root, file), summary: "goes" } };
    expect(await runVerb({ command: "npm run x", summary: "", verbs }, ["go"])).toBe(1);
  });
});
