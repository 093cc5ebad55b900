import { parseArgs } from "node:util";
import { DynamoClient } from "#shared/aws/dynamo-client.ts";
import { dynamoTable } from "#shared/aws/dynamo-table.ts";
import { type Bootstrap, type BootstrapResult, bootstrap } from "#shared/teams/bootstrap.ts";
import { isEmailAddress } from "#shared/wire/email.ts";
import { clientSettings, type EmulatorAccess } from "../emulator/emulator-access.ts";
import { Problem } from "../server/host/terminal.ts";
import { localEmulator, runByHand } from "./by-hand.ts";
import { operatorClient } from "./operator-client.ts";

const HELP = `Usage: npm run aws -- bootstrap --email ADDRESS [options]

Makes a team, its first admin and their personal key in a deployed table, and prints them as JSON. The key is shown this once.

  --email ADDRESS   the admin's address
  --name NAME       the admin's name (default: the address)
  --team NAME       the team's name (default: "First team")
  --table NAME      the table that the deployment made (default: runyard)
  --local           in the local cloud of this checkout, which must be running, instead of the AWS account
  --help            show this text

The account and the region are those of your AWS credentials (AWS_PROFILE, AWS_REGION and the like).`;

const LOCAL_PERSON: Bootstrap = { teamName: "Local team", displayName: "Local user", email: "local@example.com" };

/** Creates a first team, its admin and a personal key in the table of the emulator. */
export function bootstrapLocal(
  access: EmulatorAccess,
  tableName: string,
  person = LOCAL_PERSON,
): Promise<BootstrapResult> {
  return bootstrapTable(new DynamoClient(clientSettings(access)), tableName, person);
}

async function bootstrapTable(client: DynamoClient, tableName: string, person: Bootstrap): Promise<BootstrapResult> {
  try {
    return await bootstrap(dynamoTable(client, tableName), Date.now(), person);
  } finally {
    client.destroy();
  }
}

/** By hand: a first team after a deployment, or another one in the local cloud. */
async function main(args: string[]): Promise<void> {
  const options = readOptions(args);
  if (options.help) return console.log(HELP);
  const email = options.email ?? (options.local ? LOCAL_PERSON.email : undefined);
  if (!isEmailAddress(email)) {
    throw new Problem("--email takes the address of the team's first admin", [HELP]);
  }
  const person = { email, displayName: options.name ?? email, teamName: options.team ?? "First team" };
  const created = options.local
    ? await bootstrapLocal(await localEmulator(), options.table, person)
    : await operatorClient()
        .then((client) => bootstrapTable(client, options.table, person))
        .catch(explain(options.table));
  console.log(JSON.stringify(created, null, 2));
}

function readOptions(args: string[]) {
  try {
    const flag = { type: "boolean", default: false } as const;
    const text = { type: "string" } as const;
    const table = { type: "string", default: "runyard" } as const;
    return parseArgs({ args, options: { email: text, name: text, team: text, table, local: flag, help: flag } }).values;
  } catch (error) {
    throw new Problem(error instanceof Error ? error.message : String(error), [HELP]);
  }
}

/** Converts errors of AWS to ones that say what to do. */
const explain = (table: string) => (error: unknown) => {
  const name = error instanceof Error ? error.name : "";
  if (name === "ResourceNotFoundException") {
    throw new Problem(`There is no table ${table} in this account and region: npx cdk deploy --all creates it.`);
  }
  throw error;
};

if (import.meta.main) await runByHand(main);
