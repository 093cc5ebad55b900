import { describe, expect, it } from "vitest";
import { IdentityTokenError, verifyIdentityToken } from "../../clients/typescript/src/index.ts";
import shared from "./identity-token-vectors.json" with { type: "json" };

const { issuer, audience, keys, vectors } = shared;
const CONFIGURATION = { issuer, jwks_uri: `${issuer}/.well-known/jwks.json` };

/** The issuer as it responds to a verifier. */
const respond =
  (configuration: unknown = CONFIGURATION, status = 200) =>
  async (url: string): Promise<Response> => {
    if (url === `${issuer}/.well-known/openid-configuration`) return Response.json(configuration, { status });
    return url === CONFIGURATION.jwks_uri ? Response.json({ keys }) : new Response("", { status: 404 });
  };

const [{ token, now } = expect.fail()] = vectors;
const options = { issuer, audience, now: now * 1000 };

describe("verifyIdentityToken", () => {
  it.each(vectors)("$name", async ({ token: signed, now: seconds, claims, error }) => {
    const verified = verifyIdentityToken(signed, { issuer, audience, now: seconds * 1000, fetch: respond() });
    if (error === undefined) return expect(await verified).toEqual(claims);
    await expect(verified).rejects.toThrow(new IdentityTokenError(error));
  });

  it("refuses keys of another origin, and a configuration of another issuer", async () => {
    for (const configuration of [
      { ...CONFIGURATION, jwks_uri: "https://evil.example.com/jwks.json" },
      { ...CONFIGURATION, issuer: "https://evil.example.com" },
      { issuer },
    ]) {
      const verified = verifyIdentityToken(token, { ...options, fetch: respond(configuration) });
      await expect(verified).rejects.toThrow("the configuration of the issuer is not its own");
    }
  });

  it("names the address that it cannot read the keys from", async () => {
    const down = () => Promise.reject(new Error("refused"));
    for (const fetch of [down, respond(CONFIGURATION, 503), respond("text")]) {
      const verified = verifyIdentityToken(token, { ...options, fetch });
      await expect(verified).rejects.toThrow(`cannot be read from ${issuer}/.well-known/openid-configuration`);
    }
  });
});
