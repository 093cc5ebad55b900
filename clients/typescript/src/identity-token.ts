import { RunyardError } from "./errors.ts";
import type { Fetch } from "./options.ts";

/** Seconds for which an identity token may be valid, and by which the clocks of issuer and receiver may differ. */
const MAX_LIFETIME_SECONDS = 15 * 60;
const TOLERANCE_SECONDS = 60;

/** How the signatures of an algorithm are verified. An algorithm that is not listed, such as `none`, is refused. */
const ALGORITHMS = {
  ES256: { key: { name: "ECDSA", namedCurve: "P-256" }, signature: { name: "ECDSA", hash: "SHA-256" } },
  RS256: { key: { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" }, signature: { name: "RSASSA-PKCS1-v1_5" } },
} as const;

/** What an identity token says of the run that presents it. A part that the run does not have is `none`. */
export interface IdentityClaims {
  readonly iss: string;
  /** `team:{uid}:identity:{uid}:environment:{uid}` */
  readonly sub: string;
  readonly aud: string | readonly string[];
  readonly iat: number;
  readonly exp: number;
  readonly run_id: string;
  readonly root_run_id: string;
  readonly team_uid: string;
  readonly identity_uid: string;
  readonly environment_uid: string;
  readonly source: string;
  readonly schedule_id?: string;
  readonly trigger_id?: string;
  /** `owner/name` of the environment's repository. */
  readonly repository?: string;
}

export interface IdentityTokenOptions {
  /** The base URL of the deployment whose runs are trusted, which ends in `/api/v1`. */
  readonly issuer: string;
  /** The audience that the run has requested the token for: a name of the receiver. */
  readonly audience: string;
  /** @default the global `fetch` */
  readonly fetch?: Fetch;
  /** Milliseconds. @default the present */
  readonly now?: number;
}

/** A token that does not prove the identity of a run of the issuer to the audience. */
export class IdentityTokenError extends RunyardError {
  override readonly name = "IdentityTokenError";
}

/**
 * Verifies the identity token of a run with the keys that its issuer publishes, and returns its claims. Two requests
 * read the issuer's keys at each call. Compare the claims with what the receiver allows, such as `sub`.
 * @throws IdentityTokenError if the token is not valid
 */
export async function verifyIdentityToken(token: string, options: IdentityTokenOptions): Promise<IdentityClaims> {
  const { issuer, audience, fetch: send = fetch, now = Date.now() } = options;
  const [header = "", payload = "", signature = "", ...others] = token.split(".");
  const { alg, kid } = decodeObject(header);
  const claims = decodeObject(payload);
  if (others.length > 0 || (alg !== "ES256" && alg !== "RS256")) {
    throw new IdentityTokenError("the token is not signed with ES256 or RS256");
  }
  checkClaims(claims, { issuer, audience, seconds: now / 1000 });
  const jwk = (await readKeys(issuer, send)).find((one) => one["kid"] === kid && (one["alg"] ?? alg) === alg);
  if (typeof kid !== "string" || jwk === undefined) throw new IdentityTokenError("the issuer has no such key");
  const signed = new TextEncoder().encode(`${header}.${payload}`);
  const bytes = decodeBase64Url(signature);
  const isValid = await crypto.subtle
    .importKey("jwk", { ...jwk, key_ops: ["verify"], ext: true }, ALGORITHMS[alg].key, false, ["verify"])
    .then((key) => bytes !== undefined && crypto.subtle.verify(ALGORITHMS[alg].signature, key, bytes, signed))
    .catch(() => false);
  if (!isValid) throw new IdentityTokenError("the signature is not valid");
  return JSON.parse(decodeText(payload));
}

interface Expected {
  readonly issuer: string;
  readonly audience: string;
  readonly seconds: number;
}

function checkClaims(claims: Members, { issuer, audience, seconds }: Expected): void {
  const { iss, aud, exp, iat, run_id } = claims;
  if (iss !== issuer) throw new IdentityTokenError("the token is from another issuer");
  if (![aud].flat().includes(audience)) throw new IdentityTokenError("the token is for another audience");
  if (typeof exp !== "number" || typeof iat !== "number" || typeof run_id !== "string") {
    throw new IdentityTokenError("the token is not one of a run");
  }
  if (exp - iat > MAX_LIFETIME_SECONDS) throw new IdentityTokenError("the token is valid for more than 15 minutes");
  if (exp + TOLERANCE_SECONDS <= seconds) throw new IdentityTokenError("the token has expired");
  if (iat - TOLERANCE_SECONDS > seconds) throw new IdentityTokenError("the token is not valid yet");
}

/** Reads the keys of the issuer, at the address that its configuration names. */
async function readKeys(issuer: string, send: Fetch): Promise<readonly Members[]> {
  const configuration = await readObject(`${issuer}/.well-known/openid-configuration`, send);
  const { issuer: named, jwks_uri: address } = configuration;
  if (named !== issuer || typeof address !== "string" || new URL(address).origin !== new URL(issuer).origin) {
    throw new IdentityTokenError("the configuration of the issuer is not its own");
  }
  const { keys } = await readObject(address, send);
  return Array.isArray(keys) ? keys.filter(isObject) : [];
}

async function readObject(url: string, send: Fetch): Promise<Members> {
  const response = await send(url, { redirect: "error" }).catch((cause: unknown) => {
    throw new IdentityTokenError(`the keys of the issuer cannot be read from ${url}`, { cause });
  });
  const body: unknown = response.ok ? await response.json().catch(() => undefined) : undefined;
  if (!isObject(body)) throw new IdentityTokenError(`the keys of the issuer cannot be read from ${url}`);
  return body;
}

type Members = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Members => typeof value === "object" && value !== null;

function decodeObject(part: string): Members {
  try {
    const value: unknown = JSON.parse(decodeText(part));
    if (isObject(value)) return value;
  } catch {
    // Reported below.
  }
  throw new IdentityTokenError("the token is malformed");
}

const decodeText = (part: string): string => new TextDecoder().decode(decodeBase64Url(part));

function decodeBase64Url(part: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    const text = atob(part.replaceAll("-", "+").replaceAll("_", "/"));
    return Uint8Array.from(text, (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}
