import * as v from "valibot";
import type { NewRenewal } from "#shared/wire/secrets/secret.ts";

/** How a value is renewed. What the token endpoint accepts is in the vault, under an id of its own. */
const Renewal = v.object({
  id: v.string(),
  server_url: v.string(),
  token_endpoint: v.string(),
  client_id: v.string(),
  resource: v.exactOptional(v.string()),
  renewed_at: v.number(),
  expires_at: v.exactOptional(v.number()),
  refusal: v.exactOptional(v.object({ at: v.number(), reason: v.string() })),
});
export type Renewal = v.InferOutput<typeof Renewal>;

export const parseRenewal = (text: string): Renewal => v.parse(v.pipe(v.string(), v.parseJson(), Renewal), text);

export const formatRenewal = (renewal: Renewal): string => JSON.stringify(renewal);

/** A new renewal without its secrets, which are stored under `id`. */
export const toRenewal = (
  { server_url, token_endpoint, client_id, resource, expires_in }: NewRenewal,
  id: string,
  now: number,
): Renewal => ({
  ...{ id, server_url, token_endpoint, client_id, renewed_at: now },
  ...(resource === undefined ? {} : { resource }),
  ...toExpiry(expires_in, now),
});

export const toExpiry = (seconds: number | undefined, now: number): Pick<Renewal, "expires_at"> =>
  seconds === undefined ? {} : { expires_at: now + seconds * 1000 };
