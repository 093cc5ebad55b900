/** `npm run aws -- export`: exports the table and the bucket of a deployment on AWS, for a single machine. */
import { createWriteStream } from "node:fs";
import { mkdir } from "node:fs/promises";
import path from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { GetObjectCommand, ListObjectsV2Command, type S3Client, S3ServiceException } from "@aws-sdk/client-s3";
import * as v from "valibot";
import { keyToPath } from "#server/files/key-path.ts";
import { writeDestination } from "#server/transfer/destination.ts";
import { type ExportSource, writeExport } from "#server/transfer/export.ts";
import type { DynamoClient } from "#shared/aws/dynamo-client.ts";
import { fromAttributes } from "#shared/table/attribute-codec.ts";
import type { Item } from "#shared/table/table.ts";
import { type Deployment, runTransfer, transferFiles } from "./transfer-aws.ts";

/** A table and a bucket as the source of an export. */
export const awsSource = ({ dynamo, s3, table, bucket }: Deployment): ExportSource => ({
  items: scanItems(dynamo, table),
  copyFiles: (directory) => downloadAll(s3, bucket, directory),
});

const Attributes = v.record(v.string(), v.unknown());
const ScanOutput = v.object({ Items: v.array(Attributes), LastEvaluatedKey: v.exactOptional(Attributes) });

/** Reads all items that have not expired; DynamoDB deletes them some time after that. */
export async function* scanItems(dynamo: DynamoClient, table: string): AsyncGenerator<Item> {
  const now = Math.floor(Date.now() / 1000);
  let start: object | undefined;
  do {
    const input = {
      TableName: table,
      ConsistentRead: true,
      ...(start === undefined ? {} : { ExclusiveStartKey: start }),
    };
    const page = v.parse(ScanOutput, await dynamo.send("Scan", input));
    for (const raw of page.Items) {
      const item = fromAttributes(raw);
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
  return await transferFiles(listKeys(s3, bucket), (key) =>
    download(s3, bucket, key, path.join(directory, keyToPath(key))),
  );
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

const TRANSFER = {
  command: "export:aws",
  argument: "TO",
  missing: "the new export",
  description: `Exports a deployment on AWS to the new directory or archive (.tar, .tar.gz, .tgz) TO, which \`npm start -- import\` and
\`runyard-server import\` accept. Stop creating runs first: what changes meanwhile may be exported as it was or as it is.
API keys stay valid. Secrets are not exported.`,
  run: async (deployment: Deployment, to: string) => {
    const source = awsSource(deployment);
    const exported = await writeDestination(to, (directory) => writeExport(directory, source));
    return [
      `${exported.items} items of ${deployment.table} and ${exported.files} files of ${deployment.bucket} were exported to ${to}.`,
      ...exported.secrets.map(
        ({ team_uid, name }) => `The secret ${name} of team ${team_uid} has to be created again.`,
      ),
    ];
  },
} as const;

if (import.meta.main) await runTransfer(TRANSFER);
