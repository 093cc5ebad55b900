import type { FileStore } from "#shared/files/file-store.ts";
import { s3Client } from "./s3/s3-client.ts";
import { s3FileStore } from "./s3/s3-files.ts";

/** The files in S3, with the client. The bundler makes it a part that is loaded by its first use; see infra/bundle-parts.ts. */
export const openFiles = (bucket: () => string, downloadSeconds: number): FileStore =>
  s3FileStore(s3Client(), bucket, downloadSeconds, Date.now);
