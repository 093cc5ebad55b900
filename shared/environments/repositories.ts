import { invalid } from "#shared/errors.ts";
import { settingIfAny } from "#shared/settings.ts";
import type { Repository } from "#shared/wire/config.ts";
import type { CreateEnvironmentRequest } from "#shared/wire/environment.ts";
import { refuseBlockedRepositories } from "./outward-urls.ts";

type GithubRepo = NonNullable<CreateEnvironmentRequest["github_repos"]>[number];

const MAX_REPOSITORIES = 10;
/** Why a repository on a disk that is not the caller's own is refused. */
export const ON_FOREIGN_DISK = "is on a disk, which runs of this service cannot read: give an https or ssh URL";

/** The stages whose callers do not own the disk that repositories are cloned from: sandboxes on AWS, and a server for other machines. */
const FOREIGN_DISKS = ["aws", "shared"];

/**
 * Whether the URL of a repository is on a disk that is not the caller's own. Git reads such a repository with the rights of the service, and
 * a caller who can write to it can make git show other files of the disk.
 */
export const isOnForeignDisk = (url: string): boolean =>
  url.startsWith("file:") && FOREIGN_DISKS.includes(settingIfAny("STAGE") ?? "");

/** Refuses repositories on a disk that is not the caller's own. `path` names the field that has them. */
export function refuseDisks(repositories: readonly Repository[] | null | undefined, path: string): void {
  const index = repositories?.findIndex(({ url }) => isOnForeignDisk(url)) ?? -1;
  if (index >= 0) throw invalid(`${path}[${index}].url`, ON_FOREIGN_DISK);
}

/** The repositories that are on GitHub, each once. */
export function githubPart(repositories: readonly Repository[]): GithubRepo[] {
  const found = repositories.map(({ url }) => parseGithubUrl(url)).filter((repo) => repo !== undefined);
  return [...new Map(found.map((repo) => [toFullName(repo), repo])).values()];
}

/**
 * The repositories after a change: `repositories` replaces all of them, `github_repos` alone replaces those on GitHub
 * and leaves branch and directory of those that stay. Given both, what is in the first already is not added again.
 */
export function changedRepositories(
  { github_repos, repositories }: Pick<CreateEnvironmentRequest, "github_repos" | "repositories">,
  before: readonly Repository[],
): Repository[] | undefined {
  refuseDisks(repositories, "repositories");
  refuseBlockedRepositories(repositories, "repositories");
  if (!github_repos) return repositories ?? undefined;
  const names = new Set(github_repos.map(toFullName));
  const base = repositories ?? before.filter(({ url }) => isKept(parseGithubUrl(url), names));
  const there = new Set(githubPart(base).map(toFullName));
  const added = github_repos.filter((repo) => !there.has(toFullName(repo)));
  const all = [...base, ...added.map(({ owner, repo }) => ({ url: `https://github.com/${owner}/${repo}` }))];
  if (all.length <= MAX_REPOSITORIES) return all;
  throw invalid("github_repos", `an environment has at most ${MAX_REPOSITORIES} repositories, of all kinds together`);
}

const isKept = (repo: GithubRepo | undefined, wanted: ReadonlySet<string>): boolean =>
  repo === undefined || wanted.has(toFullName(repo));

/** GitHub takes case for nothing. */
const toFullName = ({ owner, repo }: GithubRepo): string => `${owner}/${repo}`.toLowerCase();

const ON_GITHUB =
  /^(?:https:\/\/(?:[^@/]*@)?(?:www\.)?github\.com\/|ssh:\/\/git@github\.com(?::\d+)?\/|git@github\.com:)([^/]+)\/([^/]+?)(?:\.git)?\/?$/i;

/** Owner and name of a repository on GitHub; undefined for one that is elsewhere. */
export function parseGithubUrl(url: string): GithubRepo | undefined {
  const [, owner, repo] = ON_GITHUB.exec(url) ?? [];
  return owner === undefined || repo === undefined ? undefined : { owner, repo };
}
