import { RunyardError } from "./errors.ts";
import type { WebhookEventType } from "./generated/types.ts";

/** Seconds by which the timestamp of a request may differ from the receiver's clock. */
const TOLERANCE_SECONDS = 300;
const PREFIX = "whsec_";
const VERSION = "v1,";

/** An event of a run, a trigger or a schedule, as webhooks deliver it. */
export interface WebhookEvent {
  readonly type: WebhookEventType;
  readonly timestamp: string;
  readonly data: {
    readonly webhook_uid: string;
    /** The number of the delivery within its webhook, from 1, without gaps. */
    readonly sequence: number;
    /** Absent for events of triggers and schedules, as are `run_sequence` and `state`. */
    readonly run_id?: string;
    /** The number of the event within its run. */
    readonly run_sequence?: number;
    /** The state of the run after the event. */
    readonly state?: string;
    /** The trigger of a `trigger_failed`. */
    readonly trigger_uid?: string;
    /** The schedule of a `schedule_failed` or `schedule_missed`. */
    readonly schedule_id?: string;
    /** The title of the run, or the name of the trigger or the schedule. */
    readonly title: string;
    readonly metadata?: Readonly<Record<string, string>>;
    readonly session_link?: string;
    readonly event: Readonly<Record<string, string | number | boolean>>;
  };
}

/** A request that is not a valid delivery of the webhook. */
export class WebhookVerificationError extends RunyardError {
  override readonly name = "WebhookVerificationError";
}

/** The headers of a request, as `fetch` or as Node represents them. */
export type WebhookHeaders = Pick<Headers, "get"> | Readonly<Record<string, string | readonly string[] | undefined>>;

/**
 * Verifies the signature of a delivery, by the Standard Webhooks specification, and returns its event.
 * @param secret the webhook's signing secret, `whsec_…`
 * @param body the body exactly as it was received
 * @param now milliseconds @default the present
 * @throws WebhookVerificationError if the signature is not valid, or the timestamp differs by more than five minutes
 */
export async function verifyWebhook(
  secret: string,
  headers: WebhookHeaders,
  body: string | Uint8Array,
  now: number = Date.now(),
): Promise<WebhookEvent> {
  const id = readHeader(headers, "webhook-id");
  const timestamp = readHeader(headers, "webhook-timestamp");
  const signatures = readHeader(headers, "webhook-signature");
  if (!/^\d{1,12}$/.test(timestamp) || Math.abs(now / 1000 - Number(timestamp)) > TOLERANCE_SECONDS) {
    throw new WebhookVerificationError("the timestamp is not within five minutes");
  }
  const text = typeof body === "string" ? body : new TextDecoder().decode(body);
  const content = new TextEncoder().encode(`${id}.${timestamp}.${text}`);
  const key = await crypto.subtle.importKey("raw", decodeSecret(secret), { name: "HMAC", hash: "SHA-256" }, false, [
    "verify",
  ]);
  for (const signature of signatures.split(" ")) {
    const bytes = signature.startsWith(VERSION) ? decodeBase64(signature.slice(VERSION.length)) : undefined;
    if (bytes !== undefined && (await crypto.subtle.verify("HMAC", key, bytes, content))) return JSON.parse(text);
  }
  throw new WebhookVerificationError("the signature is not valid");
}

function readHeader(headers: WebhookHeaders, name: string): string {
  const value = isHeaders(headers)
    ? headers.get(name)
    : Object.entries(headers).find(([given]) => given.toLowerCase() === name)?.[1];
  if (typeof value === "string" && value !== "") return value;
  throw new WebhookVerificationError(`the header ${name} is missing`);
}

const isHeaders = (headers: WebhookHeaders): headers is Pick<Headers, "get"> => typeof headers.get === "function";

function decodeSecret(secret: string): Uint8Array<ArrayBuffer> {
  const bytes = decodeBase64(secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : secret);
  if (bytes === undefined || bytes.length === 0) throw new WebhookVerificationError("the secret is not valid");
  return bytes;
}

function decodeBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}
