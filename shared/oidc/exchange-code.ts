import { createHash } from "node:crypto";
import * as v from "valibot";
import { RunyardError } from "#shared/errors.ts";
import { isEmailAddress } from "#shared/wire/email.ts";
import { type Issuers, issuerUnavailable } from "./issuers.ts";
import { verifyToken } from "./verify-token.ts";

/** The issuer by which people sign in, as the operator of the deployment sets it. */
export interface SignInIssuer extends SignInClient {
  /** Undefined for a public client. */
  readonly clientSecret: () => Promise<string | undefined>;
}

/** The client of the issuer, without its secret. */
export interface SignInClient {
  readonly issuer: string;
  readonly clientId: string;
  readonly issuers: Issuers;
}

/** What the issuer has redirected the browser with, and the secret that the browser has kept. */
export interface AuthorizationCode {
  readonly code: string;
  readonly state: string;
  readonly code_verifier: string;
}

/** A person at an issuer. */
export interface OidcSubject {
  readonly issuer: string;
  readonly sub: string;
  /** The email address, if the issuer has verified it and it can name an account. */
  readonly verifiedEmail: string | undefined;
}

const TokenResponse = v.object({ id_token: v.string() });
const Person = v.object({
  nonce: v.optional(v.unknown()),
  azp: v.optional(v.unknown()),
  email: v.optional(v.unknown()),
  email_verified: v.optional(v.unknown()),
});

/** The values of `state` and `nonce` that belong to a code verifier. The web app computes them in the same way. */
const digest = (purpose: "state" | "nonce", verifier: string): string =>
  createHash("sha256").update(`${purpose}.${verifier}`).digest("base64url");

const refuse = (member: string, why: string) =>
  new RunyardError("authentication_required", {
    detail: `${member}: ${why}`,
    headers: { "www-authenticate": "Bearer" },
  });

/** The URL of the issuer's page to sign in. The web app adds `state`, `nonce` and `code_challenge`. */
export async function readAuthorizationUrl(
  { issuer, clientId, issuers }: SignInClient,
  redirectUri: string,
): Promise<string> {
  const { metadata } = await issuers.read(issuer);
  if (metadata.authorization_endpoint === undefined) throw issuerUnavailable(issuer);
  const url = new URL(metadata.authorization_endpoint);
  const parameters = {
    response_type: "code",
    client_id: clientId,
    redirect_uri: redirectUri,
    scope: "openid email profile",
    code_challenge_method: "S256",
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return url.href;
}

/**
 * Exchanges an authorization code for the person whom it stands for. `state` and `nonce` are digests of the code verifier, so that
 * they are checked without being stored: only the browser that began the sign-in has the verifier.
 * @throws RunyardError 401 naming what is wrong
 */
export async function exchangeCode(
  { code, state, code_verifier: verifier }: AuthorizationCode,
  { redirectUri, now }: { readonly redirectUri: string; readonly now: number },
  provider: SignInIssuer,
): Promise<OidcSubject> {
  const { issuer, clientId, issuers } = provider;
  if (state !== digest("state", verifier)) throw refuse("state", "belongs to another sign-in; sign in again");
  const token = await redeem(
    { grant_type: "authorization_code", code, code_verifier: verifier, redirect_uri: redirectUri },
    provider,
  );
  const expected = { issuer, audience: clientId, now, refuse: (claim: string, why: string) => refuse(claim, why) };
  const claims = await verifyToken(token, expected, issuers);
  const { nonce, azp, email, email_verified } = v.parse(Person, claims);
  if (nonce !== digest("nonce", verifier)) throw refuse("nonce", "belongs to another sign-in; sign in again");
  if (azp !== undefined && azp !== clientId) throw refuse("azp", "the token is for another client");
  // Some issuers write booleans as text.
  const isVerified = email_verified === true || email_verified === "true";
  return {
    issuer,
    sub: claims.sub,
    verifiedEmail: isVerified && isEmailAddress(email) ? email : undefined,
  };
}

/** Sends the code to the issuer's token endpoint, and returns the ID token. */
async function redeem(form: Readonly<Record<string, string>>, provider: SignInIssuer): Promise<string> {
  const { issuer, clientId, issuers } = provider;
  const { metadata } = await issuers.read(issuer);
  const { token_endpoint: endpoint, token_endpoint_auth_methods_supported: methods } = metadata;
  if (endpoint === undefined) throw issuerUnavailable(issuer);
  const secret = await provider.clientSecret();
  const usesBasic = secret !== undefined && (methods === undefined || methods.includes("client_secret_basic"));
  const inForm = usesBasic ? {} : { client_id: clientId, ...(secret === undefined ? {} : { client_secret: secret }) };
  const response = await issuers
    .fetch(endpoint, {
      method: "POST",
      headers: {
        "content-type": "application/x-www-form-urlencoded",
        ...(usesBasic ? { authorization: formatBasic(clientId, secret) } : {}),
      },
      body: new URLSearchParams({ ...form, ...inForm }).toString(),
    })
    .catch((error: unknown) => {
      throw issuerUnavailable(issuer, error);
    });
  if (response.status >= 500) throw issuerUnavailable(issuer);
  const parsed = v.safeParse(TokenResponse, await response.json().catch(() => undefined));
  if (response.status !== 200 || !parsed.success) throw refuse("code", "was used or has expired; sign in again");
  return parsed.output.id_token;
}

/** As RFC 6749 describes it: both parts are encoded before they are joined. */
function formatBasic(clientId: string, secret: string): string {
  const encode = (text: string) => new URLSearchParams([["", text]]).toString().slice(1);
  return `Basic ${Buffer.from(`${encode(clientId)}:${encode(secret)}`).toString("base64")}`;
}
