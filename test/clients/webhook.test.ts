import { describe, expect, it } from "vitest";
import { verifyWebhook, WebhookVerificationError } from "../../clients/typescript/src/index.ts";
import shared from "./webhook-vectors.json" with { type: "json" };

const { vectors } = shared;

describe("verifyWebhook", () => {
  it.each(vectors)("$name", async ({ secret, headers, body, now, payload, error }) => {
    const verified = verifyWebhook(secret, headers, body, now * 1000);
    if (error === undefined) return expect(await verified).toEqual(payload);
    await expect(verified).rejects.toThrow(new WebhookVerificationError(error));
  });

  it("accepts the headers of fetch and a body of bytes", async () => {
    const [{ secret, headers, body, now, payload } = expect.fail()] = vectors;
    const { "webhook-id": id = "", "webhook-timestamp": time = "", "webhook-signature": signature = "" } = headers;
    const given = new Headers([
      ["Webhook-Id", id],
      ["Webhook-Timestamp", time],
      ["Webhook-Signature", signature],
    ]);
    const bytes = new TextEncoder().encode(body);
    expect(await verifyWebhook(secret, given, bytes, now * 1000)).toEqual(payload);
    await expect(verifyWebhook(secret, given, bytes)).rejects.toThrow("five minutes");
  });

  it("refuses a secret that is not base64", async () => {
    const [{ headers, body, now } = expect.fail()] = vectors;
    for (const secret of ["whsec_", "whsec_%%%"]) {
      await expect(verifyWebhook(secret, headers, body, now * 1000)).rejects.toThrow("the secret is not valid");
    }
  });
});
