import { createHash } from "node:crypto";
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from "jose";
import type { SignInIssuer } from "#shared/oidc/exchange-code.ts";
import type { Issuers } from "#shared/oidc/issuers.ts";

/** The issuer of all tokens. */
export const ISSUER = "https://token.actions.githubusercontent.com";
/** The code verifier of events/http/exchange-code.json. */
const VERIFIER = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";

interface OidcStage {
  readonly issuers: Issuers;
  readonly signInIssuer: SignInIssuer;
  /** A token that the trust rule of events/http/create-trust-rule.json accepts. */
  readonly token: string;
}

/** Creates an issuer without a network, for the OIDC fixtures. */
export async function makeOidcStage(now: number): Promise<OidcStage> {
  const { privateKey, publicKey } = await generateKeyPair("ES256");
  const sign = (claims: JWTPayload) =>
    new SignJWT({ iss: ISSUER, exp: Math.floor(now / 1000) + 300, ...claims })
      .setProtectedHeader({ alg: "ES256" })
      .sign(privateKey);
  const metadata = {
    issuer: ISSUER,
    jwks_uri: `${ISSUER}/.well-known/jwks`,
    authorization_endpoint: `${ISSUER}/authorize`,
    token_endpoint: `${ISSUER}/token`,
  };
  const nonce = createHash("sha256").update(`nonce.${VERIFIER}`).digest("base64url");
  const person = { sub: "ada", email: "ada@runyard.test", email_verified: true };
  const issuers: Issuers = {
    allowsPrivate: false,
    async fetch(url) {
      if (url === metadata.token_endpoint)
        return Response.json({ id_token: await sign({ aud: "runyard", nonce, ...person }) });
      return Response.json(url === metadata.jwks_uri ? { keys: [await exportJWK(publicKey)] } : metadata);
    },
    read: async () => ({ metadata, keys: async () => publicKey }),
  };
  return {
    issuers,
    signInIssuer: { issuer: ISSUER, clientId: "runyard", clientSecret: async () => undefined, issuers },
    token: await sign({ aud: "https://runyard.example.com", sub: "repo:acme/shop:ref:refs/heads/main" }),
  };
}
