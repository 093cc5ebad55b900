import { createHmac, timingSafeEqual } from "node:crypto";
import { sha256 } from "#shared/ids.ts";
import type { TriggerVerification } from "#shared/wire/triggers/trigger.ts";
import type { SourceChoice } from "./sources/find-source.ts";

/** Milliseconds that the time of a signature may differ from ours. */
const MAX_AGE_MS = 5 * 60_000;
/** The same for the time in the body of Linear. */
const MAX_LINEAR_AGE_MS = 60_000;
export const STANDARD_PREFIX = "whsec_";

export interface SignedRequest {
  readonly body: Buffer;
  readonly header: (name: string) => string | undefined;
}

/** An HMAC-SHA256 in a header. */
interface Signature extends Omit<TriggerVerification, "scheme"> {
  /** What precedes the body in what is signed. */
  readonly toLead?: (time: string) => string;
}

const GITHUB: Signature = { header: "X-Hub-Signature-256", prefix: "sha256=" };
/** https://docs.slack.dev/authentication/verifying-requests-from-slack */
const SLACK: Signature = {
  header: "X-Slack-Signature",
  prefix: "v0=",
  timestamp_header: "X-Slack-Request-Timestamp",
  toLead: (time) => `v0:${time}:`,
};

/** Whether a request was sent by who has the secret, by exactly the scheme of the trigger. All comparisons take constant time. */
export function isVerified(
  { kind, verification = { scheme: "standard" } }: SourceChoice,
  secret: string,
  request: SignedRequest,
  now: number,
): boolean {
  switch (kind) {
    case "github":
      return isSigned(GITHUB, secret, request, now);
    case "slack":
      return isSigned(SLACK, secret, request, now);
    case "gitlab":
      return secret.startsWith(STANDARD_PREFIX)
        ? isStandard(secret, request, now)
        : isToken(request.header("x-gitlab-token"), secret, request);
    case "webhook":
      break;
  }
  switch (verification.scheme) {
    case "standard":
      return isStandard(secret, request, now);
    case "hmac":
      return isSigned(verification, secret, request, now);
    case "bearer":
      return isToken(request.header("authorization"), `Bearer ${secret}`, request);
  }
}

/** Whether the time in the signed body of Linear is recent. Bodies of other systems need no time. */
export const isBodyRecent = (
  { preset }: SourceChoice,
  payload: Readonly<Record<string, unknown>>,
  now: number,
): boolean => {
  const { webhookTimestamp: time } = payload;
  return preset !== "linear" || (typeof time === "number" && Math.abs(time - now) <= MAX_LINEAR_AGE_MS);
};

/** Compares a token. The body is digested as for a signature, so that the time does not show which scheme a trigger has. */
function isToken(sent = "", expected: string, { body }: SignedRequest): boolean {
  createHmac("sha256", expected).update(body).digest();
  return isEqual(sent, expected);
}

/** https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md */
function isStandard(secret: string, { body, header }: SignedRequest, now: number): boolean {
  const [id, time = "", signatures = ""] = ["webhook-id", "webhook-timestamp", "webhook-signature"].map(header);
  const key = Buffer.from(secret.slice(secret.startsWith(STANDARD_PREFIX) ? STANDARD_PREFIX.length : 0), "base64");
  const expected = createHmac("sha256", key).update(`${id}.${time}.`).update(body).digest("base64");
  const matches = signatures.split(" ").map((signature) => isEqual(signature, `v1,${expected}`));
  return id !== undefined && isRecent(time, now) && matches.includes(true);
}

function isSigned(
  { header: name = "", prefix = "", encoding = "hex", timestamp_header, toLead = (time) => `${time}.` }: Signature,
  secret: string,
  { body, header }: SignedRequest,
  now: number,
): boolean {
  const time = timestamp_header === undefined ? undefined : (header(timestamp_header.toLowerCase()) ?? "");
  const hmac = createHmac("sha256", secret);
  if (time !== undefined) hmac.update(toLead(time));
  const expected = prefix + hmac.update(body).digest(encoding);
  // Some systems send one signature for each of their keys.
  const signatures = (header(name.toLowerCase()) ?? "").split(",").map((signature) => signature.trim());
  const matches = signatures.map((signature) => isEqual(signature, expected));
  return (time === undefined || isRecent(time, now)) && matches.includes(true);
}

const isRecent = (seconds: string, now: number): boolean =>
  /^\d{1,12}$/.test(seconds) && Math.abs(Number(seconds) * 1000 - now) <= MAX_AGE_MS;

/** Compares digests, which have one length, so that nothing about the expected value shows. */
const isEqual = (one: string, other: string): boolean =>
  timingSafeEqual(Buffer.from(sha256(one)), Buffer.from(sha256(other)));
