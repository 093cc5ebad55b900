import { createRemoteJWKSet, customFetch, type JWTVerifyGetKey } from "jose";
import * as v from "valibot";
import { RunyardError } from "#shared/errors.ts";
import { BlockedAddress, createOutwardFetch, type OutwardFetch } from "./outward-fetch.ts";

const Endpoint = v.pipe(v.string(), v.maxLength(2048), v.url());

/** The parts of an issuer's metadata (OpenID Connect Discovery) that are used here. */
const Metadata = v.object({
  issuer: v.string(),
  jwks_uri: Endpoint,
  authorization_endpoint: v.exactOptional(Endpoint),
  token_endpoint: v.exactOptional(Endpoint),
  token_endpoint_auth_methods_supported: v.exactOptional(v.array(v.string())),
});
type Metadata = v.InferOutput<typeof Metadata>;

export interface Issuer {
  readonly metadata: Metadata;
  /** Finds the key that a token is signed with. */
  readonly keys: JWTVerifyGetKey;
}

/** Reads and caches what issuers publish. */
export interface Issuers {
  /** @throws RunyardError `not_authorized` where the address leads to no issuer, `resource_unavailable` where it does not respond */
  read(issuer: string): Promise<Issuer>;
  /** Whether issuers may have private addresses and plain HTTP. */
  readonly allowsPrivate: boolean;
  /** Requests an endpoint of an issuer. */
  readonly fetch: OutwardFetch;
}

interface IssuerOptions {
  readonly now: () => number;
  /** True if issuers may have private addresses and plain HTTP. */
  readonly allowsPrivate: boolean;
  /** Milliseconds for which the metadata and keys are cached. */
  readonly keptMs?: number;
  /** Milliseconds within which unknown keys do not cause another request of the keys. */
  readonly cooldownMs?: number;
}

const KEPT_MS = 10 * 60_000;
const COOLDOWN_MS = 30_000;
/** Milliseconds for which an issuer that could not be read is not requested again. */
const FAILURE_KEPT_MS = 10_000;
/** Issuers in the cache; beyond, the one that was read first is removed. */
const MAX_ISSUERS = 200;

export function createIssuers({
  now,
  allowsPrivate,
  keptMs = KEPT_MS,
  cooldownMs = COOLDOWN_MS,
}: IssuerOptions): Issuers {
  const fetch = createOutwardFetch({ allowsPrivate });
  const cache = new Map<string, { readonly issuer: Promise<Issuer>; until: number }>();
  const load = async (issuer: string): Promise<Issuer> => {
    const metadata = await discover(issuer, fetch);
    const keys = createRemoteJWKSet(new URL(metadata.jwks_uri), {
      cacheMaxAge: keptMs,
      cooldownDuration: cooldownMs,
      [customFetch]: (url) => fetch(url),
    });
    return { metadata, keys };
  };
  return {
    allowsPrivate,
    fetch,
    async read(issuer) {
      const cached = cache.get(issuer);
      if (cached !== undefined && cached.until > now()) return cached.issuer;
      const entry = { issuer: load(issuer), until: now() + keptMs };
      cache.delete(issuer);
      cache.set(issuer, entry);
      const [oldest] = cache.keys();
      if (cache.size > MAX_ISSUERS && oldest !== undefined) cache.delete(oldest);
      try {
        return await entry.issuer;
      } catch (error) {
        entry.until = now() + FAILURE_KEPT_MS;
        throw error;
      }
    },
  };
}

async function discover(issuer: string, fetch: OutwardFetch): Promise<Metadata> {
  const url = `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`;
  const response = await fetch(url).catch((error: unknown) => {
    throw error instanceof BlockedAddress ? refuseIssuer(error.message) : issuerUnavailable(issuer, error);
  });
  if (response.status >= 500) throw issuerUnavailable(issuer);
  const parsed = v.safeParse(
    Metadata,
    response.status === 200 ? await response.json().catch(() => undefined) : undefined,
  );
  if (!parsed.success) throw refuseIssuer(`${url} is not the configuration of an OpenID Connect issuer`);
  if (parsed.output.issuer !== issuer) throw refuseIssuer(`${url} is the configuration of another issuer`);
  return parsed.output;
}

const refuseIssuer = (why: string) => new RunyardError("not_authorized", { detail: `iss: ${why}` });

/** The error of a request that needs an issuer which does not respond. */
export const issuerUnavailable = (issuer: string, cause?: unknown): RunyardError =>
  new RunyardError("resource_unavailable", { detail: `the issuer ${issuer} does not respond`, cause });
