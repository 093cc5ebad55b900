import { APIError, RunyardError } from "../errors.ts";
import { Attachments as Operations } from "../generated/resources.ts";
import type { UploadTarget } from "../generated/types.ts";
import type { RequestOptions } from "../options.ts";
import type { Transport } from "../transport.ts";

/** A file to attach to a run. */
export interface Upload {
  readonly file_name: string;
  /** @default "application/octet-stream" */
  readonly mime_type?: string | undefined;
  readonly data: Blob | Uint8Array<ArrayBuffer> | string;
}

export class Attachments extends Operations {
  /**
   * Uploads a file of up to 100 MB and returns its attachment_id, for `attachments: [{ attachment_id }]` of a run. Small
   * files can be part of the request that creates the run. Browsers require a secure context to compute the digest.
   */
  async upload(
    { file_name, mime_type = "application/octet-stream", data }: Upload,
    options?: RequestOptions,
  ): Promise<string> {
    const blob = new Blob([data], { type: mime_type });
    const { attachment_id, upload } = await this.create(
      { file_name, mime_type, ...(await describeFile(blob)) },
      options,
    );
    // An earlier attempt with the same Idempotency-Key may have uploaded the file already.
    if (upload !== undefined) await storeFile(upload, blob, this.transport, options);
    return attachment_id;
  }
}

/** Size and digest of a file. Browsers require a secure context to compute the digest. */
export async function describeFile(file: Blob): Promise<{ size_bytes: number; sha256: string }> {
  const digest = await crypto.subtle.digest("SHA-256", await file.arrayBuffer());
  const sha256 = Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
  return { size_bytes: file.size, sha256 };
}

/** Uploads a file to the storage. */
export async function storeFile(
  target: UploadTarget,
  file: Blob,
  transport: Transport,
  options: RequestOptions | undefined,
): Promise<void> {
  // Enough time for a connection of 50 kB per second.
  const timeout = options?.timeout ?? transport.timeout + file.size / 50;
  try {
    await transport.storage(target.url, toRequestInit(target, file), { ...options, timeout });
  } catch (error) {
    // 412: an earlier attempt has already stored the file, whose size and digest the URL fixes.
    if (!(error instanceof APIError) || error.status !== 412) throw error;
  }
}

function toRequestInit({ method, headers, fields }: UploadTarget, data: Blob): RequestInit {
  const init = { method, headers: headers ?? {} };
  if (fields === undefined) return { ...init, body: data };
  const form = new FormData();
  for (const { name, value } of fields) {
    if (value.kind === "content_crc32c")
      throw new RunyardError("This storage asks for a CRC-32C, which is not supported.");
    form.append(name, value.kind === "static" ? value.value : data);
  }
  return { ...init, body: form };
}
