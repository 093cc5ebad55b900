import * as v from "valibot";
import { PageInfo } from "../list.ts";
import { optional } from "../primitives.ts";
import { Membership } from "../team.ts";

const Secret = v.pipe(v.string(), v.maxLength(512));

/** What to sign in with: either an API key or a one-time token. */
export const CreateSessionRequest = v.pipe(
  v.object({
    /** A personal API key. The session ends with the key. */
    key: optional(Secret),
    /** The token of a sign-in link. It works once. */
    token: optional(Secret),
  }),
  v.check(({ key, token }) => Boolean(key) !== Boolean(token), "must have either a key or a token"),
);
export type CreateSessionRequest = v.InferOutput<typeof CreateSessionRequest>;

/** What an OIDC issuer has redirected the browser with, and the secret that the browser has kept. */
export const OidcCodeRequest = v.object({
  /** The authorization code. */
  code: v.pipe(v.string(), v.minLength(1), v.maxLength(4096)),
  /** The `state` of the redirect. */
  state: v.pipe(v.string(), v.minLength(1), v.maxLength(512)),
  /** The PKCE code verifier. */
  code_verifier: v.pipe(
    v.string(),
    v.regex(/^[A-Za-z0-9._~-]{43,128}$/, "must have 43 to 128 letters, digits and characters of `-._~`"),
  ),
});

/** A token for `POST /session`. */
export const SignInToken = v.object({
  /** The one-time token for `POST /session`. */
  token: v.string(),
  /** The expiry time, a minute after creation. @format date-time */
  expires_at: v.string(),
});
export type SignInToken = v.InferOutput<typeof SignInToken>;

/** How people sign in, besides API keys and links. */
export const SignInMethods = v.object({
  /** The OIDC issuer by which people sign in. Absent where the deployment has none. */
  oidc: v.exactOptional(
    v.object({
      /** The address of the issuer. */
      issuer: v.string(),
      /** The issuer's page to sign in. The client adds `state`, `nonce` and `code_challenge`. */
      authorization_url: v.string(),
    }),
  ),
});
export type SignInMethods = v.InferOutput<typeof SignInMethods>;

/** The caller, and when the caller's session or API key ends. */
export const SessionInfo = v.object({
  /** The person who is signed in. */
  user: v.object({
    /** The person's id. */
    uid: v.string(),
    /** The display name. */
    display_name: v.string(),
    /** The person's email address. */
    email: v.string(),
  }),
  /** The teams that the person is in. */
  teams: v.array(Membership),
  /**
   * The time at which the session ends unless it is used again; for an API key, its expiry time. Absent for a key that does
   * not expire. @format date-time
   */
  expires_at: v.exactOptional(v.string()),
});
export type SessionInfo = v.InferOutput<typeof SessionInfo>;

/** A web session of the caller. */
export const WebSessionItem = v.object({
  /** The session's id. */
  uid: v.string(),
  /** The time of creation. @format date-time */
  created_at: v.string(),
  /** The time of its latest use that changed something or extended the session, to five minutes. @format date-time */
  last_used_at: v.string(),
  /** The time at which the session ends unless it is used again. @format date-time */
  expires_at: v.string(),
  /** The browser and its system, as far as its User-Agent header names them. */
  browser: v.exactOptional(v.string()),
  /** Whether this is the session of the request. */
  current: v.boolean(),
});
export type WebSessionItem = v.InferOutput<typeof WebSessionItem>;

/** A page of web sessions. */
export const ListWebSessionsResponse = v.object({
  /** The caller's web sessions, oldest first. */
  sessions: v.array(WebSessionItem),
  /** The position of the page in the list. */
  page_info: v.exactOptional(PageInfo),
});

/** A link that signs its reader in once. */
export const SignInLink = v.object({
  /** The one-time token for `POST /session`. */
  token: v.string(),
  /** The page of the web app that signs in with the token. Absent where the deployment has no web app. */
  url: v.exactOptional(v.string()),
  /** The expiry time of the link. @format date-time */
  expires_at: v.string(),
});
export type SignInLink = v.InferOutput<typeof SignInLink>;
