import { createHash } from "node:crypto";
import { openAsBlob } from "node:fs";
import { access, constants, stat } from "node:fs/promises";
import path from "node:path";
import type { RunAgentRequest, Runyard } from "../../clients/typescript/src/index.ts";
import { usage } from "./problem.ts";

const MAX_ATTACHMENTS = { run: 5, "follow-up": 25 } as const;
const MIME_TYPE = "application/octet-stream";
/** The size limit of an uploaded attachment. */
const UPLOAD_BYTES = 100 * 1024 * 1024;

type Attachments = NonNullable<RunAgentRequest["attachments"]>;

/** Uploads each file, and returns their ids for a request. A run with the same key gets the same ids. */
export async function uploadAttachments(
  client: Runyard,
  files: readonly string[],
  runKey: string | undefined,
): Promise<Attachments> {
  const opened = await openFiles(files, "run");
  return Promise.all(
    opened.map(async (upload, index) => {
      const idempotencyKey = runKey === undefined ? undefined : uploadKey(runKey, index);
      return { attachment_id: await client.attachments.upload(upload, { idempotencyKey }) };
    }),
  );
}

/** Checks each file, and returns the attachments of a dry run: their names only, because it stores no contents. */
export async function nameAttachments(files: readonly string[]): Promise<Attachments> {
  const opened = await openFiles(files, "run");
  return opened.map(({ file_name }) => ({ file_name, mime_type: MIME_TYPE, data: "" }));
}

/** Uploads each file for a follow-up of a run, and returns their ids for the request. */
export async function uploadForFollowup(
  client: Runyard,
  runId: string,
  files: readonly string[],
): Promise<{ attachment_id: string }[]> {
  const opened = await openFiles(files, "follow-up");
  const { attachments } = await client.runs.prepareAttachments(runId, {
    files: opened.map(({ file_name, data }) => ({ filename: file_name, mime_type: MIME_TYPE, size_bytes: data.size })),
  });
  return Promise.all(
    attachments.map(async ({ attachment_id, upload_url }, index) => {
      const body = opened[index]?.data ?? null;
      const { ok, status } = await fetch(upload_url, { method: "PUT", body, headers: { "content-type": MIME_TYPE } });
      if (!ok) throw usage(`--attach ${files[index]} could not be uploaded: the storage returned ${status}.`);
      return { attachment_id };
    }),
  );
}

/** Derives the Idempotency-Key of an upload. A digest, because the key of the run may already have the maximum length. */
function uploadKey(runKey: string, index: number): string {
  return createHash("sha256").update(`${runKey}#${index}`).digest("hex");
}

/** Refuses files that no run may have before anything is sent. */
async function openFiles(
  files: readonly string[],
  what: keyof typeof MAX_ATTACHMENTS,
): Promise<{ file_name: string; data: Blob }[]> {
  const most = MAX_ATTACHMENTS[what];
  if (files.length > most) {
    throw usage(`--attach names ${files.length} files, and a ${what} has at most ${most} attachments.`);
  }
  return Promise.all(files.map(async (file) => ({ file_name: path.basename(file), data: await openFile(file) })));
}

async function openFile(file: string): Promise<Blob> {
  const data = await openReadable(file);
  if (data === undefined) throw usage(`--attach ${file} cannot be read.`);
  if (data.size === 0) throw usage(`--attach ${file} is empty.`);
  if (data.size > UPLOAD_BYTES) {
    throw usage(`--attach ${file} has ${data.size} bytes, and an attachment has at most ${UPLOAD_BYTES}.`);
  }
  return data;
}

/** Checks what `openAsBlob` does not report: it opens a directory, and a file that this user may not read. */
async function openReadable(file: string): Promise<Blob | undefined> {
  try {
    await access(file, constants.R_OK);
    return (await stat(file)).isFile() ? await openAsBlob(file) : undefined;
  } catch {
    return undefined;
  }
}
