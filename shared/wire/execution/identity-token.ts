import * as v from "valibot";
import { textOfBytes } from "../primitives.ts";

/** Whom the token is for. */
export const IdentityTokenRequest = v.object({
  /** The `aud` claim of the token, as the other system expects it. */
  audience: textOfBytes(512, 1),
});

/** A token that proves to other systems which run presents it. */
export const IdentityTokenResponse = v.object({
  /** A signed JWT. */
  token: v.string(),
  /** The expiry time. Absent for a key that does not expire. @format date-time */
  expires_at: v.string(),
});
export type IdentityTokenResponse = v.InferOutput<typeof IdentityTokenResponse>;
