import { generateKeyPair, SignJWT } from "jose";
import type { Issuers } from "#shared/oidc/issuers.ts";

/** An issuer without a network, and a token of it that the trust rule of events/http/create-trust-rule.json accepts. */
export async function makeOidcStage(now: number): Promise<{ issuers: Issuers; token: string }> {
  const issuer = "https://token.actions.githubusercontent.com";
  const { privateKey, publicKey } = await generateKeyPair("ES256");
  const token = await new SignJWT({
    iss: issuer,
    aud: "https://runyard.example.com",
    sub: "repo:acme/shop:ref:refs/heads/main",
    exp: Math.floor(now / 1000) + 300,
  })
    .setProtectedHeader({ alg: "ES256" })
    .sign(privateKey);
  const metadata = { issuer, jwks_uri: `${issuer}/.well-known/jwks` };
  return {
    token,
    issuers: {
      allowsPrivate: false,
      fetch: () => Promise.reject(new Error("the stage has no network")),
      read: async () => ({ metadata, keys: async () => publicKey }),
    },
  };
}
