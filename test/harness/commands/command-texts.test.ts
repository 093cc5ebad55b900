import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createStage } from "../support/command-stage.ts";

/** What only the program around a command's text contains. */
const PROGRAM = /__runyard|builtin (?:cd|pwd|trap|exit)|>&3|step-\d/;

/** Pieces of text that have a meaning for bash, in any order. */
const piece = fc.oneof(
  fc.constantFrom(..."'\"`\\\n\n\n;&|(){}<>$#! ", "\0", "\r", "\t", "é"),
  fc.constantFrom(
    "<<EOF\n",
    "<<-'E'\n",
    "EOF\n",
    "<<<",
    "$(",
    "${",
    "$((",
    "[[ ",
    "case x in ",
    "if ",
    "then ",
    "fi\n",
  ),
  fc.constantFrom(
    "exit 3\n",
    "exec true\n",
    "exec echo x\n",
    "return 4\n",
    "break\n",
    "set -x\n",
    "set +e\n",
    "set -u\n",
  ),
  fc.constantFrom(
    "trap 'echo bye' EXIT\n",
    "trap 'echo \"$BASH_COMMAND\"' DEBUG\n",
    "trap 'exit 5' ERR\n",
    "trap - EXIT\n",
  ),
  fc.constantFrom(
    "builtin() { echo x; }\n",
    "exit() { echo x; }\n",
    "cd() { :; }\n",
    "pwd() { echo x; }\n",
    "trap() { :; }\n",
  ),
  fc.constantFrom(
    "exec 3>&-\n",
    "exec >&-\n",
    "exec 2>/dev/null\n",
    "kill $$\n",
    "kill -9 $$\n",
    "alias exit=true\n",
    "false\n",
  ),
  fc.string({ maxLength: 8 }),
);
const text = fc.array(piece, { minLength: 1, maxLength: 12 }).map((pieces) => pieces.join(""));

describe("the text of a command", () => {
  it("never fails the execution or shows the program around it, whatever it is", async () => {
    await using stage = await createStage("bubblewrap");
    await fc.assert(
      fc.asyncProperty(text, async (command) => {
        const { exitCode, text: output } = await stage.run(command, { timeoutMs: 20_000 });
        expect([exitCode, exitCode >= 0 && exitCode < 256, PROGRAM.exec(output)]).toEqual([exitCode, true, null]);
      }),
      { numRuns: 20 },
    );
  });

  it.each([
    ["an unbalanced quote", "git commit -m 'don't fail'", 2, "unexpected EOF while looking for matching `''"],
    ["an unfinished condition", "echo early\nif true; then", 2, "early\n"],
    ["NUL characters", `echo a${"\0".repeat(300)}b\necho end`, 0, "ab\nend\n"],
    ["a function for each builtin", "exit() { echo x; }; builtin() { echo x; }; echo kept; false", 1, "kept\n"],
    ["a trap for each step", "trap 'echo \"step: $BASH_COMMAND\"' DEBUG; cd /", 0, "step: cd /\n"],
    [
      "a trap for each step, which a function keeps",
      "trap 'echo \"step: $BASH_COMMAND\"' DEBUG\ntrap 'exit 5' ERR\nbuiltin() { echo x; }",
      0,
      "step: trap 'exit 5' ERR\n",
    ],
    ["one megabyte", `echo begin; : '${"x".repeat(1024 * 1024)}'; echo end`, 0, "begin\nend\n"],
  ])("may have %s", async (_, command, exitCode, output) => {
    await using stage = await createStage("none");
    const result = await stage.run(command);
    expect([result.exitCode, result.text]).toEqual([exitCode, expect.stringContaining(output)]);
    expect(result.text).not.toMatch(PROGRAM);
  });

  it("that ends in a here-document writes no more than its own lines", async () => {
    await using stage = await createStage("none");
    const { exitCode, text: output } = await stage.run("cat > file.txt <<EOF\nhello");
    expect([exitCode, readFileSync(join(stage.host.workspace, "file.txt"), "utf8")]).toEqual([0, "hello\n"]);
    expect(output).toContain("here-document at line 1 delimited by end-of-file");
  });

  it("has its own name and line numbers", async () => {
    await using stage = await createStage("none");
    const { text: output } = await stage.run('echo "${0##*/} $LINENO"\n\necho $LINENO; absent-program');
    expect(output).toMatch(/^command-1\.sh 1\n3\n.*command-1\.sh: line 3: absent-program: command not found\n$/);
  });
});

describe("the standard streams of a command", () => {
  it.each(["bubblewrap", "none"])("can be opened by their names in /dev (%s)", async (kind) => {
    await using stage = await createStage(kind);
    const command =
      "echo a > /dev/stdout\necho b | tee /dev/stderr > /dev/null\necho c > /dev/fd/2\necho d >> /dev/fd/1";
    expect(await stage.run(command)).toMatchObject({ text: "a\nb\nc\nd\n", exitCode: 0 });
    const outputs: string[] = [];
    // One after the other: without a boundary, the end of a command kills all processes of the execution.
    for (let index = 0; index < 9; index++) outputs.push((await stage.run(`echo ${index} > /dev/stdout`)).text);
    expect(outputs).toEqual(Array.from({ length: 9 }, (_, index) => `${index}\n`));
    const files = readdirSync(join(stage.host.workspace, "..")).filter((name) => name.startsWith("pipe-"));
    expect(files.length, "pipes that are ready").toBeLessThan(8);
  });
});
