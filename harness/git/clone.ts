import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { removeTree } from "#shared/sandbox/remove-tree.ts";
import type { Repository } from "#shared/wire/config.ts";
import { maskUrlUsers } from "#shared/wire/repository-url.ts";
import { parseRepositoryIdentity } from "#shared/wire/skills/skill-file.ts";
import { readLimits } from "../isolation/limits.ts";
import { findLimitedFiles } from "../isolation/machine.ts";
import { formatError, SetupError } from "../support/stop.ts";
import { BASE_FILE } from "./clone-script.ts";
import { writeCommitHook } from "./co-author.ts";
import { addLargeFiles } from "./large-files.ts";
import { type Mirrors, updateMirror } from "./mirror.ts";
import { separateCredential } from "./repository-access.ts";
import { pinRepositoryAddress } from "./repository-address.ts";
import { type Git, type GitOptions, runGit } from "./run-git.ts";
import { addSubmodules, listSubmodulePaths, type NamedRepository } from "./submodules.ts";

/** A repository in the workspace. */
export interface Clone {
  /** The last two segments of its URL; a file URL has them too. */
  readonly owner: string;
  readonly name: string;
  /** Where it is, relative to the workspace. */
  readonly path: string;
  readonly commit: string;
}

/** A repository that was just cloned. */
export interface NewClone extends Clone {
  /** What of the repository is not in the workspace, and why. */
  readonly omissions: readonly string[];
  /** Whether its commits come from a mirror on this machine. */
  readonly isFromMirror: boolean;
}

/** Its `workspace` is the directory in which paths of clones begin. */
export interface CloneOptions extends GitOptions {
  /** Grants read access to the repository. @default the credential of the URL, if it has one */
  readonly token?: string | undefined;
  /** All repositories of the run, which may be each other's submodules. @default none */
  readonly named?: readonly NamedRepository[];
  /** Whether commits in it name the person who created the run. @default false */
  readonly namesCoAuthor?: boolean;
  /** @default it comes from its server */
  readonly mirrors?: Mirrors | undefined;
}

/** A repository, and how to clone it. */
export interface PlannedClone {
  readonly repository: Repository;
  readonly options: CloneOptions;
}

const MIB = 1024 * 1024;
/** Names in the workspace that no repository may have. */
const RESERVED = ["output", "attachments"];

/** Assigns each repository a path in the workspace. @throws SetupError when a path is taken or empty */
export function assignClonePaths(repositories: readonly Repository[]): Map<string, Repository> {
  const places = new Map<string, Repository>();
  for (const repository of repositories) {
    const place = repository.path ?? parseRepositoryIdentity(repository.url).name;
    // A clone inside another could be redirected by a link in the outer one.
    const isTaken = [...RESERVED, ...places.keys()].some((other) => isWithin(place, other) || isWithin(other, place));
    if (isTaken || place === "" || place === ".git")
      throw new SetupError(
        `repository ${maskUrlUsers(repository.url)}: the directory "${place}" is taken: give it another path`,
      );
    places.set(place, repository);
  }
  return places;
}

/** Describes the clones of repositories that the workspace contains already. @param commits of clones, by their paths */
export const listClones = (
  repositories: readonly Repository[],
  commits: ReadonlyMap<string, string> = new Map(),
): Clone[] =>
  [...assignClonePaths(repositories)].map(([path, { url }]) => ({
    ...parseRepositoryIdentity(url),
    path,
    commit: commits.get(path) ?? "",
  }));

/**
 * Clones one repository, with its whole history unless `depth` says otherwise. Git runs outside the sandbox, so it must use no
 * configuration of the host, no hook, no submodule by itself and no other transport. The clone's remote has no credential, because
 * commands can read its configuration.
 * @throws SetupError with the end of git's output
 */
export async function cloneRepository(place: string, repository: Repository, options: CloneOptions): Promise<NewClone> {
  const directory = join(options.workspace, place);
  const access = separateCredential(repository.url, options.token);
  const { url, credential, variables } = access;
  const fail = (text: string) =>
    new SetupError(`cloning ${maskUrlUsers(repository.url)} failed: ${maskUrlUsers(text)}${suggestFix(text, options)}`);
  const pinned = await pinRepositoryAddress(repository.url, options).catch((error: unknown) => {
    throw fail(formatError(error));
  });
  const git: Git = (...args) => runGit([...pinned, ...args], options, variables);
  const inClone: Git = (...args) => git("-C", directory, ...args);
  // A shallow clone is smaller than the mirror.
  const mirror = repository.depth === undefined ? await updateMirror(access, pinned, options) : undefined;
  const isFromMirror = mirror !== undefined && (await cloneMirror(repository, { url, directory, mirror }, git));
  const cloned = isFromMirror ? undefined : await cloneAt(repository, url, directory, git);
  if (cloned?.ok === false) throw fail(cloned.text);
  const absent = await limitDirectories(repository, inClone, fail);
  const head = await inClone("rev-parse", "--verify", "--quiet", "HEAD");
  const commit = head.ok ? head.text.trim() : "";
  await writeFile(join(directory, ".git", BASE_FILE), `${commit}\n`);
  if (options.namesCoAuthor === true) writeCommitHook(join(directory, ".git"));
  const { depth, lfs = false, submodules = false } = repository;
  const { named = [], ...gitOptions } = options;
  const omissions = [
    ...absent,
    ...(await addLargeFiles({ directory, url, isWanted: lfs, git })),
    ...(submodules
      ? await addSubmodules(directory, { ...gitOptions, url, credential, depth, hasLargeFiles: lfs, named })
      : (await listSubmodulePaths(inClone)).map((path) => `submodule ${path} (set submodules of the repository)`)),
  ];
  return { ...parseRepositoryIdentity(repository.url), path: place, commit, omissions, isFromMirror };
}

