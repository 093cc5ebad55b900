import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { findProgram, runCommand } from "../../server/host/commands.ts";
import { Problem } from "../../server/host/terminal.ts";
import type { Task, WrongEdit } from "./tasks.ts";

/** On a busy machine, a checker of Go needs more than five minutes to compile the standard library. */
const CHECK_SECONDS = 900;
/** The exit code of a program that was ended at its time limit. */
const TIMED_OUT = -1;
/** The program that runs the checkers. */
const CHECKER = join(import.meta.dirname, "checker.sh");
/** Where a language's own installer puts it, which not every PATH has. */
const TOOLCHAINS = ["/usr/local/go/bin"];

/** The PATH of checkers: the Node of this process first. */
const SEARCH_PATH = [
  dirname(process.execPath),
  "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
  ...TOOLCHAINS,
].join(":");

/** The programs of a task that this machine lacks. */
export async function findMissing({ programs }: Task): Promise<string[]> {
  const found = await Promise.all(programs.map((name) => findProgram(name, SEARCH_PATH)));
  return programs.filter((_, index) => found[index] === undefined);
}

/** Makes the git repository of a task below `folder`, and returns its path. */
export function makeRepository({ name, files }: Task, folder: string): string {
  const repository = join(folder, name);
  cpSync(files, repository, { recursive: true });
  commitFiles(repository);
  return repository;
}

/** Makes a directory a git repository with one commit, which has all of its files. */
export function commitFiles(repository: string): void {
  const git = (...args: string[]) => execFileSync("git", ["-C", repository, ...args], { stdio: "pipe" });
  git("init", "--quiet", "--initial-branch=main");
  git("add", "--all");
  git("-c", "user.name=Runyard", "-c", "user.email=runyard@example.com", "commit", "--quiet", "--message=Import");
}

/** What an agent left: a patch, or the edits of a scripted mistake. */
export type Change = { readonly patch: string } | { readonly edits: readonly WrongEdit[] };

export interface CheckResult {
  readonly passed: boolean;
  readonly output: string;
}

/** Runs the checker of a task on its repository with a change. */
export async function check(task: Task, change?: Change): Promise<CheckResult> {
  const folder = mkdtempSync(join(tmpdir(), "runyard-eval-check-"));
  try {
    const repository = makeRepository(task, folder);
    if (change !== undefined) applyChange(repository, change);
    const { code, output } = await runChecker(task, repository);
    return {
      passed: code === 0,
      output: code === TIMED_OUT ? `${output}\nIt took longer than ${CHECK_SECONDS} s.` : output,
    };
  } catch (error) {
    return { passed: false, output: error instanceof Error ? error.message : String(error) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function applyChange(repository: string, change: Change): void {
  if ("patch" in change) {
    if (change.patch === "") return;
    execFileSync("git", ["-C", repository, "apply", "--whitespace=nowarn", "-"], {
      input: change.patch,
      stdio: "pipe",
    });
    return;
  }
  for (const { path, old_text, new_text } of change.edits) {
    const file = join(repository, path);
    mkdirSync(dirname(file), { recursive: true });
    const before = existsSync(file) ? readFileSync(file, "utf8") : "";
    if (old_text !== undefined && !before.includes(old_text))
      throw new Problem(`A wrong change of the task names a text that ${path} does not have.`);
    writeFileSync(file, old_text === undefined ? new_text : before.replace(old_text, () => new_text));
  }
}

/**
 * Runs the checker where it can write nothing but the copy of the repository: it executes what a model wrote. Without bubblewrap it
 * runs like any program of the user.
 */
async function runChecker({ checker }: Task, repository: string) {
  const bwrap = await findProgram("bwrap", SEARCH_PATH);
  const env = {
    PATH: SEARCH_PATH,
    HOME: "/tmp",
    TMPDIR: "/tmp",
    LC_ALL: "C.UTF-8",
    GOFLAGS: "-mod=mod",
    GOTOOLCHAIN: "local",
  };
  if (bwrap === undefined) {
    const options = { cwd: repository, env, timeoutSeconds: CHECK_SECONDS };
    return await runCommand("bash", [CHECKER, checker], options);
  }
  const hidden = ["/root", "/home", "/tmp", "/run", homedir()].filter((path) => existsSync(path));
  const args = [
    ...["--die-with-parent", "--new-session", "--unshare-all", "--cap-drop", "ALL", "--ro-bind", "/", "/"],
    ...["--proc", "/proc", "--dev", "/dev", ...hidden.flatMap((path) => ["--tmpfs", path])],
    ...["--ro-bind", process.execPath, process.execPath],
    ...["--ro-bind", CHECKER, "/tmp/checker.sh", "--ro-bind", checker, "/tmp/check.sh"],
    ...["--bind", repository, "/tmp/repository", "--chdir", "/tmp/repository"],
    ...["bash", "/tmp/checker.sh", "/tmp/check.sh"],
  ];
  return await runCommand(bwrap, args, { env, timeoutSeconds: CHECK_SECONDS });
}
