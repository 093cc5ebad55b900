import { ssmClient } from "#shared/aws/clients.ts";
import { ssmParameter } from "#shared/aws/ssm-parameter.ts";
import { setting, settingIfAny } from "#shared/settings.ts";
import type { GithubApi } from "#shared/skills/github-api.ts";
import { type GithubApp, githubApp } from "#shared/skills/github-app.ts";

/** GitHub's API as the deployment's settings have it. */
export const liveGithubApi = (): GithubApi => ({ apiUrl: setting("GITHUB_API_URL"), fetch, now: Date.now });

/** The deployment's GitHub App on AWS, if it has one. */
export function liveGithubApp(): GithubApp | undefined {
  const id = settingIfAny("GITHUB_APP_ID");
  if (id === undefined) return undefined;
  const privateKey = ssmParameter(ssmClient(), setting("GITHUB_APP_KEY_PARAMETER"), Date.now);
  return githubApp({ id, privateKey }, liveGithubApi());
}
