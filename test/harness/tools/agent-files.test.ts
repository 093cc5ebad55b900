import { mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { agentRun, command, use } from "../support/agent-run.ts";
import { Repository } from "../support/repository.ts";

const read = (...files: object[]) => ({ tools: [use("read_files", { files })] });
const edit = (...edits: object[]) => ({ tools: [use("edit_files", { edits })] });
const search = (input: object) => ({ tools: [use("search_files", input)] });
const replace = (path: string, old_text: string, new_text: string, rest: object = {}) => ({
  path,
  action: "replace",
  old_text,
  new_text,
  ...rest,
});

/** Returns the result of each tool use of a run in a clone of these files. */
async function uses(
  { files = {}, links = {} }: { files?: Record<string, string>; links?: Record<string, string> },
  turns: Parameters<typeof agentRun>[0]["turns"],
  environment: Record<string, string> = {},
  // biome-ignore lint/suspicious/noExplicitAny: tests look into results of every shape.
): Promise<any[]> {
  using repository = new Repository("things", { "README.md": "# Things\n", ...files }, links);
  const context = { agent_config: { repositories: [{ url: repository.url }] } };
  await using it = await agentRun({ prompt: "Go.", turns: [...turns, { text: "Done." }], context });
  const { log } = await it.run(environment);
  expect(it.plane.outcome, log).toEqual({ success: true, summary: "Done." });
  return it.plane.results;
}

const numbered = (count: number, text = "line") =>
  Array.from({ length: count }, (_, index) => `${text} ${index + 1}\n`).join("");

describe("read_files", () => {
  it("reads files whole and by lines, and reports what it cannot read", async () => {
    const [several, long] = await uses(
      { files: { "a.txt": "one\ntwo\nthree", "b/c.txt": "", "long.txt": numbered(9_000) } },
      [
        command("printf 'a\\0b' > binary; mkfifo pipe; truncate -s 5M big"),
        read(
          { path: "a.txt", start_line: 2 },
          { path: "b/c.txt" },
          { path: "absent.txt" },
          { path: "binary" },
          { path: "pipe" },
          { path: "big" },
          { path: "b" },
          { path: "a.txt", start_line: 9 },
        ),
        read({ path: "long.txt" }, { path: "a.txt" }),
      ],
    ).then((results) => results.slice(1));
    expect(several.files).toEqual([
      { path: "a.txt", start_line: 2, end_line: 3, lines: 3, content: "two\nthree" },
      { path: "b/c.txt", start_line: 1, end_line: 0, lines: 0, content: "" },
      { path: "absent.txt", error: "does not exist" },
      { path: "binary", binary: true, size_bytes: 3 },
      { path: "pipe", error: "is not a regular file" },
      { path: "big", error: expect.stringContaining("more than 4194304: use run_command") },
      { path: "b", directory: true, names: ["c.txt"], count: 1 },
      { path: "a.txt", error: "has 3 lines" },
    ]);
    expect(long.files[0].content.length).toBeLessThanOrEqual(40 * 1024);
    expect(long.files[0].content).toMatch(/^line 1\n[\s\S]*\n$/);
    expect(long.files[0].cut).toBe(`truncated: continue at line ${long.files[0].end_line + 1}`);
    expect(long.files[1]).toMatchObject({ path: "a.txt", cut: expect.any(String) });
  });

  it("returns as many lines as fit, and refuses a line that is too long by itself", async () => {
    const room = 40 * 1024;
    const wide = `short\n${"x".repeat(room + 1)}\n`;
    const [full, left, single] = await uses({ files: { "full.txt": "x".repeat(room), "wide.txt": wide } }, [
      read({ path: "full.txt" }, { path: "wide.txt" }),
      read({ path: "wide.txt" }, { path: "full.txt" }),
      read({ path: "wide.txt", start_line: 2 }),
    ]);
    const text = { path: "full.txt", start_line: 1, end_line: 1, lines: 1, content: "x".repeat(room) };
    expect(full.files[0]).toEqual(text);
    expect(full.files[1]).toMatchObject({ path: "wide.txt", content: "", cut: "truncated: continue at line 1" });
    expect(left.files[0]).toMatchObject({ content: "short\n", cut: "truncated: continue at line 2" });
    expect(left.files[1]).toMatchObject({ path: "full.txt", content: "", cut: "truncated: continue at line 1" });
    expect(single.files).toEqual([
      { path: "wide.txt", error: "line 2 has 40962 bytes, more than 40960: use run_command" },
    ]);
  });
});

describe("edit_files", () => {
  it("finds lines that differ in white space, indentation and quotes, and says what it ignored", async () => {
    const code = 'class A:\n    def a(self):  \n        return "x"\n\n    def b(self):\n        return \u201cy\u201d\n';
    const results = await uses({ files: { "a.py": code, "crlf.txt": "one\r\ntwo\r\nthree\r\n" } }, [
      edit(replace("a.py", "    def a(self):\n", "    def first(self):\n")),
      edit(replace("a.py", 'def first(self):\n    return "x"\n', "def first(self):\n    x = 1\n    return x\n")),
      edit(replace("a.py", 'return "y"', "return 2")),
      edit(replace("crlf.txt", "one\ntwo", "1\n2")),
      edit(replace("a.py", "    def b(self):\n        return 3\n", "")),
      command("cat -A a.py crlf.txt"),
    ]);
    const files = results.slice(0, 5).map(({ files }) => files[0]);
    expect(files.map(({ done, ignored }) => [done, ignored])).toEqual([
      ["changed", "white space at line ends"],
      ["changed", "indentation"],
      ["changed", "quotes, dashes and white space"],
      ["changed", "white space at line ends"],
      [undefined, undefined],
    ]);
    expect(files[1].new_lines.split("\n").slice(0, 5)).toEqual([
      "1\tclass A:",
      "2\t    def first(self):",
      "3\t        x = 1",
      "4\t        return x",
      "5\t",
    ]);
    expect(files[4].error).toBe(
      "old_text was not found: the nearest lines are\n6\t    def b(self):\n7\t        return 2",
    );
    expect(results[5].stdout).toBe(
      "class A:$\n    def first(self):$\n        x = 1$\n        return x$\n$\n    def b(self):$\n        return 2$\n1^M$\n2^M$\nthree^M$\n",
    );
  });

  it("refuses lines that several tolerant matches fit", async () => {
    const [refused] = await uses({ files: { "a.txt": "  same\nother\n    same\n" } }, [
      edit(replace("a.txt", "\tsame\n", "new\n")),
    ]);
    expect(refused.files[0].error).toMatch(/old_text occurs 2 times, at lines 1, 3/);
  });

  it("replaces existing text once, all edits of a file or none, and reports errors", async () => {
    const results = await uses(
      { files: { "a.txt": "one two one\nthree\n", "crlf.txt": "a\r\nb\r\n", "run.sh": "echo\n" } },
      [
        command("chmod 750 run.sh"),
        edit(replace("a.txt", "one", "1")),
        edit(replace("a.txt", "four", "4")),
        edit(replace("a.txt", "three", "3"), replace("a.txt", "absent", "x")),
        edit(replace("a.txt", "one", "1", { replace_all: true }), replace("a.txt", "three", "$& $1")),
        edit(replace("crlf.txt", "b\r\n", "c\r\n"), replace("run.sh", "echo", "date")),
        edit(
          { path: "new/deep/file.txt", action: "write", new_text: "new\n" },
          { path: "crlf.txt", action: "delete" },
          { path: "absent.txt", action: "delete" },
          replace("absent.txt", "a", "b"),
        ),
        command("cat a.txt new/deep/file.txt; stat -c %a run.sh; cat run.sh; git status --short; ls -a new/deep"),
      ],
    );
    const files = results.map(({ files }) => files);
    expect(files[1][0].error).toMatch(/occurs 2 times, at lines 1, 1: include more/);
    expect(files[2][0].error).toBe("old_text was not found: no line of it is in the file. Read the file again");
    expect(files[3][0].error).toMatch(/^edit 2: old_text was not found/);
    expect(files[4]).toMatchObject([{ path: "a.txt", done: "changed" }]);
    expect(files[5]).toMatchObject([{ done: "changed" }, { done: "changed" }]);
    expect(files[6]).toMatchObject([
      { path: "new/deep/file.txt", done: "created" },
      { path: "crlf.txt", done: "deleted" },
      { path: "absent.txt", error: expect.stringContaining("does not exist") },
    ]);
    expect(results[7].stdout).toBe(
      "1 two 1\n$& $1\nnew\n750\ndate\n M a.txt\n D crlf.txt\n M run.sh\n?? new/\n.\n..\nfile.txt\n",
    );
  });

  it("reports errors in its input to the model, by member", async () => {
    const [wrong] = await uses({}, [edit({ path: 7, action: "burn" })]);
    expect(wrong.error).toMatch(/edits\.0\.path: .*edits\.0\.action: /);
  });
});

describe("edit_files with large changes", () => {
  it("reports all files, and the diffs of as many as fit", async () => {
    const files = Array.from({ length: 20 }, (_, index) => `file-${index}.txt`);
    const new_text = `${"x".repeat(999)}\n`.repeat(60);
    const [changed] = await uses({}, [edit(...files.map((path) => ({ path, action: "write", new_text })))]);
    expect(changed.files).toEqual(files.map((path) => ({ path, done: "created", size_bytes: 60_000 })));
  });
});

describe("search_files", () => {
  const files = {
    "src/a.ts": "const pattern = 1;\n// Pattern\n",
    "src/b.md": "pattern (x)\n",
    "many.txt": numbered(300, "pattern"),
  };

  it.each(["rg", "grep"])("finds lines by %s", async (program) => {
    // All programs except ripgrep.
    const folder = mkdtempSync(join(tmpdir(), "harness-test-"));
    for (const name of readdirSync("/usr/bin")) if (name !== "rg") symlinkSync(`/usr/bin/${name}`, join(folder, name));
    const without = { RUNYARD_SANDBOX: "none", PATH: folder };
    const found = await uses(
      { files },
      [
        search({ pattern: "pattern = [0-9]|pattern \\(", path: "src" }),
        search({ pattern: "pattern (", fixed: true }),
        search({ pattern: "pattern", glob: "*.ts", ignore_case: true }),
        search({ pattern: "pattern", names_only: true, path: "src" }),
        search({ pattern: "pattern", path: "many.txt", limit: 5 }),
        search({ pattern: "nothing like it" }),
        search({ pattern: "(" }),
      ],
      program === "grep" ? without : {},
    );
    rmSync(folder, { recursive: true });
    expect(found[0].matches).toHaveLength(2);
    expect(found[1].matches).toEqual([expect.stringMatching(/src\/b\.md:1:pattern \(x\)$/)]);
    expect(found[2].matches).toHaveLength(2);
    expect([...found[3].matches].sort()).toEqual([
      expect.stringMatching(/src\/a\.ts$/),
      expect.stringMatching(/src\/b\.md$/),
    ]);
    expect(found[4].matches).toHaveLength(5);
    expect(found[4].cut).toBe("there are more than 5 matches");
    expect(found[5].matches).toEqual([]);
    expect(found[6].error).toMatch(/[Pp]aren|regex|Unmatched/);
  });
});

describe("a hostile repository", () => {
  let outside: string;
  beforeAll(() => {
    outside = mkdtempSync(join(tmpdir(), "outside-"));
    writeFileSync(join(outside, "secret.txt"), "the host's secret\n");
  });
  afterAll(() => rmSync(outside, { recursive: true, force: true }));

  it.each(["bubblewrap", "none"])("leads no tool out of the workspace through links (%s)", async (sandbox) => {
    const links = {
      environment: "/proc/self/environ",
      parent: "/proc/self/../1/environ",
      up: "../../../../../../../../etc/passwd",
      host: join(outside, "secret.txt"),
      folder: outside,
      loop: "loop",
      inside: "README.md",
    };
    const results = await uses(
      { links },
      [
        read(...Object.keys(links).map((path) => ({ path })), { path: "folder/secret.txt" }, { path: "/etc/passwd" }),
        edit(
          replace("host", "secret", "loot"),
          { path: "folder/new.txt", action: "write", new_text: "loot" },
          { path: "folder/secret.txt", action: "delete" },
          { path: "../../../../loot.txt", action: "write", new_text: "loot" },
          { path: "up", action: "write", new_text: "loot" },
        ),
        edit(replace("inside", "Things", "Changed")),
        command(`cat README.md; readlink inside; ls ${outside} 2>/dev/null || true`),
      ],
      { RUNYARD_SANDBOX: sandbox },
    );
    const errors = results[0].files.map(({ error }: { error?: string }) => error);
    expect(errors.filter((error: unknown) => error === undefined)).toHaveLength(1);
    expect(results[0].files[6]).toMatchObject({ path: "inside", content: "# Things\n" });
    expect(results[1].files.every(({ error }: { error?: string }) => error !== undefined)).toBe(true);
    expect(JSON.stringify(results)).not.toContain("the host's secret");
    expect(results[2].files).toMatchObject([{ done: "changed" }]);
    expect(results[3].stdout).toMatch(/^# Changed\nREADME\.md\n(secret\.txt\n)?$/);
  });
});
