import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { Problem } from "../problem.ts";
import { runGit, tokenVariables, tryGit } from "./git.ts";

export interface PushOptions {
  /** Where the repository is cloned from and the branch is pushed to. */
  readonly remote: string;
  readonly token: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The commit that the patch applies to. */
  readonly baseCommit: string;
  readonly patch: Buffer;
  /** The new branch. */
  readonly branch: string;
  readonly message: string;
  /** Whether the patch may change the workflows of GitHub Actions. */
  readonly allowWorkflows: boolean;
}

/**
 * Commits a patch on its base commit and pushes it as a new branch. It works without a working tree: no file of the repository
 * or of the patch is written, and no hook or filter runs. Returns the commit.
 */
export async function pushPatch(options: PushOptions): Promise<string> {
  const { remote, token, baseCommit, patch, branch, message } = options;
  const folder = await mkdtemp(path.join(tmpdir(), "runyard-pr-"));
  try {
    const env = { PATH: process.env["PATH"], HOME: folder, ...options.env, ...UNSET, ...tokenVariables(remote, token) };
    const repository = path.join(folder, "repository.git");
    await runGit(["clone", "--quiet", "--bare", "--template=", "--", remote, repository], { cwd: folder, env });
    const git = {
      cwd: repository,
      env: { ...env, ...(await identity(repository, env)), GIT_INDEX_FILE: path.join(folder, "index") },
    };
    if ((await tryGit(["cat-file", "-e", `${baseCommit}^{commit}`], git)).code !== 0) {
      throw new Problem(`The repository does not have the commit ${baseCommit}, which the run started from.`);
    }
    await runGit(["read-tree", baseCommit], git);
    await runGit(["apply", "--cached", "--binary", "--whitespace=nowarn"], { ...git, input: patch });
    const tree = await runGit(["write-tree"], git);
    if (!options.allowWorkflows) await refuseWorkflows(baseCommit, tree, git);
    const commit = await runGit(["commit-tree", tree, "-p", baseCommit], { ...git, input: message });
    // An existing branch is never overwritten.
    await runGit(
      ["push", "--quiet", `--force-with-lease=refs/heads/${branch}:`, "--", remote, `${commit}:refs/heads/${branch}`],
      git,
    );
    return commit;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Variables of a git process around this one, such as a hook that called it. */
const UNSET = {
  GIT_DIR: undefined,
  GIT_WORK_TREE: undefined,
  GIT_INDEX_FILE: undefined,
  GIT_OBJECT_DIRECTORY: undefined,
};

type Git = Parameters<typeof runGit>[1];

/** GitHub runs the workflows of a pushed branch with the repository's secrets. */
async function refuseWorkflows(base: string, tree: string, git: Git): Promise<void> {
  const changed = await runGit(
    ["diff-tree", "-r", "--name-only", base, tree, "--", ".github/workflows", ".github/actions"],
    git,
  );
  if (changed === "") return;
  throw new Problem(`The run changed workflows of GitHub Actions: ${changed.split("\n").join(", ")}`, {
    remedy:
      "They would run with the repository's secrets. Read the change with `runyard runs diff`, then pass --allow-workflows.",
  });
}

/** The author of the commit where git does not know the caller. */
async function identity(cwd: string, env: Git["env"]): Promise<Record<string, string>> {
  if ((await tryGit(["config", "user.email"], { cwd, env })).code === 0) return {};
  const [name, email] = ["Runyard", "runyard@localhost"];
  return { GIT_AUTHOR_NAME: name, GIT_AUTHOR_EMAIL: email, GIT_COMMITTER_NAME: name, GIT_COMMITTER_EMAIL: email };
}
