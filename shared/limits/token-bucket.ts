import { RunyardError } from "#shared/errors.ts";
import { rateLimitPerMinute } from "#shared/settings.ts";
import type { Update } from "#shared/table/table.ts";
import { takeToken } from "./token-bucket-store.ts";

/**
 * The kinds of requests with a rate limit: creating runs, sending follow-ups, creating keys, signing in, and events of a trigger and of
 * one of its threads that start or continue runs.
 */
export type RateLimitKind = "create" | "followup" | "key" | "session" | "trigger" | "thread";

/** Requests of each kind that one caller may send per minute. */
export type RateLimits = Readonly<Record<RateLimitKind, number>>;

/** Three times the runs that a team may have waiting, so that a caller who starts a thousand at once is not limited. */
const CREATES_PER_MINUTE = 3000;
const FOLLOWUPS_PER_MINUTE = 3000;
/** More than twice the keys that one owner may have. */
const KEYS_PER_MINUTE = 120;
/** More than the web sessions that one person may have. */
const SESSIONS_PER_MINUTE = 60;

/** More than a repository with a hundred people has in its busiest minute. */
const TRIGGER_EVENTS_PER_MINUTE = 600;
/** More than people write in one thread, and few enough to end a conversation of two bots. */
const THREAD_EVENTS_PER_MINUTE = 30;

export const DEFAULT_RATE_LIMITS: RateLimits = {
  create: CREATES_PER_MINUTE,
  followup: FOLLOWUPS_PER_MINUTE,
  key: KEYS_PER_MINUTE,
  session: SESSIONS_PER_MINUTE,
  trigger: TRIGGER_EVENTS_PER_MINUTE,
  thread: THREAD_EVENTS_PER_MINUTE,
};

/** The rate limits of the deployment: its settings, else the defaults. */
export const configuredRateLimits = (): RateLimits => ({
  create: rateLimitPerMinute("CREATES_PER_MINUTE") ?? CREATES_PER_MINUTE,
  followup: rateLimitPerMinute("FOLLOWUPS_PER_MINUTE") ?? FOLLOWUPS_PER_MINUTE,
  key: rateLimitPerMinute("KEYS_PER_MINUTE") ?? KEYS_PER_MINUTE,
  session: SESSIONS_PER_MINUTE,
  trigger: rateLimitPerMinute("TRIGGER_EVENTS_PER_MINUTE") ?? TRIGGER_EVENTS_PER_MINUTE,
  thread: rateLimitPerMinute("THREAD_EVENTS_PER_MINUTE") ?? THREAD_EVENTS_PER_MINUTE,
});

/**
 * Returns the write that takes a token at `now`, in milliseconds. It belongs in the transaction that has the request's effect:
 * a repeated or refused request then takes no token.
 */
export type RateLimitToken = (now: number) => Update;

const MINUTE_MS = 60_000;

/** Returns the rate-limit token of a caller, by the name that `toPrincipalKey` gives it, for requests of a kind. */
export function createRateLimitToken(
  caller: string,
  kind: RateLimitKind | undefined,
  rates: RateLimits,
): RateLimitToken {
  return (now) => {
    if (kind === undefined) throw new Error("the endpoint declares no rateLimit");
    return takeToken(caller, kind, Math.floor(now / MINUTE_MS), rates[kind]);
  };
}

/** Returns the 429 of a request whose rate-limit token was refused at `now`, in milliseconds; a client may send it again in the next minute. */
export const rateLimited = (
  now: number,
  detail = "too many requests of this kind within a minute: send the same request in the next minute",
): RunyardError =>
  new RunyardError("resource_unavailable", {
    status: 429,
    retryAfterSeconds: Math.max(1, Math.ceil((MINUTE_MS - (now % MINUTE_MS)) / 1000)),
    detail,
  });
