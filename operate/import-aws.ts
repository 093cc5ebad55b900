/** `npm run aws -- import`: imports an export of a single machine into the table and the bucket of a deployment on AWS. */
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import path from "node:path";
import { PutObjectCommand, type S3Client, S3ServiceException } from "@aws-sdk/client-s3";
import * as v from "valibot";
import { pathToKey } from "#server/files/key-path.ts";
import { listFiles } from "#server/transfer/copy-tree.ts";
import { readSource } from "#server/transfer/destination.ts";
import { FILES } from "#server/transfer/export-format.ts";
import { type ImportTarget, importData } from "#server/transfer/import.ts";
import { dynamoTable } from "#shared/aws/dynamo-table.ts";
import { Problem } from "../server/host/terminal.ts";
import { type Deployment, runTransfer, transferFiles } from "./transfer-aws.ts";

const ScanOutput = v.object({ Items: v.array(v.unknown()) });

/** A table and a bucket as the target of an import. */
export const awsTarget = ({ dynamo, s3, table, bucket }: Deployment): ImportTarget => ({
  name: `the table ${table}`,
  table: dynamoTable(dynamo, table),
  isEmpty: async () =>
    v.parse(ScanOutput, await dynamo.send("Scan", { TableName: table, Limit: 1 })).Items.length === 0,
  storeFiles: (directory) => {
    const files = path.join(directory, FILES);
    return transferFiles(listFiles(files), (file) => upload(s3, bucket, files, file));
  },
});

/** Uploads a file, unless the bucket has one with its key. */
async function upload(s3: S3Client, bucket: string, directory: string, file: string): Promise<true> {
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
  return true;
}

const TRANSFER = {
  command: "import:aws",
  argument: "FROM",
  missing: "the export",
  description: `Imports an export of \`npm start -- export\` or \`runyard-server export\` into a deployment on AWS whose table is empty: import
before npm run aws -- bootstrap. An interrupted import can be repeated. API keys stay valid. Secrets have to be entered again.`,
  run: async (deployment: Deployment, from: string) => {
    const { table, bucket } = deployment;
    const target = awsTarget(deployment);
    const imported = await readSource(from, (directory) => importData(directory, target, Date.now));
    if (imported.wasComplete) return [`The table ${table} contains this export already; nothing was changed.`];
    return [
      `${imported.items} items and ${imported.files} files were imported into ${table} and ${bucket}.`,
      ...imported.secrets.map(({ team_uid, name }) => `Enter the secret ${name} of team ${team_uid} again.`),
    ];
  },
} as const;

if (import.meta.main) await runTransfer(TRANSFER);
