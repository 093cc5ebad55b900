import { s3Client } from "#shared/aws/s3/s3-client.ts";
import { s3FileRemoval } from "#shared/aws/s3/s3-file-removal.ts";
import type { RetentionPorts } from "#shared/retention/delete-run.ts";
import { bucketName } from "./adapter-settings.ts";
import { createTable } from "./common.ts";

/** The ports of the function that deletes old runs. */
export const createRetentionPorts = (): RetentionPorts => ({
  table: createTable(),
  fileRemoval: s3FileRemoval(s3Client(), bucketName),
  now: Date.now,
});
