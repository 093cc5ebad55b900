/** `npm run import:aws`: imports an export of a single machine into the table and the bucket of a deployment on AWS. */
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import path from "node:path";
import { parseArgs } from "node:util";
import { PutObjectCommand, type S3Client, S3ServiceException } from "@aws-sdk/client-s3";
import { type DynamoDBDocumentClient, ScanCommand } from "@aws-sdk/lib-dynamodb";
import { pathToKey } from "#server/files/key-path.ts";
import { listFiles } from "#server/transfer/copy-tree.ts";
import { readSource } from "#server/transfer/destination.ts";
import { FILES } from "#server/transfer/export-format.ts";
import { type ImportTarget, importData } from "#server/transfer/import.ts";
import { dynamoClient } from "#shared/aws/clients.ts";
import { dynamoTable } from "#shared/aws/dynamo-table.ts";
import { s3Client } from "#shared/aws/s3-client.ts";
import { Problem, say } from "../host/terminal.ts";
import { aboutCredentials, runByHand } from "../local/by-hand.ts";

const HELP = `Usage: npm run import:aws -- FROM --bucket NAME [options]

Imports an export of \`npm start -- export\` or \`runyard-server export\` into a deployment on AWS whose table is empty: import
before npm run bootstrap. An interrupted import can be repeated. API keys stay valid. Secrets have to be entered again.

  --table NAME    the table of the deployment (default: runyard)
  --bucket NAME   the bucket of the deployment, an output of the stack Runyard-Data
  --help          show this text

The account and the region are those of your AWS credentials (AWS_PROFILE, AWS_REGION and the like).`;

/** Uploads at the same time. */
const CONCURRENCY = 8;

/** A table and a bucket as the target of an import. */
export const awsTarget = (
  dynamo: DynamoDBDocumentClient,
  s3: S3Client,
  table: string,
  bucket: string,
): ImportTarget => ({
  name: `the table ${table}`,
  table: dynamoTable(dynamo, table),
  isEmpty: async () => (await dynamo.send(new ScanCommand({ TableName: table, Limit: 1 }))).Items?.length === 0,
  storeFiles: (directory) => uploadAll(s3, bucket, path.join(directory, FILES)),
});

async function uploadAll(s3: S3Client, bucket: string, directory: string): Promise<number> {
  const files = listFiles(directory);
  let count = 0;
  const work = async (): Promise<void> => {
    for await (const file of { [Symbol.asyncIterator]: () => ({ next: () => files.next() }) }) {
      await upload(s3, bucket, directory, file);
      count++;
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, work));
  return count;
}

/** Uploads a file, unless the bucket has one with its key. */
async function upload(s3: S3Client, bucket: string, directory: string, file: string): Promise<void> {
  const key = pathToKey(file);
  if (key === undefined) throw new Problem(`The key of ${file} cannot be found, because it is too long for a path.`);
  const source = path.join(directory, file);
  const { size } = await stat(source);
  try {
    await s3.send(
      new PutObjectCommand({
        Bucket: bucket,
        Key: key,
        Body: createReadStream(source),
        ContentLength: size,
        IfNoneMatch: "*",
      }),
    );
  } catch (error) {
    if (!(error instanceof S3ServiceException) || error.$metadata.httpStatusCode !== 412) throw error;
  }
}

async function main(args: string[]): Promise<void> {
  const text = { type: "string" } as const;
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: { table: { ...text, default: "runyard" }, bucket: text, help: { type: "boolean", default: false } },
  });
  if (values.help) return say(HELP);
  const [from] = positionals;
  const { table, bucket } = values;
  if (from === undefined || bucket === undefined) throw new Problem("Name the export and --bucket.", [HELP]);
  const target = awsTarget(dynamoClient(), s3Client(), table, bucket);
  const imported = await readSource(from, (directory) => importData(directory, target, Date.now)).catch(
    (error: unknown) => {
      throw aboutCredentials(error);
    },
  );
  if (imported.wasComplete) return say(`The table ${table} contains this export already; nothing was changed.`);
  say(`${imported.items} items and ${imported.files} files were imported into ${table} and ${bucket}.`);
  for (const { team_uid, name } of imported.secrets) say(`Enter the secret ${name} of team ${team_uid} again.`);
}

if (import.meta.main) await runByHand(main);
