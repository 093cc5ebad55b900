import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { CommandRequest } from "#harness/commands/command-runner.ts";
import { createRedactor } from "#harness/redaction/redactor.ts";
import { createBranchPusher } from "#harness/session/branch-pusher.ts";
import { git } from "../../support/git-server.ts";

let root = "";
let clone = "";
beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), "pull-branch-"));
  clone = join(root, "shop");
  mkdirSync(clone);
  await git(clone, "init", "--quiet", "--initial-branch=main");
  writeFileSync(join(clone, "shop.txt"), "one\n");
  await git(clone, "add", ".");
  await git(clone, "commit", "--quiet", "--message", "one");
  await git(clone, "branch", "it's-fixed");
});
afterEach(() => rmSync(root, { recursive: true }));

function start(branch: string) {
  const commands: CommandRequest[] = [];
  const warnings: string[] = [];
  const url = "https://github.com/acme/shop.git";
  const paths = { workspace: root, home: "/h", tmp: root, output: "/o", steps: "/s" };
  const pusher = createBranchPusher({
    plane: { pushBranch: async () => ({}) },
    redactor: createRedactor([]),
    clones: [{ owner: "acme", name: "shop", path: "shop", commit: "" }],
    context: { agent_config: { repositories: [{ url }] }, push: { url, branch } },
    signal: new AbortController().signal,
    log: (_level, text) => warnings.push(text),
    host: paths,
    seen: paths,
    deadlineAt: Date.now() + 60_000,
    runner: {
      async run(request) {
        commands.push(request);
        const { workingDirectory, command } = request;
        const result = { command, workingDirectory, text: "", truncated: false, timedOut: false, durationMs: 1 };
        try {
          execFileSync("bash", ["-c", command], { cwd: workingDirectory, stdio: "ignore" });
          return { ...result, exitCode: 0 };
        } catch {
          return { ...result, exitCode: 1 };
        }
      },
    },
  });
  return { pusher, commands, warnings };
}

describe("the check-out of a pull request's branch", () => {
  it("is made with the git of the host, since the image of a run need not have one", async () => {
    const { pusher, commands } = start("it's-fixed");
    await pusher.checkOut();
    expect(commands).toEqual([expect.objectContaining({ workingDirectory: clone, isHelper: true })]);
  });
});
const head = () => git(clone, "symbolic-ref", "--short", "HEAD");

describe("a restored workspace of a run that works on a pull request", () => {
  it("has the branch checked out, with the changes that were not committed", async () => {
    writeFileSync(join(clone, "shop.txt"), "two\n");
    const { pusher, warnings } = start("it's-fixed");
    await pusher.checkOut();
    expect(await head()).toBe("it's-fixed");
    expect(await git(clone, "diff", "--name-only")).toBe("shop.txt");
    await pusher.checkOut();
    expect(warnings).toEqual([]);
  });

  it("stays as it is where the branch cannot be checked out, which is logged", async () => {
    const { pusher, warnings } = start("$(touch there-is-none)");
    await pusher.checkOut();
    expect(await head()).toBe("main");
    expect(warnings).toEqual(["the branch was not checked out"]);
    expect(await git(clone, "status", "--short")).toBe("");
  });
});
