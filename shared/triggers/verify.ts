import { createHmac, timingSafeEqual } from "node:crypto";
import { sha256 } from "#shared/ids.ts";
import type { TriggerVerification } from "#shared/wire/triggers/trigger.ts";

/** Milliseconds that the time of a signature may differ from ours. */
const MAX_AGE_MS = 5 * 60_000;
const STANDARD_PREFIX = "whsec_";

export interface SignedRequest {
  readonly body: Buffer;
  readonly header: (name: string) => string | undefined;
}

/** Whether a request was sent by who has the secret, by exactly the scheme of the trigger. All comparisons take constant time. */
export function isVerified(
  verification: TriggerVerification,
  secret: string,
  request: SignedRequest,
  now: number,
): boolean {
  switch (verification.scheme) {
    case "standard":
      return isStandard(secret, request, now);
    case "hmac":
      return isSigned(verification, secret, request, now);
    case "bearer":
      return isEqual(request.header("authorization") ?? "", `Bearer ${secret}`);
  }
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
  { header: name = "", prefix = "", encoding = "hex", timestamp_header }: TriggerVerification,
  secret: string,
  { body, header }: SignedRequest,
  now: number,
): boolean {
  const time = timestamp_header === undefined ? undefined : (header(timestamp_header.toLowerCase()) ?? "");
  const hmac = createHmac("sha256", secret);
  if (time !== undefined) hmac.update(`${time}.`);
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
