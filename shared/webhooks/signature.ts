import { createHmac, randomBytes } from "node:crypto";

const PREFIX = "whsec_";
const SECRET_BYTES = 32;

/** Generates a signing secret in the format of Standard Webhooks. */
export const generateSigningSecret = (): string => `${PREFIX}${randomBytes(SECRET_BYTES).toString("base64")}`;

/**
 * The headers that identify a request and sign it with each secret, by the Standard Webhooks specification
 * (https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md).
 * @param now milliseconds
 */
export function signWebhook(secrets: readonly string[], id: string, now: number, body: string): Record<string, string> {
  const timestamp = Math.floor(now / 1000);
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(secret.startsWith(PREFIX) ? PREFIX.length : 0), "base64");
    return `v1,${createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64")}`;
  });
  return { "webhook-id": id, "webhook-timestamp": String(timestamp), "webhook-signature": signatures.join(" ") };
}