/** Clones the mirror of a repository, which may be removed at any time. Returns false if that left nothing. */
async function cloneMirror(
  repository: Repository,
  { url, directory, mirror }: { readonly url: string; readonly directory: string; readonly mirror: string },
  git: Git,
): Promise<boolean> {
  const cloned = await cloneAt(repository, url, directory, git, mirror);
  if (!cloned.ok) await removeTree(directory);
  return cloned.ok;
}

/**
 * Clones the repository and checks out its ref.
 * @param source where its commits come from. @default its server
 */
async function cloneAt(
  { ref, depth, sparse_paths }: Repository,
  url: string,
  directory: string,
  git: Git,
  source = url,
) {
  const clone = async (...args: string[]) => {
    const how = ["--quiet", "--template=", "--no-hardlinks", "--no-recurse-submodules", ...args];
    const cloned = await git("clone", ...how, "--", source, directory);
    return cloned.ok && source !== url ? git("-C", directory, "remote", "set-url", "origin", url) : cloned;
  };
  const inClone: Git = (...args) => git("-C", directory, ...args);
  const sparse = sparse_paths === undefined ? [] : ["--sparse"];
  const shallow = depth === undefined ? [] : ["--depth", String(depth)];
  if (ref === undefined) return clone(...sparse, ...shallow);
  if (depth !== undefined) {
    // A shallow clone has one branch, which must be the wanted one.
    const direct = await clone(...sparse, ...shallow, "--branch", ref);
    if (direct.ok || !/remote branch .* not found/i.test(direct.text)) return direct;
  }
  const cloned = await clone(...sparse, ...shallow);
  if (!cloned.ok) return cloned;
  const checkedOut = await inClone("checkout", "--quiet", ref, "--");
  if (checkedOut.ok) return checkedOut;
  // The ref is no branch, tag or commit of the clone, but may be one that clones do not include, such as a pull request.
  const fetched = await inClone("fetch", "--quiet", ...shallow, "origin", ref);
  const detached = fetched.ok ? await inClone("checkout", "--quiet", "--detach", "FETCH_HEAD") : fetched;
  return detached.ok ? detached : { ...detached, text: `there is no ref "${ref}": ${detached.text}` };
}

/** Checks out `sparse_paths`, in addition to the files at the top of the repository. Returns those that do not exist. */
async function limitDirectories(
  { sparse_paths: paths }: Repository,
  inClone: Git,
  fail: (text: string) => SetupError,
): Promise<string[]> {
  if (paths === undefined) return [];
  const limited = await inClone("sparse-checkout", "set", "--cone", ...paths);
  if (!limited.ok) throw fail(`sparse_paths: ${limited.text}`);
  const types = await Promise.all(paths.map((path) => inClone("cat-file", "-t", `HEAD:${path.replace(/\/+$/, "")}`)));
  return paths.filter((_, index) => !types[index]?.ok).map((path) => `directory ${path} (the commit does not have it)`);
}

/** The limits that a file system has which is hardly larger; empty on another one, which is full itself. */
function describeLimitedFiles(workspace: string): string {
  const limits = readLimits();
  if (findLimitedFiles(workspace, limits).length === 0) return "";
  return ` (a run may have ${limits.diskBytes / MIB} MiB and ${limits.files} files; set depth or sparse_paths of the repository to clone less)`;
}

const isWithin = (inner: string, outer: string) => `${inner}/`.startsWith(`${outer}/`);

/** Suggests a fix when access was denied, or the limits of the run's files are reached. */
function suggestFix(text: string, { token, workspace }: Pick<CloneOptions, "token" | "workspace">): string {
  if (/No space left on device|Disk quota exceeded/i.test(text)) return describeLimitedFiles(workspace);
  if (
    !/could not read (Username|Password)|Authentication failed|returned error: 40[134]|epository not found/i.test(text)
  )
    return "";
  return token === undefined
    ? " (it may be private: install this deployment's GitHub App for it, or name a secret of the run in token_secret)"
    : " (it does not exist, or its token cannot read it)";
}
