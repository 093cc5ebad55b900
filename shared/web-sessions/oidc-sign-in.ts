import { RunyardError } from "#shared/errors.ts";
import { createRateLimitToken, rateLimited } from "#shared/limits/token-bucket.ts";
import {
  type AuthorizationCode,
  exchangeCode,
  readAuthorizationUrl,
  type SignInClient,
  type SignInIssuer,
} from "#shared/oidc/exchange-code.ts";
import { ConflictError } from "#shared/table/transact.ts";
import { toTimestamp } from "#shared/wire/primitives.ts";
import type { SignInMethods, SignInToken } from "#shared/wire/web/web-session.ts";
import { bindSubject, notInvited } from "./bind-subject.ts";
import { oidcAccountStore } from "./oidc-account-store.ts";
import type { WebSessionPorts } from "./sign-in.ts";
import { newSignInToken } from "./sign-in-link.ts";
import { webSessionStore } from "./web-session-store.ts";

export interface OidcSignInPorts extends Omit<WebSessionPorts, "principals"> {
  /** The issuer by which people sign in; undefined where the deployment has none. */
  readonly signInIssuer: SignInIssuer | undefined;
}

export interface SignInMethodPorts extends Pick<OidcSignInPorts, "webUrl"> {
  readonly signInIssuer: SignInClient | undefined;
}

/** The web app uses the token immediately. */
const LIFETIME_MS = 60_000;

/** The ways to sign in besides keys and links. */
export async function readSignInMethods(ports: SignInMethodPorts): Promise<SignInMethods> {
  const { signInIssuer: provider, webUrl } = ports;
  if (provider === undefined || webUrl === undefined) return {};
  const url = await readAuthorizationUrl(provider, toRedirectUri(webUrl));
  return { oidc: { issuer: provider.issuer, authorization_url: url } };
}

/** The page of the web app that the issuer redirects to. */
const toRedirectUri = (webUrl: string): string => `${webUrl}/sign-in/callback`;

/**
 * Exchanges an authorization code for a one-time token that starts a web session.
 * @throws RunyardError 401 for a code that is not valid, 403 for a person who was not invited
 */
export async function signInByCode(code: AuthorizationCode, ports: OidcSignInPorts): Promise<SignInToken> {
  const { signInIssuer: provider, webUrl, table, now: clock, rates } = ports;
  if (provider === undefined || webUrl === undefined) {
    throw new RunyardError("operation_not_supported", { detail: "this deployment has no OIDC issuer to sign in with" });
  }
  const subject = await exchangeCode(code, { redirectUri: toRedirectUri(webUrl), now: clock() }, provider);
  const userUid = (await oidcAccountStore(table).findUser(subject)) ?? (await bindSubject(subject, ports));
  const store = webSessionStore(table);
  const user = await store.readUser(userUid);
  if (user === undefined) throw notInvited();
  const now = clock();
  const { token, hash } = newSignInToken();
  const [team] = user.teams;
  const stored = {
    user_uid: user.uid,
    ...(team === undefined ? {} : { team_uid: team.uid }),
    expires_at_ms: now + LIFETIME_MS,
  };
  const rateLimit = createRateLimitToken(`user:${user.uid}`, "session", rates)(now);
  try {
    await store.createSignIn(hash, stored, rateLimit);
  } catch (error) {
    throw error instanceof ConflictError ? rateLimited(now) : error;
  }
  return { token, expires_at: toTimestamp(stored.expires_at_ms) };
}
