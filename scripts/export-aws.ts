/** `npm run export:aws`: exports the table and the bucket of a deployment on AWS, for a single machine. */
import { createWriteStream } from "node:fs";
import { mkdir } from "node:fs/promises";
import path from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { parseArgs } from "node:util";
import { GetObjectCommand, ListObjectsV2Command, type S3Client, S3ServiceException } from "@aws-sdk/client-s3";
import { type DynamoDBDocumentClient, ScanCommand } from "@aws-sdk/lib-dynamodb";
import { keyToPath } from "#server/files/key-path.ts";
import { writeDestination } from "#server/transfer/destination.ts";
import { type ExportSource, writeExport } from "#server/transfer/export.ts";
import { dynamoClient } from "#shared/aws/clients.ts";
import { toItem } from "#shared/aws/dynamo-table.ts";
import { s3Client } from "#shared/aws/s3-client.ts";
import type { Item } from "#shared/table/table.ts";
import { Problem, say } from "../host/terminal.ts";
import { aboutCredentials, runByHand } from "../local/by-hand.ts";

const HELP = `Usage: npm run export:aws -- TO --bucket NAME [options]

Exports a deployment on AWS to the new directory or archive (.tar, .tar.gz, .tgz) TO, which \`npm start -- import\` and
\`runyard-server import\` accept. Stop creating runs first: what changes meanwhile may be exported as it was or as it is.
API keys stay valid. Secrets are not exported.

  --table NAME    the table of the deployment (default: runyard)
  --bucket NAME   the bucket of the deployment, an output of the stack Runyard-Data
  --help          show this text

The account and the region are those of your AWS credentials (AWS_PROFILE, AWS_REGION and the like).`;

/** Downloads at the same time. */
const CONCURRENCY = 8;

/** A table and a bucket as the source of an export. */
export const awsSource = (
  dynamo: DynamoDBDocumentClient,
  s3: S3Client,
  table: string,
  bucket: string,
): ExportSource => ({
  items: scanItems(dynamo, table),
  copyFiles: (directory) => downloadAll(s3, bucket, directory),
});

/** Reads all items that have not expired; DynamoDB deletes them some time after that. */
async function* scanItems(dynamo: DynamoDBDocumentClient, table: string): AsyncGenerator<Item> {
  const now = Math.floor(Date.now() / 1000);
  let start: Record<string, unknown> | undefined;
  do {
    const page = await dynamo.send(
      new ScanCommand({
        TableName: table,
        ConsistentRead: true,
        ...(start === undefined ? {} : { ExclusiveStartKey: start }),
      }),
    );
    for (const raw of page.Items ?? []) {
      const item = toItem(raw);
      const expires = item["expires_at"];
      if (typeof expires !== "number" || expires > now) yield item;
    }
    start = page.LastEvaluatedKey;
  } while (start !== undefined);
}

async function* listKeys(s3: S3Client, bucket: string): AsyncGenerator<string> {
  let token: string | undefined;
  do {
    const page = await s3.send(
      new ListObjectsV2Command({ Bucket: bucket, ...(token === undefined ? {} : { ContinuationToken: token }) }),
    );
    for (const { Key } of page.Contents ?? []) if (Key !== undefined) yield Key;
    token = page.NextContinuationToken;
  } while (token !== undefined);
}

async function downloadAll(s3: S3Client, bucket: string, directory: string): Promise<number> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const keys = listKeys(s3, bucket);
  let count = 0;
  const work = async (): Promise<void> => {
    for (let next = await keys.next(); next.done !== true; next = await keys.next()) {
      if (await download(s3, bucket, next.value, path.join(directory, keyToPath(next.value)))) count++;
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, work));
  return count;
}

/** Downloads an object. Returns false if it has expired since it was listed. */
async function download(s3: S3Client, bucket: string, key: string, file: string): Promise<boolean> {
  await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
  try {
    const { Body } = await s3.send(new GetObjectCommand({ Bucket: bucket, Key: key }));
    if (!(Body instanceof Readable)) throw new Error(`${key} has no content`);
    await pipeline(Body, createWriteStream(file, { mode: 0o600, flush: true }));
    return true;
  } catch (error) {
    if (error instanceof S3ServiceException && error.name === "NoSuchKey") return false;
    throw error;
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
  const [to] = positionals;
  const { table, bucket } = values;
  if (to === undefined || bucket === undefined) throw new Problem("Name the new export and --bucket.", [HELP]);
  const source = awsSource(dynamoClient(), s3Client(), table, bucket);
  const { items, files, secrets } = await writeDestination(to, (directory) => writeExport(directory, source)).catch(
    (error: unknown) => {
      throw aboutCredentials(error);
    },
  );
  say(`${items} items of ${table} and ${files} files of ${bucket} were exported to ${to}.`);
  for (const { team_uid, name } of secrets) say(`The secret ${name} of team ${team_uid} has to be created again.`);
}

if (import.meta.main) await runByHand(main);
