import { type ModelProvider, REMEDY_HEADER } from "#shared/model-provider/model-provider.ts";
import { CONTEXT_OVERFLOW, type Dialect, parsedJson } from "./dialect.ts";
import { classifyError, type ErrorMeaning, statusOfError } from "./error-kinds.ts";
import { hideKey, type OwnKey } from "./keys/own-key.ts";
import { findError, isHtml, type ProviderError, readErrorBody } from "./provider-error.ts";
import { responseHeaders } from "./responses.ts";

/** Statuses about the deployment's own key or bill, which must not look like errors about the run's key. */
const REFUSED = new Set([401, 402, 403, 407]);

/** Statuses about the key itself. */
const ABOUT_KEY = new Set([401, 403]);

/** The provider of a call, and the key that is not the deployment's. */
interface CalledProvider {
  readonly name: string;
  readonly ownKey?: OwnKey | undefined;
}

/**
 * Reads the errors of a provider in all of their shapes and statuses, so that callers get them in the shape of their API, with the
 * provider's words, a remedy, and whether a retry may help.
 */
export const withReadErrors =
  (provider: ModelProvider, called: CalledProvider, dialect: Dialect): ModelProvider =>
  async (call) => {
    const response = await provider(call);
    const hide = createHide(provider, called.ownKey);
    if (!response.ok) return toProviderError(dialect, called, response, readErrorBody(hide(await readText(response))));
    if (response.body === null || isStream(response, call.request.stream === true)) return response;
    const text = hide(await readText(response).catch(() => ""));
    const json = parsedJson(text);
    const error = isHtml(text) ? readErrorBody(text) : findError(json);
    if (error !== undefined) return toProviderError(dialect, called, response, error);
    const headers = new Headers(response.headers);
    // Some servers send a stream under another type.
    if (/^\s*(?:data|event): ?/.test(text)) headers.set("content-type", "text/event-stream");
    return new Response(text, { status: response.status, headers });
  };

/** The bytes after which a response is not read further. */
const MAX_BYTES = 16 * 1024 * 1024;

/** Reads a response as text. That of a server that sends more than any model writes is truncated, so it does not fill the memory. */
export async function readText({ body }: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  for await (const chunk of body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    bytes += chunk.byteLength;
    if (bytes >= MAX_BYTES) break;
  }
  return text + decoder.decode();
}

/** Redacts the keys of a call from what its provider returned. */
export const createHide =
  ({ hide }: Pick<ModelProvider, "hide">, ownKey: OwnKey | undefined) =>
  (text: string): string => {
    const others = hideKey(text, ownKey);
    return hide === undefined ? others : hide(others);
  };

/** Whether the body is a stream of events; some servers do not say so. */
export function isStream({ headers, body }: Response, isRequested: boolean): boolean {
  const type = headers.get("content-type") ?? "";
  if (body === null) return false;
  return type.includes("text/event-stream") || (isRequested && (type === "" || type.startsWith("text/plain")));
}

/** Converts an error of a provider to the caller's API. */
function toProviderError(
  dialect: Dialect,
  { name, ownKey }: CalledProvider,
  response: Response,
  error: ProviderError,
): Response {
  const upstream = response.ok ? statusOfError(error) : response.status;
  const visibleStatus = response.ok ? (error.status ?? response.status) : response.status;
  const read = classifyError(upstream, error);
  const isAboutOwnKey = ownKey !== undefined && ABOUT_KEY.has(upstream);
  const meaning = isAboutOwnKey ? { ...read, remedy: `Check the key in the team's secret ${ownKey.secret}.` } : read;
  const known = response.headers.get(REMEDY_HEADER);
  // A refusal with a known remedy may name principals of the deployment's account.
  const message =
    known !== null && REFUSED.has(upstream)
      ? `${name} returned ${upstream}. ${known}`
      : describeError(name, error, known === null ? meaning : { ...meaning, remedy: known }, visibleStatus);
  const status = meaning.kind === "overflow" ? 400 : REFUSED.has(upstream) ? 500 : toKnownStatus(upstream, meaning);
  const headers = new Headers(responseHeaders(response));
  headers.set("content-type", "application/json");
  const pauseMs = readPause(headers) ?? error.pauseMs;
  if (pauseMs !== undefined) headers.set("retry-after", String(Math.ceil(pauseMs / 100) / 10));
  if (meaning.kind !== "transient") headers.set("x-should-retry", "false");
  const code = meaning.kind === "overflow" ? CONTEXT_OVERFLOW : undefined;
  return Response.json(dialect.error(status, message, code), { status, headers });
}

/** Statuses below 500 that clients repeat a call after. */
const REPEATED = new Set([408, 409, 429]);

/** A status of one vendor, such as 498, means nothing to the clients of others. */
const toKnownStatus = (status: number, { kind }: ErrorMeaning): number =>
  kind !== "transient" || status >= 500 || REPEATED.has(status) ? status : 503;

/** Converts an error within a stream to an event of the caller's API; undefined if the event is none. */
export function toErrorEvent(dialect: Dialect, name: string, data: string, isNamedError: boolean): string | undefined {
  const json = parsedJson(data);
  const error = findError(json) ?? (isNamedError && data !== "" ? readErrorBody(data) : undefined);
  if (error === undefined) return undefined;
  const status = statusOfError(error);
  const meaning = classifyError(status, error);
  const message = describeError(name, error, meaning, error.status);
  if (meaning.kind === "overflow") return dialect.errorEvent(message, 400, CONTEXT_OVERFLOW);
  return dialect.errorEvent(message, meaning.kind === "permanent" ? 400 : 502);
}

function describeError(name: string, { message }: ProviderError, { remedy }: ErrorMeaning, status = 200): string {
  const words = /[.!?。！？]$/.test(message) ? message : `${message}.`;
  return `${name} returned ${status}: ${words} ${remedy}`;
}

/** Reads how long the provider requests to wait, in milliseconds: a number of seconds or a date. */
function readPause(headers: Headers): number | undefined {
  const exact = Number(headers.get("retry-after-ms") ?? Number.NaN);
  if (exact > 0) return exact;
  const value = headers.get("retry-after")?.trim();
  if (value === undefined) return undefined;
  const seconds = Number(value.replace(/s$/, ""));
  if (Number.isFinite(seconds)) return seconds > 0 ? seconds * 1_000 : undefined;
  const at = Date.parse(value);
  return Number.isNaN(at) ? undefined : Math.max(0, at - Date.now());
}
