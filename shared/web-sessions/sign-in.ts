import { RunyardError } from "#shared/errors.ts";
import { sha256, uuidv7 } from "#shared/ids.ts";
import { createRateLimitToken, type RateLimits, rateLimited } from "#shared/limits/token-bucket.ts";
import type { PrincipalStore } from "#shared/principals/principal-store.ts";
import { newSessionToken, parseSessionToken } from "#shared/principals/session-token.ts";
import type { WebSession } from "#shared/records/web-session.ts";
import type { Table } from "#shared/table/table.ts";
import { ConflictError } from "#shared/table/transact.ts";
import type { CreateSessionRequest } from "#shared/wire/web/web-session.ts";
import { describeBrowser } from "./describe-browser.ts";
import { type SignIn, webSessionStore } from "./web-session-store.ts";

/** Ports of the rules of web sessions. */
export interface WebSessionPorts {
  readonly table: Table;
  readonly now: () => number;
  readonly principals: PrincipalStore;
  readonly rates: RateLimits;
  readonly webUrl: string | undefined;
}

/** A session ends after this time even if it is in use. */
export const MAX_SESSION_SECONDS = 7 * 24 * 3600;

/** Sessions that one person may have; a new one replaces those that were not used for the longest time. */
const MAX_SESSIONS = 50;

interface Browser {
  readonly userAgent: string | undefined;
  /** The session token that the browser has already. Its session is replaced. */
  readonly sessionToken: string | undefined;
}

/**
 * Starts a web session. The token is always a new one, so that nobody can know it in advance.
 * @returns the token for the browser's cookie
 * @throws RunyardError 401 where the credential is not valid, 403 where it is not a person's, 429
 */
export async function signIn(request: CreateSessionRequest, browser: Browser, ports: WebSessionPorts): Promise<string> {
  const store = webSessionStore(ports.table);
  const now = ports.now();
  const person = request.key ? await checkKey(request.key, ports) : await checkToken(request.token ?? "", ports);
  const token = newSessionToken(person.user_uid);
  const { hash = "" } = parseSessionToken(token) ?? {};
  const description = describeBrowser(browser.userAgent);
  const { user_uid, team_uid, key_hash } = person;
  const session: WebSession = {
    uid: uuidv7(now),
    user_uid,
    hash,
    ...(team_uid === undefined ? {} : { team_uid }),
    ...(key_hash === undefined ? {} : { key_hash }),
    ...(description === undefined ? {} : { browser: description }),
    created_at: now,
    last_used_at: now,
    ends_at: now + MAX_SESSION_SECONDS * 1000,
  };
  const surplus = (await store.list(user_uid))
    .toSorted((a, b) => b.last_used_at - a.last_used_at)
    .slice(MAX_SESSIONS - 1);
  const previous = parseSessionToken(browser.sessionToken ?? "");
  const replaced = [...surplus, ...(previous === undefined ? [] : [previous])];
  const rateLimit = createRateLimitToken(`user:${user_uid}`, "session", ports.rates)(now);
  try {
    await store.create({ session, rateLimit, signIn: person.signIn, replaced: withoutDuplicates(replaced) });
  } catch (error) {
    if (!(error instanceof ConflictError)) throw error;
    throw error.failed.has("rateLimit") ? rateLimited(now) : linkUsed();
  }
  return token;
}

type Person = Pick<SignIn, "user_uid" | "team_uid" | "key_hash"> & { readonly signIn?: string };

async function checkKey(key: string, { principals }: WebSessionPorts): Promise<Person> {
  const principal = await principals.authenticate(`Bearer ${key}`, undefined);
  if (principal.kind !== "personal" || principal.credential.kind !== "key") {
    throw new RunyardError("not_authorized", { detail: "key: people sign in, with a personal key" });
  }
  await principals.noteUse(principal);
  const [team] = principal.teams;
  return {
    user_uid: principal.user.uid,
    ...(team === undefined ? {} : { team_uid: team.uid }),
    key_hash: principal.credential.hash,
  };
}

async function checkToken(token: string, { table, now }: WebSessionPorts): Promise<Person> {
  const store = webSessionStore(table);
  const hash = sha256(token);
  const found = await store.readSignIn(hash);
  if (found === undefined || found.expires_at_ms <= now()) throw linkUsed();
  const user = await store.readUser(found.user_uid);
  if (user === undefined) throw linkUsed();
  return { ...found, signIn: hash };
}

const linkUsed = () =>
  new RunyardError("authentication_required", {
    detail: "token: the sign-in link was used or has expired; get a new one",
    headers: { "www-authenticate": "Bearer" },
  });

/** A transaction names each item once. */
const withoutDuplicates = <T extends { readonly hash: string }>(sessions: readonly T[]): T[] => [
  ...new Map(sessions.map((session) => [session.hash, session])).values(),
];
