import type { SignInIssuer } from "#shared/oidc/exchange-code.ts";
import { createIssuers } from "#shared/oidc/issuers.ts";
import { isLoopbackHost } from "./host/http/request-checks.ts";
import { Problem } from "./host/terminal.ts";

/** Reads the issuer that RUNYARD_OIDC_* variables configure; undefined if there is none. Throws `Problem` if they are not valid. */
export function readSignInIssuer(environment: NodeJS.ProcessEnv): Omit<SignInIssuer, "issuers"> | undefined {
  const issuer = environment["RUNYARD_OIDC_ISSUER"] || undefined;
  const clientId = environment["RUNYARD_OIDC_CLIENT_ID"] || undefined;
  const secret = environment["RUNYARD_OIDC_CLIENT_SECRET"] || undefined;
  if (issuer === undefined && clientId === undefined) return undefined;
  if (issuer === undefined) throw new Problem("--oidc-client-id needs --oidc-issuer, the address of the issuer.");
  if (clientId === undefined) throw new Problem("--oidc-issuer needs --oidc-client-id, the client at the issuer.");
  const url = URL.parse(issuer);
  const isSecure = url?.protocol === "https:" || (url?.protocol === "http:" && isLoopbackHost(url.hostname));
  if (url === null || !isSecure || url.search + url.hash + url.username !== "") {
    throw new Problem(`--oidc-issuer takes an https address such as https://issuer.example.com, not "${issuer}".`);
  }
  return { issuer, clientId, clientSecret: async () => secret };
}

/** Creates the issuer by which people sign in. It may have a private address, since the operator names it. */
export function createSignInIssuer(environment: NodeJS.ProcessEnv, now: () => number): SignInIssuer | undefined {
  const settings = readSignInIssuer(environment);
  return settings === undefined ? undefined : { ...settings, issuers: createIssuers({ now, allowsPrivate: true }) };
}
