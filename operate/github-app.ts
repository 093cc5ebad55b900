/** `npm run aws -- github-app FILE`: stores the keys of the GitHub App that `runyard github setup` has created. */
import { readFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { PutParameterCommand, SSMClient } from "@aws-sdk/client-ssm";
import * as v from "valibot";
import { GithubAppFile } from "#shared/wire/github/app-file.ts";
import { Problem, say } from "../server/host/terminal.ts";
import { runByHand } from "./by-hand.ts";

const HELP = `Usage: npm run aws -- github-app FILE [--prefix NAME]

Stores the private key, the client secret and the webhook secret of the GitHub App in FILE, which \`runyard github setup\` has written, as
parameters of Systems Manager below /NAME (default: runyard). Earlier values are replaced.`;

async function run(args: string[]): Promise<void> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: { prefix: { type: "string", default: "runyard" }, help: { type: "boolean", default: false } },
  });
  if (values.help) return say(HELP);
  const [file, ...others] = positionals;
  if (file === undefined || others.length > 0) throw new Problem("Name one FILE.", [HELP]);
  await store(file, values.prefix);
}

async function store(path: string, prefix: string): Promise<void> {
  const app = v.parse(v.pipe(v.string(), v.parseJson(), GithubAppFile), await readFile(path, "utf8"));
  const client = new SSMClient({});
  const parameters = {
    "github-app-key": app.pem,
    "github-app-client-secret": app.client_secret,
    "github-app-webhook-secret": app.webhook_secret,
  };
  for (const [name, Value] of Object.entries(parameters)) {
    await client.send(
      new PutParameterCommand({ Name: `/${prefix}/${name}`, Value, Type: "SecureString", Overwrite: true }),
    );
    say(`stored /${prefix}/${name}`);
  }
  say(`Deploy with: npx cdk deploy --all -c prefix=${prefix} -c githubAppId=${app.id}`);
}

if (import.meta.main) await runByHand(run);
