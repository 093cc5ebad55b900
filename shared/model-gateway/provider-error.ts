import { maskUrlUsers } from "#shared/wire/repository-url.ts";
import { parsedJson } from "./dialect.ts";
import { isObject } from "./request-filter.ts";

/** What a provider says about a call that failed. */
export interface ProviderError {
  /** The provider's own words, without parts of keys. */
  readonly message: string;
  /** The status within the error, where a provider reports one in a response of another status. */
  readonly status?: number;
  /** The provider's names for the kind of error, such as `insufficient_quota`. */
  readonly kinds: readonly string[];
  /** Milliseconds to wait that the error names in its text or its details. */
  readonly pauseMs?: number;
}

/** Characters of the provider's words that are shown. */
const MESSAGE_LENGTH = 1_000;

/** Reads the error in the body of a response with an error status, in whatever shape a provider sends it. */
export function readErrorBody(text: string): ProviderError {
  const json = parsedJson(text);
  const found = findError(json) ?? findMessage(json);
  if (found !== undefined) return found;
  return toError(isHtml(text) ? readHtml(text) : text, []);
}

/** Finds the error in a response that has the status of a success, or in an event of its stream; undefined if there is none. */
export function findError(json: unknown): ProviderError | undefined {
  const body: unknown = Array.isArray(json) ? json[0] : json;
  if (!isObject(body)) return undefined;
  const { error } = body;
  if (typeof error === "string" && error !== "") return toError(error, kindsOf(body), statusOf(body));
  if (isObject(error)) return fromObject(error, body);
  if (body["object"] === "error" || body["type"] === "error") return fromObject(body, body);
  return findVendorError(body);
}

/** Members of the responses and events of all APIs. */
const OF_RESPONSES = ["choices", "content", "output", "type", "delta", "usage"] as const;

/** Finds the error of a vendor's own API, which some servers return with the status of a success. */
function findVendorError(body: Readonly<Record<string, unknown>>): ProviderError | undefined {
  const { base_resp: minimax, success, errors } = body;
  if (isObject(minimax) && typeof minimax["status_code"] === "number" && minimax["status_code"] !== 0)
    return toError(`${textOf(minimax["status_msg"]) ?? "no reason was given"} (${minimax["status_code"]})`, []);
  const isFailed = success === false || (Array.isArray(errors) && errors.length > 0);
  const hasCode = ["code", "error_code", "status", "detail"].some((name) => body[name] !== undefined);
  if (!isFailed && !hasCode) return undefined;
  return OF_RESPONSES.some((name) => body[name] !== undefined && body[name] !== null) ? undefined : findMessage(body);
}

/** Reads the error of a body without an `error`, as a response with an error status may have. */
function findMessage(json: unknown): ProviderError | undefined {
  if (typeof json === "string" && json !== "") return toError(json, []);
  if (!isObject(json)) return undefined;
  const { errors, detail, fault } = json;
  if (Array.isArray(errors) && errors.length > 0) return fromObject(Object(errors[0]), json);
  if (isObject(fault)) return toError(textOf(fault["faultstring"]) ?? "", kindsOf(fault), statusOf(fault));
  if (Array.isArray(detail)) return toError(detail.map(describeDetail).join("; "), kindsOf(json), statusOf(json));
  const message = ["message", "Message", "detail", "msg", "error_msg", "error_message", "error_description"]
    .map((name) => textOf(json[name]))
    .find((text) => text !== undefined);
  return message === undefined ? undefined : toError(message, kindsOf(json), statusOf(json));
}

function fromObject(error: Readonly<Record<string, unknown>>, body: Readonly<Record<string, unknown>>): ProviderError {
  const { metadata, details, message } = error;
  const raw = isObject(metadata) ? textOf(metadata["raw"]) : undefined;
  const nested = raw === undefined ? undefined : readErrorBody(raw).message;
  // Proxies put the error of the provider into theirs, as text or as an object.
  const text = isObject(message) ? JSON.stringify(message) : textOf(message);
  const inner = text === undefined ? undefined : parsedJson(text);
  const isNested = isObject(inner) || Array.isArray(inner);
  const own = text ?? textOf(error["error"]) ?? textOf(error["detail"]) ?? JSON.stringify(error);
  const words = isNested && text !== undefined ? readErrorBody(text).message : own;
  const read = toError(
    nested === undefined || words.includes(nested) ? words : `${words}: ${nested}`,
    [...kindsOf(error), ...(error === body ? [] : kindsOf(body))],
    statusOf(error) ?? (error === body ? undefined : statusOf(body)),
  );
  const delay = Array.isArray(details) ? /"retryDelay":"([\d.]+)s"/.exec(JSON.stringify(details))?.[1] : undefined;
  return delay === undefined ? read : { ...read, pauseMs: Number(delay) * 1_000 };
}

