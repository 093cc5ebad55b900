import * as v from "valibot";
import { readStored, store } from "../api/browser-storage.ts";

/** What the browser keeps while the person signs in at the issuer. */
const Pending = v.object({ verifier: v.string(), to: v.optional(v.string()) });
type Pending = v.InferOutput<typeof Pending>;

/** In the session storage, so that it is of this tab alone and ends with it. */
const KEY = "runyard-oidc";

const toBase64Url = (bytes: Uint8Array): string =>
  btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");

async function digest(text: string): Promise<string> {
  return toBase64Url(new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text))));
}

/** The page that the issuer redirects to is on the deployment's own address, where the verifier must be stored. */
function ownAddressOf(authorizationUrl: URL): string | undefined {
  const target = URL.parse(authorizationUrl.searchParams.get("redirect_uri") ?? "");
  return target === null || target.origin === location.origin ? undefined : `${target.origin}/sign-in`;
}

/**
 * Leads to the issuer's page to sign in. `state` and `nonce` are digests of a secret that only this tab has, as the API expects
 * them. Throws where the browser blocks storage, or cannot compute digests.
 */
export async function startOidcSignIn(authorizationUrl: string, to: string | undefined): Promise<void> {
  const url = new URL(authorizationUrl);
  const other = ownAddressOf(url);
  if (other !== undefined) return location.assign(other);
  const verifier = toBase64Url(crypto.getRandomValues(new Uint8Array(32)));
  const pending: Pending = { verifier, ...(to === undefined ? {} : { to }) };
  if (!store("sessionStorage", KEY, JSON.stringify(pending))) throw new Error("the browser blocks storage");
  url.searchParams.set("state", await digest(`state.${verifier}`));
  url.searchParams.set("nonce", await digest(`nonce.${verifier}`));
  url.searchParams.set("code_challenge", await digest(verifier));
  location.assign(url.href);
}

/** Takes what the tab has kept, if `state` belongs to it. It can be taken once. */
export async function takePendingSignIn(state: string): Promise<Pending | undefined> {
  const stored = readStored("sessionStorage", KEY);
  store("sessionStorage", KEY, undefined);
  const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), Pending), stored);
  if (!parsed.success || (await digest(`state.${parsed.output.verifier}`)) !== state) return undefined;
  return parsed.output;
}
