import * as v from "valibot";
import { sortByText } from "#shared/arrays.ts";
import type { Environment } from "#shared/environments/environment.ts";
import { isOnForeignDisk, ON_FOREIGN_DISK, parseGithubUrl } from "#shared/environments/repositories.ts";
import { invalid } from "#shared/errors.ts";
import { sha256 } from "#shared/ids.ts";
import { NO_CREDENTIALS, Repository, RepositoryUrl } from "#shared/wire/config.ts";
import { hasCredentials } from "#shared/wire/repository-url.ts";
import { parseRepositoryIdentity } from "#shared/wire/skills/skill-file.ts";

/** A repository whose skills are discovered, at one of its refs. */
export const SkillRepository = v.object({
  url: RepositoryUrl,
  ref: Repository.entries.ref,
  /** The teams of the reader: only members of a team see what its installation of the GitHub App can read. */
  teams: v.optional(v.array(v.string()), []),
});
export type SkillRepository = v.InferOutput<typeof SkillRepository>;

/** A repository with the environments that name it. */
export interface Place extends SkillRepository {
  readonly owner: string;
  readonly name: string;
  readonly environments: readonly { readonly uid: string; readonly name: string }[];
}

/**
 * The key under which the skills of a repository are stored. Credentials in its URL are part of it, or else the teams of the reader:
 * what one credential can read is not shown to a caller with another.
 */
export const toStorageKey = ({ url, ref, teams }: SkillRepository): string =>
  sha256(JSON.stringify([canonicalize(url), ref ?? null, ...(usesDeployment(url) ? [...teams].sort() : [])]));

/** Whether a repository is read with credentials of the deployment, if any. */
const usesDeployment = (url: string): boolean =>
  parseGithubUrl(url) !== undefined && parseCredentials(url).length === 0;

/** Identifies a repository by its URL without credentials and ref, however the URL is written. */
export function toBaseUrl(url: string): string {
  const github = parseGithubUrl(url);
  if (github !== undefined) return `github:${github.owner}/${github.repo}`.toLowerCase();
  return url
    .replace(/^(https:\/\/)[^/@]*@/i, "$1")
    .replace(/(?<!\/)\/+$/, "")
    .replace(/\.git$/, "");
}

/** GitHub ignores case and has several URLs for one repository; other hosts may differ. */
function canonicalize(url: string): string {
  return parseGithubUrl(url) === undefined ? url : [toBaseUrl(url), ...parseCredentials(url)].join("\n");
}

/** Returns the user and password in an https URL, the token last. */
export function parseCredentials(url: string): string[] {
  const parsed = /^https:/i.test(url) ? URL.parse(url) : null;
  if (parsed === null) return [];
  return [parsed.username, parsed.password].filter((value) => value !== "").map(decodeURIComponent);
}

/** Lists the repositories of the environments, as members of the teams read them, each once; those without a ref first. */
export function listPlaces(environments: readonly Environment[], teams: readonly string[]): Place[] {
  const places = new Map<string, Place>();
  for (const { uid, name, repositories = [] } of environments) {
    for (const { url, ref } of repositories) {
      const repository = { url, ...(ref === undefined ? {} : { ref }), teams: [...teams] };
      const before = places.get(toStorageKey(repository)) ?? toPlace(repository);
      const isIn = before.environments.some((one) => one.uid === uid);
      const all = isIn ? before.environments : [...before.environments, { uid, name }];
      places.set(toStorageKey(repository), { ...before, environments: all });
    }
  }
  return sortByText([...places.values()], toSortKey);
}

/** Finds the places that a caller means by `repo`: those of its environments, else the repository itself. */
export function findPlaces(repo: string, places: readonly Place[], teams: readonly string[]): Place[] {
  const named = readName(repo);
  const found = places.filter(({ url, owner, name }) =>
    "url" in named
      ? toBaseUrl(url) === toBaseUrl(named.url)
      : `${owner}/${name}`.toLowerCase() === `${named.owner}/${named.name}`.toLowerCase(),
  );
  if (found.length > 0) return found;
  const url = "url" in named ? named.url : `https://github.com/${named.owner}/${named.name}`;
  return [toPlace({ url, teams: [...teams] })];
}

function readName(repo: string): { url: string } | { owner: string; name: string } {
  const [, owner, name] = /^([A-Za-z0-9][A-Za-z0-9._-]{0,99})\/(?!\.{1,2}$)([\w.-]{1,100})$/.exec(repo) ?? [];
  if (owner !== undefined && name !== undefined) return { owner, name };
  if (!v.is(RepositoryUrl, repo)) throw invalid("repo", "must be owner/repo, or the URL of a repository");
  if (hasCredentials(repo)) throw invalid("repo", NO_CREDENTIALS);
  if (isOnForeignDisk(repo)) throw invalid("repo", ON_FOREIGN_DISK);
  return { url: repo };
}

function toPlace(repository: SkillRepository): Place {
  const github = parseGithubUrl(repository.url);
  const { owner, name } =
    github === undefined ? parseRepositoryIdentity(repository.url) : { owner: github.owner, name: github.repo };
  return { ...repository, owner, name, environments: [] };
}

const toSortKey = ({ owner, name, url, ref = "" }: Place): string =>
  [owner, name, url, ref].join("\u0000").toLowerCase();
