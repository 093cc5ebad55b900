import {
  CopyObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
  type PutObjectCommandInput,
  type S3Client,
  S3ServiceException,
} from "@aws-sdk/client-s3";
import { getSignedUrl } from "@aws-sdk/s3-request-presigner";
import { attachmentDisposition, type FileStore } from "#shared/files/file-store.ts";
import type { UploadTarget } from "#shared/wire/harness.ts";
import { s3UploadForm } from "./s3-upload-form.ts";

const UPLOAD_SECONDS = 600;

/** Creates the files in S3. The signature binds an upload to its length and checksum, and an upload never replaces an object. */
export function s3FileStore(
  client: S3Client,
  bucket: () => string,
  downloadSeconds: number,
  now: () => number,
): FileStore {
  return {
    put: (key, content, contentType) =>
      putObject(client, { Bucket: bucket(), Key: key, Body: content, ContentType: contentType }),
    async copy(from, to) {
      const source = `${bucket()}/${from.split("/").map(encodeURIComponent).join("/")}`;
      await client.send(new CopyObjectCommand({ Bucket: bucket(), Key: to, CopySource: source }));
    },
    get: (key) =>
      ignoreMissing(async () => {
        const found = await client.send(new GetObjectCommand({ Bucket: bucket(), Key: key }));
        return found.Body?.transformToByteArray();
      }),
    size: (key) =>
      ignoreMissing(async () => {
        const found = await client.send(new HeadObjectCommand({ Bucket: bucket(), Key: key }));
        return found.ContentLength;
      }),
    async downloadUrl(key, { filename, contentType }) {
      const command = new GetObjectCommand({
        Bucket: bucket(),
        Key: key,
        ResponseContentDisposition: attachmentDisposition(filename),
        ResponseContentType: contentType,
      });
      const expiresAt = now() + downloadSeconds * 1000;
      return { url: await getSignedUrl(client, command, { expiresIn: downloadSeconds }), expiresAt };
    },
    uploadTarget: (key, file) => signUpload(client, { bucket: bucket(), key, ...file }),
    async uploadUrl(key, { sizeBytes, contentType }) {
      const length = sizeBytes === undefined ? {} : { ContentLength: sizeBytes };
      const command = new PutObjectCommand({ Bucket: bucket(), Key: key, ContentType: contentType, ...length });
      const names = new Set(["content-type", ...(sizeBytes === undefined ? [] : ["content-length"])]);
      const options = { expiresIn: UPLOAD_SECONDS, signableHeaders: names, unhoistableHeaders: names };
      return { url: await getSignedUrl(client, command, options), expiresAt: now() + UPLOAD_SECONDS * 1000 };
    },
    uploadForm: (key, file) =>
      s3UploadForm(client, { bucket: bucket(), key, ...file, seconds: UPLOAD_SECONDS, now: now() }),
  };
}

/** Writes an object unless there is one. */
async function putObject(client: S3Client, input: PutObjectCommandInput): Promise<void> {
  try {
    await client.send(new PutObjectCommand({ ...input, IfNoneMatch: "*" }));
  } catch (error) {
    if (!isNamed(error, "PreconditionFailed")) throw error;
  }
}

interface Upload {
  readonly bucket: string;
  readonly key: string;
  readonly sizeBytes: number;
  readonly sha256: string;
  readonly contentType: string;
}

/** Signs the upload of one object with the given length and checksum. */
async function signUpload(
  client: S3Client,
  { bucket, key, sizeBytes, sha256, contentType }: Upload,
): Promise<UploadTarget> {
  const headers = {
    "content-length": String(sizeBytes),
    "content-type": contentType,
    "if-none-match": "*",
    "x-amz-checksum-sha256": Buffer.from(sha256, "hex").toString("base64"),
  };
  const command = new PutObjectCommand({
    Bucket: bucket,
    Key: key,
    ContentLength: sizeBytes,
    ContentType: contentType,
    IfNoneMatch: "*",
    ChecksumSHA256: headers["x-amz-checksum-sha256"],
  });
  const names = new Set(Object.keys(headers));
  const url = await getSignedUrl(client, command, {
    expiresIn: UPLOAD_SECONDS,
    signableHeaders: names,
    unhoistableHeaders: names,
  });
  return { url, method: "PUT", headers };
}

/** Resolves with undefined if the object does not exist. */
async function ignoreMissing<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** Without permission to list the bucket, which no function that reads files has, S3 responds 403 for a missing object. */
function isMissing(error: unknown): boolean {
  return error instanceof S3ServiceException && [403, 404].includes(error.$metadata.httpStatusCode ?? 0);
}

const isNamed = (error: unknown, name: string): boolean => error instanceof Error && error.name === name;
