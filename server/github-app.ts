import { findOwner } from "#shared/github/installation-store.ts";
import { createInstallationTokens } from "#shared/github/installation-tokens.ts";
import type { GithubApi } from "#shared/skills/github-api.ts";
import { githubApp } from "#shared/skills/github-app.ts";
import type { Table } from "#shared/table/table.ts";
import { readGithubApp } from "./secrets/github-app-file.ts";

/** The GitHub App of the installation, for each of its uses; without a file in the data directory there is none. */
export function createAppPorts(
  directory: string | undefined,
  environment: NodeJS.ProcessEnv,
  table: Pick<Table, "batchGet">,
  api: GithubApi,
) {
  const file = directory === undefined ? undefined : readGithubApp(directory);
  const ownerOf = findOwner(table, environment["RUNYARD_GITHUB_APP_TEAM"] || undefined);
  const appWebhookSecret = async () => file?.webhook_secret;
  if (file === undefined)
    return { app: undefined, appClient: undefined, appTokens: undefined, appWebhookSecret, ownerOf };
  const settings = { id: String(file.id), privateKey: async () => file.pem };
  return {
    app: githubApp({ ...settings, ownerOf }, api),
    appClient: { ...settings, clientSecret: async () => file.client_secret, api },
    appTokens: createInstallationTokens(settings, api),
    appWebhookSecret,
    ownerOf,
  };
}
