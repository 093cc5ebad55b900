/** `npm run aws -- vault`: the keys and values of secrets of a deployment. */
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { DescribeParametersCommand, SSMClient } from "@aws-sdk/client-ssm";
import { vaultParameters } from "#infra/vault-parameters.ts";
import { dynamoTable } from "#shared/aws/dynamo-table.ts";
import { ssmKeySetStore } from "#shared/aws/ssm-key-set-store.ts";
import { tableVault } from "#shared/vault/secret-value-store.ts";
import { createVaultKeys } from "#shared/vault/vault-keys.ts";
import { Problem, say } from "../server/host/terminal.ts";
import { runByHand } from "./by-hand.ts";
import { scanItems } from "./export-aws.ts";
import { operatorClient } from "./operator-client.ts";
import { moveValues } from "./vault/move-values.ts";
import { rotateKeys } from "./vault/rotate-keys.ts";

/** The key that AWS keeps for parameters. */
const AWS_KEY = "alias/aws/ssm";

const HELP = `Usage: npm run aws -- vault rotate|move [options]

rotate   adds a new key for secrets, and one for secrets of webhooks and triggers, waits six minutes until all functions use them, and
         encrypts all values with them; repeat it if it is interrupted
move     moves values that an earlier release stored as parameters of Systems Manager into the table; deploy first

  --table NAME     the table of the deployment (default: the prefix)
  --prefix NAME    the setting "prefix" of the deployment (default: runyard)
  --kms-key ARN    the KMS key that encrypts the parameters with the keys; ${AWS_KEY} is the one that AWS keeps for parameters.
                   Needed where they have a key of yours; otherwise ${AWS_KEY} is the default
  --help           show this text

The account and the region are those of your AWS credentials (AWS_PROFILE, AWS_REGION and the like).`;

async function run(args: string[]): Promise<void> {
  const text = { type: "string" } as const;
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      table: text,
      prefix: { ...text, default: "runyard" },
      "kms-key": text,
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) return say(HELP);
  const [verb, ...others] = positionals;
  if ((verb !== "rotate" && verb !== "move") || others.length > 0) throw new Problem("Say rotate or move.", [HELP]);
  const dynamo = await operatorClient();
  const ssm = new SSMClient({});
  const tableName = values.table ?? values.prefix;
  const table = dynamoTable(dynamo, tableName);
  const vaults = Object.values(vaultParameters(values.prefix));
  const openKeySet = (name: string) =>
    ssmKeySetStore(
      ssm,
      () => name,
      () => values["kms-key"],
    );
  if (verb === "move") {
    let moved = 0;
    for (const { keys, formerPath } of vaults) {
      moved += await moveValues(ssm, formerPath, tableVault(table, createVaultKeys(openKeySet(keys), Date.now)));
    }
    return say(`${moved} values were moved into ${tableName}.`);
  }
  if (values["kms-key"] === undefined)
    await throwIfOwnKey(
      ssm,
      vaults.map(({ keys }) => keys),
    );
  say("New keys are added. After six minutes, when all functions use them, the values are encrypted with them.");
  const rotated = await rotateKeys({
    keySets: vaults.map(({ keys }) => openKeySet(keys)),
    table,
    scan: () => scanItems(dynamo, tableName),
    now: Date.now,
    sleep: async (milliseconds) => void (await sleep(milliseconds)),
  });
  say(
    rotated.keys === 0
      ? "There are no keys yet: they are created with the first secret."
      : `${rotated.keys} keys were added, and ${rotated.values} values encrypted with them.`,
  );
}

/** Without a key, Systems Manager would encrypt the parameters with the one of AWS again. @throws Problem that names the present key */
export async function throwIfOwnKey(ssm: SSMClient, names: readonly string[]): Promise<void> {
  const filter = { Key: "Name", Option: "Equals", Values: [...names] };
  const { Parameters = [] } = await ssm.send(new DescribeParametersCommand({ ParameterFilters: [filter] }));
  const own = Parameters.find(({ KeyId = AWS_KEY }) => KeyId !== AWS_KEY);
  if (own === undefined) return;
  throw new Problem(`${own.Name} is encrypted with the KMS key ${own.KeyId}.`, [
    `To keep it, repeat the command with --kms-key ${own.KeyId}.`,
    `To return to the key of AWS, repeat it with --kms-key ${AWS_KEY}.`,
  ]);
}

if (import.meta.main) await runByHand(run);
