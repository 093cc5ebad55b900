import { createWriteStream, openAsBlob } from "node:fs";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { UploadTarget } from "#shared/wire/harness.ts";
import { SetupError, Stop } from "../support/stop.ts";
import { type RetryLimits, withRetries } from "./http.ts";

/** How long transfers may be repeated, and how long one may take. */
const UPLOAD_LIMITS = { giveUpAfterMs: 120_000, attemptMs: 300_000 };
const DOWNLOAD_LIMITS = { giveUpAfterMs: 60_000, attemptMs: 120_000 };

/** Uploads a file to its target. The run's key is not sent: the URL itself authorizes the upload. */
export async function uploadFile(
  target: UploadTarget,
  file: string,
  mimeType: string,
  signal: AbortSignal,
): Promise<void> {
  await uploadContent(target, await openAsBlob(file, { type: mimeType }), signal);
}

/** Uploads a blob, which has a known length; storage refuses bodies of unknown length. */
export async function uploadContent(target: UploadTarget, content: Blob, signal: AbortSignal): Promise<void> {
  const limits = { ...UPLOAD_LIMITS, signal };
  const headers = target.headers ?? {};
  const response = await fetchWithRetries(target.url, limits, () => ({
    method: target.method,
    headers,
    body: target.method === "PUT" ? content : buildForm(target, content),
  }));
  await response.body?.cancel();
  // 412: an earlier attempt, whose response was lost, has already stored it.
  if (response.ok || response.status === 412) return;
  throw new Stop("unreachable", `a file could not be uploaded: storage returned ${response.status}`);
}

/** Downloads into a file that must not exist yet. @throws SetupError when storage refuses */
export async function downloadFile(url: string, file: string, signal: AbortSignal): Promise<void> {
  const { body } = await download(url, signal);
  if (body !== null) await pipeline(Readable.fromWeb(body), createWriteStream(file, { flags: "wx" }));
}

/** Downloads a short text. @throws SetupError when storage refuses */
export const downloadText = async (url: string, signal: AbortSignal): Promise<string> =>
  (await download(url, signal)).text();

async function download(url: string, signal: AbortSignal): Promise<Response> {
  const response = await fetchWithRetries(url, { ...DOWNLOAD_LIMITS, signal }, () => ({}));
  if (!response.ok || response.body === null) throw new SetupError(`storage returned ${response.status}`);
  return response;
}

function fetchWithRetries(url: string, limits: RetryLimits, request: () => RequestInit): Promise<Response> {
  const read = (response: Response) => ({
    status: response.status,
    header: (name: string) => response.headers.get(name) ?? undefined,
  });
  // The host only: the query of a signed URL grants access.
  const name = new URL(url).host;
  return withRetries(name, (signal) => fetch(url, { ...request(), signal }), read, limits);
}

function buildForm(target: UploadTarget, content: Blob): FormData {
  const form = new FormData();
  for (const { name, value } of target.fields ?? []) {
    if (value.kind === "static") form.append(name, value.value);
    else if (value.kind === "content_data") form.append(name, content);
    else throw new Stop("unreachable", `this harness does not support the upload field ${name} (${value.kind})`);
  }
  return form;
}
