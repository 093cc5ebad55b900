import { randomBytes } from "node:crypto";
import { sha256 } from "#shared/ids.ts";
import { type RateLimitToken, rateLimited } from "#shared/limits/token-bucket.ts";
import { keyHashOf, type PersonalPrincipal } from "#shared/principals/principal.ts";
import { ConflictError } from "#shared/table/transact.ts";
import { toTimestamp } from "#shared/wire/primitives.ts";
import type { SignInLink } from "#shared/wire/web/web-session.ts";
import type { WebSessionPorts } from "./sign-in.ts";
import { webSessionStore } from "./web-session-store.ts";

const LIFETIME_MS = 10 * 60_000;
const TOKEN_BYTES = 32;

/** A new one-time token to sign in, and the hash that it is stored by. */
export function newSignInToken(): { readonly token: string; readonly hash: string } {
  const token = `ryl_${randomBytes(TOKEN_BYTES).toString("base64url")}`;
  return { token, hash: sha256(token) };
}

/**
 * Creates a link that signs a person in once, within ten minutes. The session that it starts ends with the API key of the request,
 * as one that is started with the key itself.
 */
export async function createLink(
  person: PersonalPrincipal,
  rateLimitToken: RateLimitToken | undefined,
  { table, now: clock, webUrl }: Pick<WebSessionPorts, "table" | "now" | "webUrl">,
): Promise<SignInLink> {
  const now = clock();
  const { token, hash } = newSignInToken();
  const keyHash = keyHashOf(person);
  const [team] = person.teams;
  const stored = {
    user_uid: person.user.uid,
    ...(team === undefined ? {} : { team_uid: team.uid }),
    ...(keyHash === undefined ? {} : { key_hash: keyHash }),
    expires_at_ms: now + LIFETIME_MS,
  };
  try {
    await webSessionStore(table).createSignIn(hash, stored, rateLimitToken?.(now));
  } catch (error) {
    throw error instanceof ConflictError ? rateLimited(now) : error;
  }
  return {
    token,
    ...(webUrl === undefined ? {} : { url: `${webUrl}/sign-in?token=${token}` }),
    expires_at: toTimestamp(stored.expires_at_ms),
  };
}
