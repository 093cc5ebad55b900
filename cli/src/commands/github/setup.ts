import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import path from "node:path";
import { Command } from "@commander-js/extra-typings";
import * as v from "valibot";
import { listenForCallback } from "../../browser-callback.ts";
import type { Context } from "../../context.ts";
import { writePrivately } from "../../files.ts";
import { requestGithub } from "../../github-api.ts";
import { wholeNumber } from "../../options.ts";
import { Problem, usage } from "../../problem.ts";
import { withExamples } from "../examples.ts";
import { renderForm, toManifest } from "./manifest.ts";

const SETUP_MS = 60 * 60_000;

/** What GitHub returns once, when it has created an App. */
const CreatedApp = v.object({
  id: v.pipe(v.number(), v.integer()),
  slug: v.string(),
  client_id: v.string(),
  client_secret: v.string(),
  webhook_secret: v.string(),
  pem: v.string(),
});
type CreatedApp = v.InferOutput<typeof CreatedApp>;

/** `runyard github setup`: creates the GitHub App of a deployment. */
export function setupCommand(context: Context) {
  const command = new Command("setup")
    .description("create the GitHub App of a deployment, and store its keys in a file")
    .option("--url <url>", "public address of the deployment (default: that of the API)")
    .option("--org <name>", "organization that owns the App (default: your own account)")
    .option("--name <name>", "name of the App, which is unique on GitHub", "Runyard")
    .option("--public", "let other accounts than the owner's install the App")
    .option("--file <path>", "file for the keys", "github-app.json")
    .option("--github-url <url>", "address of GitHub", "https://github.com")
    .option("--port <number>", "port of this machine to which the browser returns", wholeNumber(0, 65_535))
    .option("--code <code>", "the code in the URL of a browser that could not return to this machine")
    .action(async ({ url, org, name, file, githubUrl, port = 0, code, ...options }) => {
      const place = path.resolve(context.shell.cwd, file);
      if (existsSync(place)) throw usage(`${file} exists.`, "Delete it, or name another file as --file.");
      const github = githubUrl.replace(/\/+$/, "");
      const isPublic = options.public === true;
      const setupCode = code ?? (await receiveCode(context, { url, org, name, github, port, isPublic }));
      const app = await convert(setupCode, github);
      await writePrivately(place, app);
      show(context, app, file, github);
    });
  return withExamples(command, "runyard github setup --org acme --url https://runyard.example.com");
}

function show(context: Context, { id, slug }: CreatedApp, file: string, github: string): void {
  context.show({ id, slug, file }, () => {
    context.say(`The App ${slug} is created, with the id ${id}. Its keys are in ${file}, which only you can read.`);
    context.say("On one machine: move the file into the data directory of the server, and restart the server.");
    context.say(`On AWS: npm run aws -- github-app ${file}`);
    context.say(`Then install the App, and claim the installation for your team: ${github}/apps/${slug}`);
  });
}

interface SetupOptions {
  readonly url: string | undefined;
  readonly org: string | undefined;
  readonly name: string;
  readonly github: string;
  readonly port: number;
  readonly isPublic: boolean;
}

/** Serves the form on this machine, and returns the code with which GitHub redirects the browser back. */
async function receiveCode(context: Context, options: SetupOptions): Promise<string> {
  const { url, org, name, github, port, isPublic } = options;
  const webUrl = (url ?? new URL((await context.connection()).baseURL).origin).replace(/\/+$/, "");
  const state = randomBytes(24).toString("base64url");
  const owner = org === undefined ? "" : `/organizations/${encodeURIComponent(org)}`;
  const action = `${github}${owner}/settings/apps/new?state=${state}`;
  await using callback = await listenForCallback(port, {
    page: (redirectUrl) => renderForm(action, toManifest({ webUrl, name, isPublic, redirectUrl })),
    read: (query) => (query.get("state") === state ? (query.get("code") ?? undefined) : undefined),
  });
  context.note(`Open this address in a browser on this machine: ${callback.url}/`);
  return await callback.receive(SETUP_MS, "Nobody created the App within an hour.");
}

/** Exchanges the code, which GitHub accepts once, within an hour. */
async function convert(code: string, github: string): Promise<CreatedApp> {
  const api = github === "https://github.com" ? "https://api.github.com" : `${github}/api/v3`;
  const app = await requestGithub({
    method: "POST",
    url: `${api}/app-manifests/${encodeURIComponent(code)}/conversions`,
    remedy: "A code is valid once, for an hour: create the App again.",
  });
  const parsed = v.safeParse(CreatedApp, app);
  if (!parsed.success) throw new Problem("GitHub's response is not as documented.");
  return parsed.output;
}
