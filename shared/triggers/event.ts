import * as v from "valibot";
import { invalid } from "#shared/errors.ts";
import { decodeUtf8 } from "#shared/http/utf8.ts";
import { sha256 } from "#shared/ids.ts";
import type { TriggerEvent } from "#shared/wire/triggers/delivery.ts";
import { findSource, type SourceChoice } from "./sources/find-source.ts";
import type { ReadHeader } from "./sources/source.ts";

export type { TriggerEvent };

/** An event, and the credential that came with it. */
export interface AnsweredEvent extends TriggerEvent {
  /** The installation of the deployment's GitHub App that sent it. @default it was sent to the trigger's URL */
  readonly installationId?: number | undefined;
}

/** What identifies a delivery, and the event in it. */
export interface ReceivedEvent extends AnsweredEvent {
  /** The id that the other system has for it. */
  readonly externalId: string | undefined;
  /** Two deliveries are of the same event if they have one of these in common. */
  readonly digests: readonly [string, ...string[]];
}

const Named = v.pipe(v.string(), v.minLength(1), v.maxLength(128), v.regex(/^[\x20-\x7e]+$/));
const Payload = v.record(v.string(), v.unknown());
const FORM = "application/x-www-form-urlencoded";

/**
 * Parses a verified request. Where the signature does not cover the id of an event, its body identifies it too.
 * @throws RunyardError 400 where the body is neither a JSON object nor a form with one as its `payload`
 */
export function parseEvent(choice: SourceChoice, body: Buffer, header: ReadHeader): ReceivedEvent {
  const payload = parsePayload(body, header);
  const source = findSource(choice);
  const { type, action, ...members } = source.read(payload, header);
  const { id, isSigned, hasEqualBodies = false } = source.identify(payload, header);
  const externalId = v.is(Named, id) ? id : undefined;
  const byId = externalId === undefined ? undefined : sha256(`id:${externalId}`);
  const byBody = sha256(body);
  return {
    type: v.is(Named, type) ? type : "webhook",
    action: v.is(Named, action) ? action : "",
    ...members,
    payload,
    externalId,
    digests: byId === undefined ? [byBody] : isSigned || hasEqualBodies ? [byId] : [byId, byBody],
  };
}

/** The members of an event that templates see. */
export const toTemplateEvent = ({
  externalId: _,
  digests: __,
  installationId: ___,
  ...event
}: ReceivedEvent): TriggerEvent => event;

/** The text by which Slack asks whether a URL belongs to who has the secret; undefined for an event. */
export function readChallenge({ kind }: SourceChoice, { payload }: TriggerEvent): string | undefined {
  const { type, challenge } = payload;
  return kind === "slack" && type === "url_verification" && typeof challenge === "string" ? challenge : undefined;
}

/** Parses the JSON object of a body, which some systems send as the field `payload` of a form. */
function parsePayload(body: Buffer, header: ReadHeader): Readonly<Record<string, unknown>> {
  const isForm = header("content-type")?.toLowerCase().startsWith(FORM) === true;
  let value: unknown;
  try {
    const text = decodeUtf8(body);
    value = JSON.parse(isForm ? readFormPayload(text) : text);
  } catch {
    throw invalid("body", "must be a JSON object, or a form with one JSON object as its payload");
  }
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw invalid("body", "must be a JSON object");
  return v.parse(Payload, value);
}

function readFormPayload(text: string): string {
  const [payload = "", ...others] = new URLSearchParams(text).getAll("payload");
  return others.length === 0 ? payload : "";
}
