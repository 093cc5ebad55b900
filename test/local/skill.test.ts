import { mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { runCommand } from "../../server/host/commands.ts";
import { samplePrompt } from "../../server/host/sample/sample-prompt.ts";

const skillFile = path.resolve(import.meta.dirname, "../../.agents/skills/repository-report/SKILL.md");

describe("the skill repository-report", () => {
  let folder: string;
  let repository: string;
  let output: string;

  beforeEach(async () => {
    folder = await realpath(await mkdtemp(path.join(tmpdir(), "skill-")));
    repository = path.join(folder, "workspace");
    output = path.join(folder, "output");
    await Promise.all([mkdir(repository), mkdir(output)]);
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  async function git(...args: string[]): Promise<void> {
    const identity = ["-c", "user.name=A | `tester`", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false"];
    const done = await runCommand("git", [...identity, ...args], { cwd: repository });
    if (done.code !== 0) throw new Error(done.output);
  }
  async function commit(files: Record<string, string>): Promise<void> {
    for (const [name, content] of Object.entries(files)) {
      await mkdir(path.dirname(path.join(repository, name)), { recursive: true });
      await writeFile(path.join(repository, name), content);
    }
    await git("add", "--all");
    await git("commit", "--quiet", "--message", "Change");
  }

  /** Runs the blocks as the embedded model does: in order, the working directory kept, the environment not. */
  async function run(markdown: string, start = repository): Promise<{ code: number; output: string; where: string }> {
    let where = start;
    let said = "";
    for (const [, block = ""] of markdown.matchAll(/^```bash\n(.*?)^```/gms)) {
      const script = `${block}\npwd > ${folder}/where`;
      const done = await runCommand("bash", ["-eo", "pipefail", "-c", script], {
        cwd: where,
        env: { PATH: process.env["PATH"], HOME: folder, RUNYARD_OUTPUT: output },
        timeoutSeconds: 30,
      });
      said += done.output;
      if (done.code !== 0) return { code: done.code, output: said, where };
      where = (await readFile(path.join(folder, "where"), "utf8")).trimEnd();
    }
    return { code: 0, output: said, where };
  }
  const skill = () => readFile(skillFile, "utf8");
  const report = () => readFile(path.join(output, "report.md"), "utf8");

  test("reports history, languages, largest and most changed files", async () => {
    await git("init", "--quiet");
    await commit({ "src/a.ts": "1\n2\n", "README.md": "# Hello\n" });
    await commit({ "src/a.ts": "x".repeat(90) });
    expect((await run(await skill())).code).toBe(0);
    const text = await report();
    expect(text).toContain("# Report on `workspace`");
    expect(text).toContain("- commits: 2, from ");
    expect(text).toContain("| TypeScript | 1 | 90 | 91.8 % |");
    expect(text).toContain("| 90 | `src/a.ts` |\n| 8 | `README.md` |");
    expect(text).toContain("| 2 | `src/a.ts` |\n| 1 | `README.md` |");
    expect(text).toContain("No test command was found");
  });

  test("handles every valid file name", async () => {
    const names = [
      " lead and trail ",
      "it's",
      'say "hi".py',
      "ünï-日本.md",
      "a|b`c.js",
      "new\nline",
      "tab\there",
      "-rf",
      "$(touch pwned)",
      "*",
    ];
    await git("init", "--quiet");
    await commit(Object.fromEntries(names.map((name) => [name, name.startsWith("ü") ? "xx" : "x"])));
    await symlink("nowhere", path.join(repository, "link.py"));
    await git("add", "--all");
    await git("commit", "--quiet", "--message", "Link");
    expect(await run(await skill())).toMatchObject({ code: 0 });
    const text = await report();
    for (const shown of [
      "` lead and trail `",
      "`it's`",
      '`say "hi".py`',
      "| 2 | `ünï-日本.md` |",
      "`a\\|b'c.js`",
      "`new?line`",
      "`tab?here`",
    ]) {
      expect(text).toContain(shown);
    }
    expect(text).toContain("  - A / 'tester' (2)");
    expect(text).toContain("| Python | 1 | 1 |");
  });

  test("finds the repository in a workspace next to the skill's own clone", async () => {
    repository = path.join(repository, "my project");
    await mkdir(repository);
    await git("init", "--quiet");
    await commit({ "a.go": "x" });
    await Promise.all(
      [".runyard-skills/.git", "output"].map((name) => mkdir(path.join(repository, "..", name), { recursive: true })),
    );
    expect(await run(await skill(), path.dirname(repository))).toMatchObject({ code: 0, where: repository });
    expect(await report()).toContain("# Report on `my project`");
  });

  test("fails with a sentence if there is nothing to report on", async () => {
    expect(await run(await skill())).toMatchObject({
      code: 1,
      output: `There is no git repository in ${repository}.\n`,
    });
    await git("init", "--quiet");
    expect(await run(await skill())).toMatchObject({ code: 1, output: "The repository has no commits.\n" });
  });

  test.each([
    ["npm test", { "package.json": '{ "scripts": { "test": "vitest" } }' }],
    ["pnpm test", { "package.json": '{"scripts":{"test":"x"}}', "pnpm-lock.yaml": "" }],
    ["make test", { Makefile: "all:\n\ntest: all\n", "Cargo.toml": "" }],
    ["python3 -m pytest", { "pyproject.toml": "[tool.pytest.ini_options]" }],
    ["python3 -m unittest discover", { "setup.py": "" }],
    ["cargo test", { "Cargo.toml": "" }],
    ["go test ./...", { "go.mod": "module x", "package.json": '{"scripts":{"test":"echo \\"no test specified\\""}}' }],
  ])("finds the test command %s, and does not run it", async (command, files) => {
    await git("init", "--quiet");
    await commit({ ...files });
    expect((await run(await skill())).code).toBe(0);
    expect(await report()).toContain(`Test command: \`${command}\` (by \``);
  });

  test("with --run-tests runs the test command and reports its result, also of a failure", async () => {
    await git("init", "--quiet");
    await commit({ "test.sh": "echo it ran; exit 3\n" });
    expect((await run(`${await skill()}\n${samplePrompt(true)}`)).code).toBe(0);
    expect(await report()).toMatch(/Run with `--run-tests`: exit code 3 after \d+ s\..*\n\n {4}it ran\n$/);
  });

  test("runs no tests without --run-tests", () => {
    expect(samplePrompt(false)).not.toContain("```");
  });
});
