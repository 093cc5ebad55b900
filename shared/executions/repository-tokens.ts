import { parseGithubUrl } from "#shared/environments/repositories.ts";
import { logLine } from "#shared/log/log.ts";
import { listTeamsOfOwner } from "#shared/records/read-team.ts";
import type { RunBody } from "#shared/records/run-body.ts";
import { DiscoveryFailure } from "#shared/skills/discovery-failure.ts";
import type { GithubApp } from "#shared/skills/github-app.ts";
import type { Owner } from "#shared/table/keys.ts";
import type { Table } from "#shared/table/table.ts";
import type { Repository } from "#shared/wire/config.ts";
import type { RepositoryToken } from "#shared/wire/harness.ts";
import { toTimestamp } from "#shared/wire/primitives.ts";

export interface TokenPorts {
  readonly table: Pick<Table, "get">;
  /** The deployment's GitHub App. @default it has none */
  readonly app?: GithubApp | undefined;
}

/**
 * Creates tokens with which an execution reads the repositories of its run, where its team has an installation of the deployment's
 * GitHub App: one for each repository, and for this execution only. If GitHub does not respond there is no token; a public repository needs none.
 */
export async function createRepositoryTokens(
  { config, execution_location: location }: Pick<RunBody, "config" | "execution_location">,
  owner: Owner,
  { app, table }: TokenPorts,
): Promise<RepositoryToken[]> {
  // A caller that executes the run uses its own credentials.
  if (app === undefined || location === "LOCAL" || (config.repositories ?? []).length === 0) return [];
  const teams = await listTeamsOfOwner(owner, table);
  const tokens = await Promise.all(
    (config.repositories ?? []).map((repository) => createToken(repository, teams, app)),
  );
  return tokens.filter((token) => token !== undefined);
}

async function createToken(
  { url, token_secret }: Repository,
  teams: readonly string[],
  app: GithubApp,
): Promise<RepositoryToken | undefined> {
  const place = isWithoutCredentials(url) && token_secret === undefined ? parseGithubUrl(url) : undefined;
  if (place === undefined) return undefined;
  try {
    const issued = await app.newToken(place, teams);
    return issued && { url, token: issued.token, expires_at: toTimestamp(issued.expiresAt) };
  } catch (error) {
    if (!(error instanceof DiscoveryFailure)) throw error;
    logLine("warn", "a run has no token for a repository", { ...place, reason: error.message });
    return undefined;
  }
}

/** True for an https URL without credentials. */
const isWithoutCredentials = (url: string): boolean => /^https:\/\/[^@/]+\//i.test(url);
