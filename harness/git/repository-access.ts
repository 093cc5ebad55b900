import type { Repository } from "#shared/wire/config.ts";
import type { RepositoryToken } from "#shared/wire/harness.ts";
import { maskUrlUsers, withoutUser } from "#shared/wire/repository-url.ts";
import type { InjectedSecret } from "#shared/wire/secrets/injected-secret.ts";
import { SetupError } from "../support/stop.ts";

/** Where the tokens of a run's repositories come from. */
export interface TokenSources {
  readonly secrets?: readonly InjectedSecret[];
  /** Created for this execution only. */
  readonly repository_tokens?: readonly RepositoryToken[];
}

/** Secrets that hold a GitHub token, by the names that GitHub's command line uses. */
const GITHUB_TOKENS = ["GH_TOKEN", "GITHUB_TOKEN"];

/**
 * Chooses the token to clone a repository with: the secret that it names, else the token that the service created for it, else, on
 * github.com, a secret with the name of a GitHub token. A URL with a credential of its own, or without https, gets no token.
 * @throws SetupError when the run does not have the secret that the repository names
 */
export function chooseToken({ url, token_secret: wanted }: Repository, sources: TokenSources): string | undefined {
  const { secrets = [], repository_tokens: made = [] } = sources;
  const findSecret = (name: string) =>
    secrets.flatMap((one) => (one.name === name && "value" in one ? [one.value] : []))[0];
  const isPlainHttps = /^https:\/\/[^@/]+\//i.test(url);
  if (wanted !== undefined) {
    const value = findSecret(wanted)?.trim();
    const maskedUrl = maskUrlUsers(url);
    if (!isPlainHttps)
      throw new SetupError(`repository ${maskedUrl}: token_secret requires an https URL without credentials`);
    if (value === undefined || value === "" || /\s/.test(value))
      throw new SetupError(
        `repository ${maskedUrl}: the run has no secret ${wanted}, or its value is not a token: add it to the run's environment or identity`,
      );
    return value;
  }
  if (!isPlainHttps) return undefined;
  const own = made.find((one) => one.url === url)?.token;
  if (own !== undefined || !/^https:\/\/(www\.)?github\.com\//i.test(url)) return own;
  const values = GITHUB_TOKENS.map((name) => findSecret(name)?.trim());
  return values.find((value) => value !== undefined && /^\S+$/.test(value));
}

/** The variables of git's environment that hold the credential. */
const USER = "RUNYARD_GIT_USER";
const PASSWORD = "RUNYARD_GIT_PASSWORD";

/** A user and the password or token by which a server knows it. */
export interface Credential {
  readonly user: string;
  readonly password: string;
}

/** How git accesses a repository. */
export interface RepositoryAccess {
  /** Without a credential where it is an https URL, so that git may store it in the clone. */
  readonly url: string;
  readonly credential: Credential | undefined;
  /** Environment variables of the git process, with the credential where there is one. */
  readonly variables: Readonly<Record<string, string>>;
}

/**
 * Moves the credential of an https URL, or the token of a repository, into the environment of the git process. It ends with that
 * process, and appears neither in a list of processes nor in a file of the clone.
 */
export function separateCredential(url: string, token: string | undefined): RepositoryAccess {
  if (token !== undefined) return grantAccess(url, { user: "x-access-token", password: token });
  const parsed = URL.parse(url);
  if (parsed?.protocol !== "https:" || parsed.username + parsed.password === "") return grantAccess(url, undefined);
  return grantAccess(withoutUser(url), { user: decode(parsed.username), password: decode(parsed.password) });
}

/** Lets git use a credential for a URL and for those of the objects that Git LFS keeps for it. */
export const grantAccess = (url: string, credential: Credential | undefined): RepositoryAccess => ({
  url,
  credential,
  variables: credential === undefined ? {} : buildCredentialVariables([url, toLargeFilesUrl(url)], credential),
});

/** The URL at which Git LFS finds the objects of a repository, whatever its `.lfsconfig` says. */
export const toLargeFilesUrl = (url: string): string => `${url.replace(/\/+$/, "").replace(/\.git$/, "")}.git/info/lfs`;

/** The credentials in a URL, as they are written and decoded. The user of an ssh URL is none. */
export function findCredentials(url: string): string[] {
  const parsed = URL.parse(url);
  if (parsed === null || parsed.protocol === "ssh:") return [];
  const values = [parsed.username, parsed.password].filter((value) => value !== "");
  return values.flatMap((value) => [value, decode(value)]);
}

/** Makes git send the credential to these URLs and to no other, when the server asks for one. */
function buildCredentialVariables(urls: readonly string[], { user, password }: Credential): Record<string, string> {
  const helper = `!f() { test "$1" = get && printf 'username=%s\npassword=%s\n' "$${USER}" "$${PASSWORD}"; }; f`;
  const settings = [
    ["credential.useHttpPath", "true"],
    ...urls.flatMap((url) => [
      [`credential.${url}.helper`, ""],
      [`credential.${url}.helper`, helper],
    ]),
  ];
  const numbered = settings.flatMap(([key = "", value = ""], index) => [
    [`GIT_CONFIG_KEY_${index}`, key],
    [`GIT_CONFIG_VALUE_${index}`, value],
  ]);
  return {
    ...Object.fromEntries(numbered),
    GIT_CONFIG_COUNT: String(settings.length),
    [USER]: user,
    [PASSWORD]: password,
  };
}

/** The text as it is where it is not percent-encoded correctly. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
