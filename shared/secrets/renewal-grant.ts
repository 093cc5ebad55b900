import * as v from "valibot";

/** What a token endpoint accepts, as the vault stores it. */
const RenewalGrant = v.object({ refresh_token: v.string(), client_secret: v.exactOptional(v.string()) });
export type RenewalGrant = v.InferOutput<typeof RenewalGrant>;

export const parseGrant = (text: string): RenewalGrant =>
  v.parse(v.pipe(v.string(), v.parseJson(), RenewalGrant), text);

export const formatGrant = ({ refresh_token, client_secret }: RenewalGrant): string =>
  JSON.stringify({ refresh_token, ...(client_secret === undefined ? {} : { client_secret }) });

/** Asks a token endpoint, whose URL the team has chosen, to exchange what is stored under `secret_id` for new tokens. */
export const RenewToken = v.object({
  action: v.literal("renew_token"),
  team_uid: v.string(),
  secret_id: v.string(),
  token_endpoint: v.string(),
  client_id: v.string(),
  resource: v.exactOptional(v.string()),
});
export type RenewToken = v.InferOutput<typeof RenewToken>;

export const IssuedTokens = v.object({
  access_token: v.pipe(v.string(), v.nonEmpty(), v.maxLength(4096)),
  refresh_token: v.exactOptional(v.pipe(v.string(), v.nonEmpty(), v.maxLength(3072))),
  /** Seconds. */
  expires_in: v.exactOptional(v.number()),
});
export type IssuedTokens = v.InferOutput<typeof IssuedTokens>;

/** New tokens, why there will be none, or why the call failed. */
export const RenewalResult = v.object({
  tokens: v.exactOptional(IssuedTokens),
  /** A later request fails as well. */
  refused: v.exactOptional(v.pipe(v.string(), v.maxLength(300))),
  failure: v.exactOptional(v.string()),
});
export type RenewalResult = v.InferOutput<typeof RenewalResult>;
