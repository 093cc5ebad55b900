import { join } from "node:path";
import {
  isSameRepository,
  maskUrlUsers,
  parseHttpsRepository,
  resolveSubmoduleUrl,
} from "#shared/wire/repository-url.ts";
import { formatError } from "../support/stop.ts";
import { addLargeFiles } from "./large-files.ts";
import { type Credential, grantAccess, separateCredential } from "./repository-access.ts";
import { pinRepositoryAddress } from "./repository-address.ts";
import { type Git, type GitOptions, runGit } from "./run-git.ts";

/** A repository that the run names, whose token may be used for a submodule. */
export interface NamedRepository {
  readonly url: string;
  readonly token: string | undefined;
}

export interface SubmoduleOptions extends GitOptions {
  /** The URL of the repository with the submodules, without credentials. */
  readonly url: string;
  readonly credential: Credential | undefined;
  /** Commits of each branch to fetch. @default the whole history */
  readonly depth?: number | undefined;
  /** Whether to download the files in Git LFS. */
  readonly hasLargeFiles: boolean;
  /** All repositories of the run. */
  readonly named: readonly NamedRepository[];
}

interface Submodule {
  readonly name: string;
  readonly path: string;
  readonly url: string;
}

/** Submodules of one repository, in all levels together. */
const MAX_SUBMODULES = 100;
const MAX_LEVELS = 8;

/** Lists the paths of a clone's submodules. */
export const listSubmodulePaths = async (git: Git): Promise<string[]> =>
  (await readSubmodules(git)).map(({ path }) => path);

/**
 * Clones the submodules of a clone, and theirs. A repository chooses the URLs of its submodules, so only those of the same owner on
 * the same server, and those of repositories that the run names, are cloned.
 * @returns what is left out, and why
 */
export async function addSubmodules(directory: string, options: SubmoduleOptions): Promise<string[]> {
  const remaining = { count: MAX_SUBMODULES };
  return addLevel(directory, "", { options, remaining, level: 1 });
}

interface Level {
  readonly options: SubmoduleOptions;
  readonly remaining: { count: number };
  readonly level: number;
}

async function addLevel(directory: string, prefix: string, { options, remaining, level }: Level): Promise<string[]> {
  const omissions: string[] = [];
  for (const submodule of await readSubmodules((...args) => runGit(["-C", directory, ...args], options, {}))) {
    const label = `submodule ${prefix}${submodule.path}`;
    const leaveOut = (reason: string) => omissions.push(`${label} (${reason})`);
    const url = resolveSubmoduleUrl(submodule.url, options.url);
    const access = url === undefined ? undefined : findAccess(url, options);
    if (url === undefined) leaveOut(`${maskUrlUsers(submodule.url)} is not an https URL without credentials`);
    else if (access === undefined) leaveOut(`${url} has another owner: add it to the repositories of the run`);
    else if (level > MAX_LEVELS) leaveOut(`more than ${MAX_LEVELS} levels of submodules`);
    else if (remaining.count-- <= 0) leaveOut(`more than ${MAX_SUBMODULES} submodules`);
    else {
      const problem = await cloneSubmodule(directory, { ...submodule, url }, options, access);
      if (problem !== undefined) leaveOut(`${url}: ${problem}`);
      else omissions.push(...(await addContents(join(directory, submodule.path), url, `${prefix}${submodule.path}`)));
    }
  }
  return omissions;

  async function addContents(inside: string, url: string, path: string): Promise<string[]> {
    const { credential, variables } = findAccess(url, options) ?? grantAccess(url, undefined);
    const git: Git = (...args) => runGit(args, options, variables);
    const files = await addLargeFiles({ directory: inside, url, isWanted: options.hasLargeFiles, git });
    const below = { options: { ...options, url, credential }, remaining, level: level + 1 };
    return [...files.map((file) => `${path}: ${file}`), ...(await addLevel(inside, `${path}/`, below))];
  }
}

/** Decides whether a submodule may be cloned, and with which credential. */
function findAccess(url: string, { url: parent, credential, named }: SubmoduleOptions) {
  const own = named.find((repository) => isSameRepository(repository.url, url));
  if (own !== undefined) return grantAccess(url, separateCredential(own.url, own.token).credential);
  const [parsed, outer] = [parseHttpsRepository(url), parseHttpsRepository(parent)];
  const isSameOwner = parsed?.owner !== undefined && parsed.owner === outer?.owner && parsed.host === outer.host;
  return isSameOwner ? grantAccess(url, credential) : undefined;
}

/** Clones one submodule at the commit that the repository records. Returns what failed, if anything. */
async function cloneSubmodule(
  directory: string,
  { name, path, url }: Submodule,
  options: SubmoduleOptions,
  { variables }: ReturnType<typeof grantAccess>,
): Promise<string | undefined> {
  try {
    const pinned = await pinRepositoryAddress(url, options);
    const git: Git = (...args) => runGit([...pinned, "-C", directory, ...args], options, variables);
    // With a URL in its configuration, git does not read the one that the repository names.
    const configured = await git("config", `submodule.${name}.url`, url);
    const depth = options.depth === undefined ? [] : ["--depth", String(options.depth)];
    const update = ["submodule", "--quiet", "update", "--init", "--checkout", "--no-recommend-shallow", ...depth];
    const updated = configured.ok ? await git("--literal-pathspecs", ...update, "--", path) : configured;
    return updated.ok ? undefined : updated.text;
  } catch (error) {
    options.signal.throwIfAborted();
    return formatError(error);
  }
}

/** Reads the submodules that the checked-out commit has. `git` runs in the clone. */
async function readSubmodules(git: Git): Promise<Submodule[]> {
  const keys = String.raw`^submodule\..*\.(path|url)$`;
  const listed = await git("config", "--blob=HEAD:.gitmodules", "--null", "--get-regexp", keys);
  if (!listed.ok) return [];
  const found = new Map<string, { path?: string; url?: string }>();
  for (const entry of listed.output.split("\0")) {
    const [, name, member, value] = /^submodule\.(.*)\.(path|url)\n([\s\S]*)$/.exec(entry) ?? [];
    if (name === undefined || member === undefined) continue;
    found.set(name, { ...found.get(name), [member]: value });
  }
  const complete = [...found].flatMap(([name, { path, url }]) =>
    path === undefined || url === undefined ? [] : [{ name, path, url }],
  );
  if (complete.length === 0) return [];
  // Only entries of the index with the mode of a commit are submodules; others are left over in .gitmodules.
  const paths = complete.map(({ path }) => path);
  const staged = await git("--literal-pathspecs", "ls-files", "--stage", "-z", "--", ...paths);
  const commits = staged.output.split("\0").flatMap((line) => /^160000 \S+ 0\t([\s\S]*)$/.exec(line)?.[1] ?? []);
  return complete.filter(({ path }) => commits.includes(path));
}
