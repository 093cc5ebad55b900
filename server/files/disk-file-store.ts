import { attachmentDisposition, type FileRemoval, type FileStore } from "#shared/files/file-store.ts";
import type { DiskFiles } from "./disk-files.ts";
import { withServiceErrors } from "./file-errors.ts";
import { makeUploadForm } from "./upload-policy.ts";
import { signQuery } from "./url-signature.ts";

const UPLOAD_SECONDS = 600;

export interface FileStoreOptions {
  readonly files: DiskFiles;
  /** Signs URLs and forms; must equal the secret of the handler. */
  readonly secret: Uint8Array;
  /** The address at which the handler serves files, without a trailing slash. */
  readonly baseUrl: string;
  /** Validity of download URLs in seconds. */
  readonly downloadSeconds: number;
  readonly now: () => number;
}

/** The file store on a directory. Its URLs and forms work like those of S3 and are served by `serveFiles`. */
export function diskFileStore({
  files,
  secret,
  baseUrl,
  downloadSeconds,
  now,
}: FileStoreOptions): FileStore & FileRemoval {
  return {
    put: (key, content) => withServiceErrors(() => put(files, key, content)),
    get: (key) => withServiceErrors(() => files.read(key)),
    copy: (from, to) => withServiceErrors(() => files.copy(from, to)),
    size: (key) => withServiceErrors(() => files.size(key)),
    remove: (key) => withServiceErrors(() => files.remove(key)),
    removeAll: (prefix, kept) => withServiceErrors(() => files.removeAll(prefix, kept)),

    async downloadUrl(key, { filename, contentType }) {
      const signedAt = Math.floor(now() / 1000) * 1000;
      const query = signQuery(secret, {
        method: "GET",
        key,
        response: {
          "response-content-disposition": attachmentDisposition(filename),
          "response-content-type": contentType,
        },
        seconds: downloadSeconds,
        now: signedAt,
      });
      return { url: `${baseUrl}/${toUrlPath(key)}?${query}`, expiresAt: signedAt + downloadSeconds * 1000 };
    },

    async uploadTarget(key, { sizeBytes, sha256, contentType }) {
      const headers = {
        "content-length": String(sizeBytes),
        "content-type": contentType,
        "if-none-match": "*",
        "x-amz-checksum-sha256": Buffer.from(sha256, "hex").toString("base64"),
      };
      const query = signQuery(secret, { method: "PUT", key, headers, seconds: UPLOAD_SECONDS, now: now() });
      return { url: `${baseUrl}/${toUrlPath(key)}?${query}`, method: "PUT", headers };
    },

    async uploadUrl(key, { sizeBytes, contentType }) {
      const length = sizeBytes === undefined ? {} : { "content-length": String(sizeBytes) };
      const headers = { "content-type": contentType, ...length };
      const query = signQuery(secret, { method: "PUT", key, headers, seconds: UPLOAD_SECONDS, now: now() });
      return { url: `${baseUrl}/${toUrlPath(key)}?${query}`, expiresAt: now() + UPLOAD_SECONDS * 1000 };
    },

    async uploadForm(key, { mostBytes, contentType }) {
      return makeUploadForm(secret, { url: baseUrl, key, mostBytes, contentType, seconds: UPLOAD_SECONDS, now: now() });
    },
  };
}

async function put(files: DiskFiles, key: string, content: string | Uint8Array): Promise<void> {
  if ((await files.size(key)) !== undefined) return;
  const file = await files.begin();
  try {
    await file.write(Buffer.from(content));
  } catch (error) {
    await file.discard();
    throw error;
  }
  await file.keep(key, { replaces: false });
}

/** @throws RangeError for keys with `.` or `..` parts, which URLs normalize away */
function toUrlPath(key: string): string {
  const parts = key.split("/");
  if (parts.includes(".") || parts.includes("..")) throw new RangeError(`no URL can be made for the key ${key}`);
  return parts.map(encodeURIComponent).join("/");
}
