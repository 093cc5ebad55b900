import * as v from "valibot";
import type { Environment } from "#shared/environments/environment.ts";
import { githubOf } from "#shared/environments/repositories.ts";
import { invalid } from "#shared/errors.ts";
import { sha256 } from "#shared/ids.ts";
import { NO_CREDENTIALS, Repository, RepositoryUrl } from "#shared/wire/config.ts";
import { hasCredentials } from "#shared/wire/repository-url.ts";
import { identityOf } from "#shared/wire/skill-file.ts";

/** A repository in which skills are looked for, at one of its refs. */
export const SkillRepository = v.object({ url: RepositoryUrl, ref: Repository.entries.ref });
export type SkillRepository = v.InferOutput<typeof SkillRepository>;

/** A repository with the environments that it belongs to. */
export interface Place extends SkillRepository {
  readonly owner: string;
  readonly name: string;
  readonly environments: readonly { readonly uid: string; readonly name: string }[];
}

/**
 * What is kept of a repository is kept under this. Credentials in its URL are a part of it: what one of them opens is not
 * shown to who has another.
 */
export const keyOf = ({ url, ref }: SkillRepository): string => sha256(JSON.stringify([canonical(url), ref ?? null]));

/** The repository whichever way its URL is written, without credentials and ref. */
export function baseOf(url: string): string {
  const github = githubOf(url);
  if (github !== undefined) return `github:${github.owner}/${github.repo}`.toLowerCase();
  return url
    .replace(/^(https:\/\/)[^/@]*@/i, "$1")
    .replace(/(?<!\/)\/+$/, "")
    .replace(/\.git$/, "");
}

/** GitHub takes case for nothing and has several URLs for one repository; of others nothing is known. */
function canonical(url: string): string {
  return githubOf(url) === undefined ? url : [baseOf(url), ...credentialsOf(url)].join("\n");
}

/** The user and password in an https URL, the one of them last that a token would be. */
export function credentialsOf(url: string): string[] {
  const parsed = /^https:/i.test(url) ? URL.parse(url) : null;
  if (parsed === null) return [];
  return [parsed.username, parsed.password].filter((value) => value !== "").map(decodeURIComponent);
}

/** The repositories of the environments, each once; those without a ref first. */
export function placesOf(environments: readonly Environment[]): Place[] {
  const places = new Map<string, Place>();
  for (const { uid, name, repositories = [] } of environments) {
    for (const { url, ref } of repositories) {
      const repository = { url, ...(ref === undefined ? {} : { ref }) };
      const before = places.get(keyOf(repository)) ?? placeOf(repository);
      const isIn = before.environments.some((one) => one.uid === uid);
      const all = isIn ? before.environments : [...before.environments, { uid, name }];
      places.set(keyOf(repository), { ...before, environments: all });
    }
  }
  return [...places.values()].sort((a, b) => compare(orderOf(a), orderOf(b)));
}

/** The places that a caller means by `repo`: those of its environments, else the repository itself. */
export function placesNamed(repo: string, places: readonly Place[]): Place[] {
  const named = readName(repo);
  const found = places.filter(({ url, owner, name }) =>
    "url" in named
      ? baseOf(url) === baseOf(named.url)
      : `${owner}/${name}`.toLowerCase() === `${named.owner}/${named.name}`.toLowerCase(),
  );
  if (found.length > 0) return found;
  return [placeOf({ url: "url" in named ? named.url : `https://github.com/${named.owner}/${named.name}` })];
}

function readName(repo: string): { url: string } | { owner: string; name: string } {
  const [, owner, name] = /^([A-Za-z0-9][A-Za-z0-9._-]{0,99})\/(?!\.{1,2}$)([\w.-]{1,100})$/.exec(repo) ?? [];
  if (owner !== undefined && name !== undefined) return { owner, name };
  if (!v.is(RepositoryUrl, repo)) throw invalid("repo", "must be owner/repo, or the URL of a repository");
  if (hasCredentials(repo)) throw invalid("repo", NO_CREDENTIALS);
  return { url: repo };
}

function placeOf(repository: SkillRepository): Place {
  const github = githubOf(repository.url);
  const { owner, name } =
    github === undefined ? identityOf(repository.url) : { owner: github.owner, name: github.repo };
  return { ...repository, owner, name, environments: [] };
}

const orderOf = ({ owner, name, url, ref = "" }: Place): string => [owner, name, url, ref].join("\u0000").toLowerCase();
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
