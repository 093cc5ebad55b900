import { createHash, randomUUID } from "node:crypto";
import { expect } from "vitest";
import { request } from "./client.ts";
import type { ResponseBody, TestControlPlane } from "./control-plane.ts";
import { OidcIssuer } from "./oidc-issuer.ts";
import { WEB_ORIGIN } from "./web-sessions.ts";

/** Makes an issuer that of the deployment. */
export function useIssuer(plane: TestControlPlane, issuer: OidcIssuer): void {
  issuer.now = () => plane.clock.now;
  plane.ports.signInIssuer = {
    issuer: issuer.url,
    clientId: "runyard",
    clientSecret: async () => undefined,
    issuers: plane.ports.issuers,
  };
}

const digest = (text: string) => createHash("sha256").update(text).digest("base64url");

export type OidcSignIn = Awaited<ReturnType<typeof startOidcSignIn>>;

/** Starts an issuer and makes people of the control plane sign in with it, as the web app does. */
export async function startOidcSignIn(plane: TestControlPlane) {
  const issuer = await OidcIssuer.start();
  useIssuer(plane, issuer);

  const open = (method: string, target: string, body?: unknown, headers: Record<string, string> = {}) =>
    request(plane, method, target, { key: undefined, headers, ...(body === undefined ? {} : { body }) });

  /** Signs in like the web app, up to the redirect from the issuer. */
  async function authorize(at = issuer) {
    const { body } = await open("GET", "/session/methods");
    const url = new URL(body.oidc.authorization_url);
    const verifier = randomUUID() + randomUUID();
    url.searchParams.set("state", digest(`state.${verifier}`));
    url.searchParams.set("nonce", digest(`nonce.${verifier}`));
    url.searchParams.set("code_challenge", digest(verifier));
    const back = new URL(at.authorize(url.searchParams));
    expect(`${back.origin}${back.pathname}`).toBe(`${WEB_ORIGIN}/sign-in/callback`);
    const { code = "", state = "" } = Object.fromEntries(back.searchParams);
    return { code, state, code_verifier: verifier };
  }

  const exchange = (body: unknown, headers: Record<string, string> = {}): Promise<ResponseBody> =>
    open("POST", "/session/oidc", body, headers);

  /** Starts a session with a one-time token. Returns its cookie. */
  async function startSession(token: string): Promise<string> {
    const response = await open("POST", "/session", { token }, { origin: WEB_ORIGIN });
    const [cookie = ""] = response.headers["set-cookie"]?.split(";") ?? [];
    return cookie;
  }

  return {
    issuer,
    /** Sends a request without a key. */
    open,
    authorize: () => authorize(),
    exchange,
    /** Signs in with this issuer, or with another one that became that of the deployment. */
    signIn: async (at?: OidcIssuer) => exchange(await authorize(at)),
    startSession,
    /** Returns the person whom a one-time token signs in. */
    whoIs: async (token: string) =>
      (await open("GET", "/session", undefined, { cookie: await startSession(token) })).body,
  };
}
