import {
  CopyObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
  type S3Client,
  S3ServiceException,
} from "@aws-sdk/client-s3";
import { getSignedUrl } from "@aws-sdk/s3-request-presigner";
import { attachmentDisposition, type FileStore } from "#shared/files/file-store.ts";
import { s3UploadForm } from "./s3-upload-form.ts";

const UPLOAD_SECONDS = 600;

/** Files in S3. Uploads are bound to length and checksum by the signature, and never replace an object. */
export function s3FileStore(
  client: S3Client,
  bucket: () => string,
  downloadSeconds: number,
  now: () => number,
): FileStore {
  return {
    async put(key, content, contentType) {
      try {
        await client.send(
          new PutObjectCommand({
            Bucket: bucket(),
            Key: key,
            Body: content,
            ContentType: contentType,
            IfNoneMatch: "*",
          }),
        );
      } catch (error) {
        if (!isNamed(error, "PreconditionFailed")) throw error;
      }
    },
    async copy(from, to) {
      const source = `${bucket()}/${from.split("/").map(encodeURIComponent).join("/")}`;
      await client.send(new CopyObjectCommand({ Bucket: bucket(), Key: to, CopySource: source }));
    },
    async get(key) {
      try {
        const found = await client.send(new GetObjectCommand({ Bucket: bucket(), Key: key }));
        return await found.Body?.transformToByteArray();
      } catch (error) {
        if (isMissing(error)) return undefined;
        throw error;
      }
    },
    async size(key) {
      try {
        const found = await client.send(new HeadObjectCommand({ Bucket: bucket(), Key: key }));
        return found.ContentLength;
      } catch (error) {
        if (isMissing(error)) return undefined;
        throw error;
      }
    },
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
    async uploadTarget(key, { sizeBytes, sha256, contentType }) {
      const headers = {
        "content-length": String(sizeBytes),
        "content-type": contentType,
        "if-none-match": "*",
        "x-amz-checksum-sha256": Buffer.from(sha256, "hex").toString("base64"),
      };
      const command = new PutObjectCommand({
        Bucket: bucket(),
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
    },
    uploadForm: (key, file) =>
      s3UploadForm(client, { bucket: bucket(), key, ...file, seconds: UPLOAD_SECONDS, now: now() }),
  };
}

/** Without the right to list, which no function has, S3 answers 403 for an object that is not there. */
function isMissing(error: unknown): boolean {
  return error instanceof S3ServiceException && [403, 404].includes(error.$metadata.httpStatusCode ?? 0);
}

const isNamed = (error: unknown, name: string): boolean => error instanceof Error && error.name === name;
