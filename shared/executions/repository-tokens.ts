import { githubOf } from "#shared/environments/repositories.ts";
import { logLine } from "#shared/log/log.ts";
import type { RunBody } from "#shared/records/run-body.ts";
import { DiscoveryFailure } from "#shared/skills/discovery-failure.ts";
import type { GithubApp } from "#shared/skills/github-app.ts";
import type { Repository } from "#shared/wire/config.ts";
import type { RepositoryToken } from "#shared/wire/harness.ts";
import { toTimestamp } from "#shared/wire/primitives.ts";

export interface TokenPorts {
  /** The deployment's GitHub App. @default it has none */
  readonly app?: GithubApp | undefined;
}

/**
 * Tokens by which an execution can read the repositories of its run, where the deployment's GitHub App is installed for them: each for
 * one repository and for this execution alone. Where GitHub does not answer there is none; a public repository needs none.
 */
export async function repositoryTokens(
  { config, execution_location: location }: Pick<RunBody, "config" | "execution_location">,
  { app }: TokenPorts,
): Promise<RepositoryToken[]> {
  // Who executes a run himself has his own ways to what he may read.
  if (app === undefined || location === "LOCAL") return [];
  const tokens = await Promise.all((config.repositories ?? []).map((repository) => tokenOf(repository, app)));
  return tokens.filter((token) => token !== undefined);
}

async function tokenOf({ url, token_secret }: Repository, app: GithubApp): Promise<RepositoryToken | undefined> {
  const place = isOpen(url) && token_secret === undefined ? githubOf(url) : undefined;
  if (place === undefined) return undefined;
  try {
    const made = await app.newToken(place);
    return made && { url, token: made.token, expires_at: toTimestamp(made.expiresAt) };
  } catch (error) {
    if (!(error instanceof DiscoveryFailure)) throw error;
    logLine("warn", "a run has no token for a repository", { ...place, reason: error.message });
    return undefined;
  }
}

/** A URL of https without credentials of its own. */
const isOpen = (url: string): boolean => /^https:\/\/[^@/]+\//i.test(url);
