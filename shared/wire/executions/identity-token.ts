import * as v from "valibot";
import { textOfBytes } from "../primitives.ts";

/** Whom the token is for. */
export const IdentityTokenRequest = v.object({
  /** The `aud` claim of the token, as the other system expects it. */
  audience: textOfBytes(512, 1),
});

/** A token that proves to other systems which run presents it. */
export const IdentityTokenResponse = v.object({
  /** The token, a signed JWT. */
  token: v.string(),
  /** The expiry time of the token. @format date-time */
  expires_at: v.string(),
});
export type IdentityTokenResponse = v.InferOutput<typeof IdentityTokenResponse>;
