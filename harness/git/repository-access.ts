import type { Repository } from "#shared/wire/config.ts";
import type { InjectedSecret, RepositoryToken } from "#shared/wire/harness.ts";
import { maskUrlUsers } from "#shared/wire/repository-url.ts";
import { SetupError } from "../support/stop.ts";

/** Where the tokens of a run's repositories come from. */
export interface TokenSources {
  readonly secrets?: readonly InjectedSecret[];
  /** Made for this execution alone. */
  readonly repository_tokens?: readonly RepositoryToken[];
}

/** Secrets that hold a token of GitHub, as its own command line looks for them. */
const GITHUB_TOKENS = ["GH_TOKEN", "GITHUB_TOKEN"];

/**
 * The token by which a repository is cloned: of the secret that it names, else the one that the service made for it, else, on
 * github.com, of a secret that is called as tokens of GitHub are; none for a URL with credentials of its own, and for other ways than https.
 * @throws SetupError where the run does not have the secret that the repository names
 */
export function tokenOf({ url, token_secret: wanted }: Repository, sources: TokenSources): string | undefined {
  const { secrets = [], repository_tokens: made = [] } = sources;
  const secretOf = (name: string) =>
    secrets.flatMap((one) => (one.name === name && "value" in one ? [one.value] : []))[0];
  const isOpen = /^https:\/\/[^@/]+\//i.test(url);
  if (wanted !== undefined) {
    const value = secretOf(wanted)?.trim();
    const shown = maskUrlUsers(url);
    if (!isOpen) throw new SetupError(`repository ${shown}: token_secret is for https URLs without credentials`);
    if (value === undefined || value === "" || /\s/.test(value))
      throw new SetupError(
        `repository ${shown}: the run has no secret ${wanted}, or it is no token: its environment or identity must name it`,
      );
    return value;
  }
  if (!isOpen) return undefined;
  const own = made.find((one) => one.url === url)?.token;
  if (own !== undefined || !/^https:\/\/(www\.)?github\.com\//i.test(url)) return own;
  const values = GITHUB_TOKENS.map((name) => secretOf(name)?.trim());
  return values.find((value) => value !== undefined && /^\S+$/.test(value));
}

/** The variable of git's environment that holds the token. */
const TOKEN = "RUNYARD_GIT_TOKEN";

/**
 * What has git ask for a token when this URL, and no other, wants one. It is in the environment of that one process, which ends with the
 * clone: not in a list of processes, nor in any file of the clone.
 */
export function accessVariables(url: string, token: string): Record<string, string> {
  const say = `!f() { test "$1" = get && printf 'username=x-access-token\\npassword=%s\\n' "$${TOKEN}"; }; f`;
  const settings = [
    ["credential.useHttpPath", "true"],
    [`credential.${url}.helper`, ""],
    [`credential.${url}.helper`, say],
  ] as const;
  const numbered = settings.flatMap(([key, value], index) => [
    [`GIT_CONFIG_KEY_${index}`, key],
    [`GIT_CONFIG_VALUE_${index}`, value],
  ]);
  return { ...Object.fromEntries(numbered), GIT_CONFIG_COUNT: String(settings.length), [TOKEN]: token };
}
