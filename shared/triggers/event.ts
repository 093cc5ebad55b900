import * as v from "valibot";
import { invalid } from "#shared/errors.ts";
import { decodeUtf8 } from "#shared/http/utf8.ts";
import { sha256 } from "#shared/ids.ts";

/** An event of another system as templates see it. */
export interface TriggerEvent {
  readonly type: string;
  /** "" where the event has none. */
  readonly action: string;
  readonly payload: Readonly<Record<string, unknown>>;
}

/** What identifies a delivery, and the event in it. */
export interface ReceivedEvent extends TriggerEvent {
  /** The id that the other system has for it. */
  readonly externalId: string | undefined;
  /** Equal for two deliveries of the same event. */
  readonly digest: string;
}

const Named = v.pipe(v.string(), v.minLength(1), v.maxLength(128), v.regex(/^[\x20-\x7e]+$/));
const Payload = v.record(v.string(), v.unknown());
/** Members and headers in which systems name the type of an event, and its own id. */
const TYPE_MEMBERS = ["type", "event_type", "event", "webhookEvent"];
const TYPE_HEADERS = ["x-github-event", "x-gitlab-event", "sentry-hook-resource"];
const ID_HEADERS = [
  "webhook-id",
  "x-github-delivery",
  "linear-delivery",
  "x-atlassian-webhook-identifier",
  "request-id",
];

/**
 * Parses a verified request. Of the ids of other systems only that of Standard Webhooks is signed; elsewhere the body
 * identifies the event.
 * @throws RunyardError 400 where the body is not a JSON object
 */
export function parseEvent(
  body: Buffer,
  header: (name: string) => string | undefined,
  isIdSigned: boolean,
): ReceivedEvent {
  const payload = parsePayload(body);
  const type = [...TYPE_HEADERS.map(header), ...TYPE_MEMBERS.map((name) => payload[name])].find((one) =>
    v.is(Named, one),
  );
  const externalId = ID_HEADERS.map(header).find((one) => v.is(Named, one));
  return {
    type: v.is(Named, type) ? type : "webhook",
    action: v.is(Named, payload["action"]) ? payload["action"] : "",
    payload,
    externalId,
    digest: isIdSigned && externalId !== undefined ? sha256(`id:${externalId}`) : sha256(body),
  };
}

function parsePayload(body: Buffer): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(decodeUtf8(body));
  } catch {
    throw invalid("body", "must be a JSON object");
  }
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw invalid("body", "must be a JSON object");
  return v.parse(Payload, value);
}
