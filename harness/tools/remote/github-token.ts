import type { Repository } from "#shared/wire/config.ts";
import { parseRepositoryIdentity } from "#shared/wire/skills/skill-file.ts";

/** Names of secrets that hold a GitHub token, as in GitHub's command line. */
const TOKEN_NAMES = ["GH_TOKEN", "GITHUB_TOKEN"];

/** A repository on GitHub and the token for its API. */
export interface GithubRepository {
  readonly owner: string;
  readonly name: string;
  /** Base URL of the API, without a trailing slash. */
  readonly apiUrl: string;
  readonly token: string;
}

export interface GithubAccess {
  readonly repositories: readonly Repository[];
  readonly secrets: Readonly<Record<string, string>>;
  /** Replaces the API of github.com. @default https://api.github.com */
  readonly apiUrl?: string | undefined;
  /** Throws for a host that the run may not call. @default it may call every host */
  readonly checkHost?: (host: string) => void;
}

/**
 * Finds the repository that `wanted` (owner/repo) names, or the only one of the run. A token of a secret is sent to the API of github.com
 * only, and a token of a repository's URL to its host only; the model cannot change that.
 * @throws when there is no such repository, or no token for it
 */
export function findGithubRepository(wanted: string | undefined, access: GithubAccess): GithubRepository {
  const own = access.repositories.map(parsePlace).filter((place) => place !== undefined);
  const [only, ...others] = own;
  const same = (place: Place) => `${place.owner}/${place.name}`.toLowerCase() === wanted?.toLowerCase();
  const place = wanted === undefined ? (others.length === 0 ? only : undefined) : (own.find(same) ?? parseName(wanted));
  if (place === undefined) {
    const names = own.map(({ owner, name }) => `${owner}/${name}`).join(", ");
    throw new Error(`repository must be owner/repo; this run has ${names || "none on GitHub"}`);
  }
  const { owner, name, host } = place;
  const injected = TOKEN_NAMES.map((secret) => access.secrets[secret]).find((value) => value !== undefined);
  // The token of a secret is for github.com, so no other host may receive it.
  const token = place.token ?? (host === GITHUB ? injected : undefined);
  if (token === undefined) {
    throw new Error(
      `there is no token for ${host}: add a secret ${TOKEN_NAMES.join(" or ")} to the environment, or open the pull request elsewhere and report it`,
    );
  }
  const apiUrl = host === GITHUB ? (access.apiUrl ?? "https://api.github.com") : `https://${host}/api/v3`;
  access.checkHost?.(new URL(apiUrl).hostname);
  return { owner, name, apiUrl, token };
}

const GITHUB = "github.com";

interface Place {
  readonly owner: string;
  readonly name: string;
  readonly host: string;
  readonly token?: string;
}

function parsePlace({ url }: Repository): Place | undefined {
  const { owner, name } = parseRepositoryIdentity(url);
  if (owner === "" || name === "") return undefined;
  const parsed = URL.parse(url);
  if (parsed?.protocol === "https:") {
    const token = decodeURIComponent(parsed.password);
    return { owner, name, host: parsed.host, ...(token === "" ? {} : { token }) };
  }
  const host = parsed?.protocol === "ssh:" ? parsed.hostname : /^[\w.-]+@([\w.-]+):/.exec(url)?.[1];
  return host === undefined ? undefined : { owner, name, host };
}

function parseName(wanted: string): Place | undefined {
  const [, owner, name] = /^([\w.-]+)\/([\w.-]+)$/.exec(wanted) ?? [];
  return owner === undefined || name === undefined ? undefined : { owner, name, host: GITHUB };
}
