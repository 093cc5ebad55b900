import { RunyardError } from "#shared/errors.ts";
import { type Principal, toPrincipalKey } from "#shared/principals/principal.ts";
import { rateLimitPerMinute } from "#shared/settings.ts";
import { keys } from "#shared/table/keys.ts";
import type { ConditionFailed, TransactionWrite, Update } from "#shared/table/table.ts";

/** What a caller has buckets for: runs that it starts, follow-ups that it sends, keys that it makes. */
export type RateLimitKind = "create" | "followup" | "key";

/** Tokens that a caller's bucket of each kind is filled up with at the start of a minute. */
export type RateLimits = Readonly<Record<RateLimitKind, number>>;

/** Three times the runs that a team may have waiting: who starts a thousand at once is not held up. */
const CREATES_PER_MINUTE = 3000;
const FOLLOWUPS_PER_MINUTE = 3000;
/** More than twice the keys that a holder may have. */
const KEYS_PER_MINUTE = 120;

export const DEFAULT_RATE_LIMITS: RateLimits = {
  create: CREATES_PER_MINUTE,
  followup: FOLLOWUPS_PER_MINUTE,
  key: KEYS_PER_MINUTE,
};

/** The rates of the deployment: its settings, else the defaults. */
export const configuredRateLimits = (): RateLimits => ({
  create: rateLimitPerMinute("CREATES_PER_MINUTE") ?? CREATES_PER_MINUTE,
  followup: rateLimitPerMinute("FOLLOWUPS_PER_MINUTE") ?? FOLLOWUPS_PER_MINUTE,
  key: rateLimitPerMinute("KEYS_PER_MINUTE") ?? KEYS_PER_MINUTE,
});

/**
 * The write that takes a token at `now`, in milliseconds, if there is one. It belongs into the transaction that does what
 * it pays for: a token is spent with the effect or not at all, and a repeat, or a request that is refused, costs nothing.
 */
export type RateLimitToken = (now: number) => Update;

const MINUTE_MS = 60_000;

/** The rate-limit token of a caller for requests of a kind. */
export function createRateLimitToken(
  principal: Principal,
  kind: RateLimitKind | undefined,
  rates: RateLimits,
): RateLimitToken {
  return (now) => {
    if (kind === undefined) throw new Error("the endpoint declares no rateLimit");
    const minute = Math.floor(now / MINUTE_MS);
    return {
      kind: "update",
      key: keys.bucket(toPrincipalKey(principal), kind, minute),
      set: { v: 1, expires_at: ((minute + 2) * MINUTE_MS) / 1000 },
      add: { taken: 1 },
      if: { taken: { absentOr: { below: rates[kind] } } },
    };
  };
}

/** Answers 429 where a transaction failed because a bucket was empty at `now`; does nothing where that was not why. */
export function throwIfRateLimited(error: ConditionFailed, writes: readonly TransactionWrite[], now: number): void {
  if (error.positions.some((position) => isRateLimitToken(writes[position]))) throw rateLimited(now);
}

/** The 429 of a request whose rate-limit token was refused at `now`, in milliseconds; a client may send it again in the next minute. */
export const rateLimited = (now: number): RunyardError =>
  new RunyardError("resource_unavailable", {
    status: 429,
    retryAfterSeconds: Math.max(1, Math.ceil((MINUTE_MS - (now % MINUTE_MS)) / 1000)),
    detail: "too many requests of this kind within a minute: send the same request in the next minute",
  });

const isRateLimitToken = (write: TransactionWrite | undefined): boolean =>
  write?.kind === "update" && write.key.pk.startsWith("BUCKET#");
