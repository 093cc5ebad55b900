import { readFile } from "node:fs/promises";
import * as v from "valibot";
import { Problem } from "../server/host/terminal.ts";
import { GithubAppFile } from "../shared/wire/github/app-file.ts";
import type { EmulatorAccess } from "./emulator-access.ts";
import { writeNote } from "./emulator-calls.ts";

/** The systems that triggers and skills call, as the environment of `npm run emulator` names them. */
export interface OutsideSystems {
  /** Settings for the deployment, without secrets. */
  readonly context: Readonly<Record<string, string>>;
  readonly githubApp?: GithubAppFile;
}

const ADDRESSES = {
  githubApiUrl: "RUNYARD_GITHUB_API_URL",
  gitlabApiUrl: "RUNYARD_GITLAB_API_URL",
  slackApiUrl: "RUNYARD_SLACK_API_URL",
} as const;

/** Reads the addresses from the environment, and the GitHub App from the file that it names. */
export async function readOutsideSystems(environment: NodeJS.ProcessEnv): Promise<OutsideSystems> {
  const addresses = Object.entries(ADDRESSES).flatMap(([name, variable]) => {
    const value = environment[variable];
    return value ? [[name, value] as const] : [];
  });
  const context = Object.fromEntries(addresses);
  const file = environment["RUNYARD_GITHUB_APP"];
  if (!file) return { context };
  const content = await readFile(file, "utf8").catch(() => undefined);
  const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), GithubAppFile), content);
  if (!parsed.success) {
    throw new Problem(`RUNYARD_GITHUB_APP names ${file}, which is not a file of \`runyard github setup\`.`);
  }
  return { context: { ...context, githubAppId: String(parsed.output.id) }, githubApp: parsed.output };
}

/** Stores the keys of the GitHub App where the deployment reads them, as `npm run aws -- github-app` does on AWS. */
export async function storeGithubApp(access: EmulatorAccess, app: GithubAppFile): Promise<void> {
  await writeNote(access, "/runyard/github-app-key", app.pem);
  await writeNote(access, "/runyard/github-app-client-secret", app.client_secret);
  await writeNote(access, "/runyard/github-app-webhook-secret", app.webhook_secret);
}