function toError(text: string, kinds: readonly string[], status?: number): ProviderError {
  const message = redactKeys(text.replace(/\s+/g, " ").trim()).slice(0, MESSAGE_LENGTH) || "no reason was given";
  const pauseMs = readPause(message);
  return {
    message,
    kinds,
    ...(status === undefined ? {} : { status }),
    ...(pauseMs === undefined ? {} : { pauseMs }),
  };
}

/** Describes an error of a call for the log: providers, proxies and addresses put credentials into their words, and so into stacks. */
export function describeForLog(error: unknown): { readonly name: string; readonly message: string } {
  const [name, ...words] = describeCauses(error);
  return { name: name ?? "Error", message: redactKeys(maskUrlUsers(words.join(": "))).slice(0, MESSAGE_LENGTH) };
}

/** The name of an error, its message, and the messages of its causes. */
function describeCauses(error: unknown): string[] {
  if (!(error instanceof Error)) return [typeof error, String(error)];
  const code = "code" in error && typeof error.code === "string" ? [error.code] : [];
  const cause = error.cause === undefined ? [] : describeCauses(error.cause).slice(1);
  return [error.name, error.message, ...code, ...cause];
}

/** Some providers repeat a part of the key in their errors, or name principals of their customer's account. */
const redactKeys = (text: string): string =>
  text
    .replace(/\b(?:sk|pk|rk|gsk|xai|csk|nvapi|hf|fw|r8|AIza|AKIA|ASIA|key)[-_]?[\w.*•…-]{8,}/g, "[redacted]")
    .replace(/\barn:aws[\w-]*:[^\s"',]+/g, "[redacted]")
    .replace(/\bbearer\s+[^\s"',;]+/gi, "Bearer [redacted]")
    .replace(/(?<![\w-])[\w-]*[*•]{3,}[\w*•-]*/g, "[redacted]");

function readPause(message: string): number | undefined {
  const found =
    /(?:try again|retry)\s+(?:in|after)\s+(?:(\d+)m(?!s))?(?:([\d.]+)\s*(ms|milliseconds|s|sec|seconds)\b)?/i.exec(
      message,
    );
  const [, minutes, amount, unit] = found ?? [];
  if (minutes === undefined && amount === undefined) return undefined;
  const factor = unit?.toLowerCase().startsWith("m") === true ? 1 : 1_000;
  return Number(minutes ?? 0) * 60_000 + Number(amount ?? 0) * factor;
}

export const isHtml = (text: string): boolean => /^\s*<(?:!doctype|html|head|body)\b/i.test(text);

/** The title and the text of a page, such as the one of a proxy in between. */
const readHtml = (html: string): string =>
  html
    .replace(/<(script|style)\b[\s\S]*?<\/\1>/gi, " ")
    .replace(/<[^>]*>/g, " ")
    .replace(/&nbsp;/g, " ");

function describeDetail(detail: unknown): string {
  if (!isObject(detail)) return textOf(detail) ?? JSON.stringify(detail);
  const path = Array.isArray(detail["loc"]) ? `${detail["loc"].join(".")}: ` : "";
  return `${path}${textOf(detail["msg"]) ?? textOf(detail["message"]) ?? JSON.stringify(detail)}`;
}

const kindsOf = (error: Readonly<Record<string, unknown>>): string[] =>
  ["type", "code", "error_code", "status", "__type"].flatMap((name) => {
    const kind = textOf(error[name]);
    return kind === undefined || kind === "error" || /^\d+$/.test(kind) ? [] : [kind];
  });

function statusOf(error: Readonly<Record<string, unknown>>): number | undefined {
  const found = ["code", "status", "status_code", "http_code"]
    .map((name) => Number(error[name] ?? Number.NaN))
    .find((status) => Number.isInteger(status) && status >= 400 && status < 600);
  return found;
}

const textOf = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined);
