import { ssmClient } from "#shared/aws/clients.ts";
import { ssmParameter } from "#shared/aws/ssm-parameter.ts";
import type { AppClient } from "#shared/github/app-client.ts";
import { type FindOwner, findOwner } from "#shared/github/installation-store.ts";
import { createInstallationTokens, type InstallationTokens } from "#shared/github/installation-tokens.ts";
import type { ClaimPorts } from "#shared/github/installations.ts";
import type { HttpPorts } from "#shared/http/endpoint.ts";
import { setting, settingIfAny } from "#shared/settings.ts";
import type { GithubApi } from "#shared/skills/github-api.ts";
import { type AppSettings, type GithubApp, githubApp } from "#shared/skills/github-app.ts";
import type { Table } from "#shared/table/table.ts";
import { createTablePorts } from "./common.ts";

export const createGithubApi = (): GithubApi => ({ apiUrl: setting("GITHUB_API_URL"), fetch, now: Date.now });

/** The deployment's GitHub App, if it has one. */
export function createGithubApp(table: Pick<Table, "batchGet">): GithubApp | undefined {
  const settings = appSettings();
  return settings && githubApp({ ...settings, ownerOf: createOwnerOf(table) }, createGithubApi());
}

/** Finds the team that may use an installation of the App. */
export const createOwnerOf = (table: Pick<Table, "batchGet">): FindOwner =>
  findOwner(table, settingIfAny("GITHUB_APP_TEAM"));

/** Issues tokens of the App's installations, if the deployment has an App. */
export function createAppTokens(): InstallationTokens | undefined {
  const settings = appSettings();
  return settings && createInstallationTokens(settings, createGithubApi());
}

/** The ports of the endpoints that claim installations. */
export const createClaimPorts = (): ClaimPorts & HttpPorts => ({ ...createTablePorts(), appClient: createAppClient() });

function createAppClient(): AppClient | undefined {
  const settings = appSettings();
  if (settings === undefined) return undefined;
  const clientSecret = ssmParameter(ssmClient(), setting("GITHUB_APP_CLIENT_SECRET_PARAMETER"), Date.now);
  return { ...settings, clientSecret, api: createGithubApi() };
}

/** Reads the secret of the App's webhook; undefined where there is none. */
export function createAppWebhookSecret(): () => Promise<string | undefined> {
  const parameter = settingIfAny("GITHUB_APP_WEBHOOK_SECRET_PARAMETER");
  return parameter === undefined ? async () => undefined : ssmParameter(ssmClient(), parameter, Date.now);
}

function appSettings(): Pick<AppSettings, "id" | "privateKey"> | undefined {
  const id = settingIfAny("GITHUB_APP_ID");
  if (id === undefined) return undefined;
  return { id, privateKey: ssmParameter(ssmClient(), setting("GITHUB_APP_KEY_PARAMETER"), Date.now) };
}
