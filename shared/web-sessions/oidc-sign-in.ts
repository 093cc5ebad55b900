import { RunyardError } from "#shared/errors.ts";
import { createRateLimitToken, rateLimited } from "#shared/limits/token-bucket.ts";
import {
  type AuthorizationCode,
  exchangeCode,
  type OidcSubject,
  readAuthorizationUrl,
  type SignInClient,
  type SignInIssuer,
} from "#shared/oidc/exchange-code.ts";
import { ConflictError } from "#shared/table/transact.ts";
import { createAccount } from "#shared/teams/accept-invitation.ts";
import { findInvitationFor } from "#shared/teams/invitations.ts";
import { toTimestamp } from "#shared/wire/primitives.ts";
import type { SignInMethods, SignInToken } from "#shared/wire/web/web-session.ts";
import { bindAccount, oidcAccountStore } from "./oidc-account-store.ts";
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

/** Binds a person at the issuer to the user with their verified address, whose account is created if the address was invited. */
async function bindSubject(subject: OidcSubject, ports: OidcSignInPorts): Promise<string> {
  const { table } = ports;
  const { verifiedEmail: email } = subject;
  if (email === undefined) {
    throw new RunyardError("not_authorized", { detail: "email_verified: the issuer has not verified the address" });
  }
  const accounts = oidcAccountStore(table);
  try {
    const known = await accounts.findUserByEmail(email);
    if (known !== undefined) {
      await accounts.bind(subject, known);
      return known;
    }
    const invitation = await findInvitationFor(email, table, ports.now());
    if (invitation === undefined) throw notInvited();
    const { uid } = await createAccount(
      invitation,
      ({ uid: user }) => ({ account: bindAccount(subject, user) }),
      ports,
    );
    return uid;
  } catch (error) {
    if (!(error instanceof ConflictError)) throw error;
    // A concurrent sign-in of the same person has bound them.
    const bound = await accounts.findUser(subject);
    if (bound === undefined) throw boundToAnother();
    return bound;
  }
}

const notInvited = () =>
  new RunyardError("not_authorized", {
    detail: "email: this address was not invited; ask an admin of a team for an invitation",
  });

const boundToAnother = () =>
  new RunyardError("not_authorized", {
    detail: "sub: the user with this address signs in with another account of the issuer",
  });
