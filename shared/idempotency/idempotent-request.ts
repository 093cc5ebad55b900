import { RunyardError, retryableConflict } from "#shared/errors.ts";
import { sha256 } from "#shared/ids.ts";
import { type Principal, toPrincipalKey } from "#shared/principals/principal.ts";
import type { Key, Put, Table } from "#shared/table/table.ts";
import { canonicalJson } from "./canonical-json.ts";
import { readIdempotencyHeaders } from "./idempotency-headers.ts";
import { type IdempotencyRecord, markOriginal, putRecord, readRecord, recordKey } from "./idempotency-store.ts";

const KEYED_SECONDS = 24 * 3600;
const KEYLESS_SECONDS = 10 * 60;

/** Seconds for which the record of a request is kept: afterwards the same request is a new one. */
export const recordSeconds = ({ keyed }: Pick<IdempotentRequest, "keyed">): number =>
  keyed ? KEYED_SECONDS : KEYLESS_SECONDS;

const MAX_ATTEMPTS = 5;

/**
 * One logical request. An Idempotency-Key identifies it; without a key its content does, so that a client's automatic retry
 * (`x-stainless-retry-count` above 0) finds the result of its first attempt, or the first attempt that of the retry that overtook it.
 */
export interface IdempotentRequest {
  readonly record: Key;
  readonly hash: string;
  readonly keyed: boolean;
  /** True for a client's automatic retry. */
  readonly repeat: boolean;
}

/**
 * Identifies the logical request behind a call. `X-Team-Uid` is part of it, since an Idempotency-Key is kept per principal and team.
 * Requests without a principal have one namespace, so that `operation` has to distinguish them.
 */
export function toIdempotentRequest(
  header: (name: string) => string | undefined,
  principal: Principal | undefined,
  operation: string,
  content: unknown,
): IdempotentRequest {
  const { key, repeat } = readIdempotencyHeaders(header);
  // The key of a run belongs to no team, so its team header is not checked and must not count.
  const team = principal?.kind === "run" ? "" : (header("x-team-uid") ?? header("x-warp-team-uid") ?? "");
  const hash = sha256(canonicalJson(content));
  const name = key === undefined ? `body:${hash}` : `key:${sha256(key)}`;
  return {
    record: recordKey(`${principal ? toPrincipalKey(principal) : "public"}#${team}`, operation, name),
    hash,
    keyed: key !== undefined,
    repeat,
  };
}

/** The idempotency record existed already; `runIdempotent` decides what that means. */
export class IdempotencyRecordExists extends Error {}

/**
 * Runs `first` once. `first` must write the record in the same transaction as its effect, and throw IdempotencyRecordExists when
 * the record's condition fails. `replay` returns the result of the first request to a repeated one, even if the request would be
 * refused by now: the run that it cancelled has ended, or the conversation that it continued has gone on. Set `checkFirst` when
 * `first` stores files before its transaction: a repeated request is then detected before it stores unused files. Set `isDeletable`
 * where callers can delete the result: a repeated request then gets the 404 of its `replay`.
 */
export async function runIdempotent<T>(
  table: Table,
  once: IdempotentRequest,
  now: () => number,
  first: (record: (result: string) => Put) => Promise<T>,
  replay: (result: string) => Promise<T>,
  { checkFirst = false, isDeletable = false }: { readonly checkFirst?: boolean; readonly isDeletable?: boolean } = {},
): Promise<T> {
  let replaced: IdempotencyRecord | undefined;
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    let refusal: RunyardError | undefined;
    const skipsFirst = checkFirst && attempt === 0 && (once.keyed || once.repeat);
    try {
      if (!skipsFirst) return await first((result) => toPutRecord(once, result, now(), replaced));
    } catch (error) {
      if (error instanceof RunyardError && (once.keyed || once.repeat)) refusal = error;
      else if (!(error instanceof IdempotencyRecordExists)) throw error;
    }
    const record = await readRecord(once.record, table);
    if (refusal !== undefined && (record?.hash !== once.hash || isExpired(once, record, now()))) throw refusal;
    if (record === undefined) continue;
    replaced = record;
    if (isExpired(once, record, now())) continue;
    if (record.hash !== once.hash) {
      throw new RunyardError("conflict", {
        detail: "Idempotency-Key: was used with another body; use a new key for a new request",
        retryable: false,
      });
    }
    if (once.keyed || once.repeat) return replayResult(replay, record.result, isDeletable);
    if (record.original) continue;
    if (await markOriginal(once.record, record, table)) return replayResult(replay, record.result, isDeletable);
  }
  throw retryableConflict("the same request is still being processed; send it again");
}

/** A state that one request sets and another one reverses, such as paused. */
interface ReversibleState<T> {
  /** Sets the state, and writes the record, if there is one, in the same transaction. @throws IdempotencyRecordExists */
  readonly apply: (record: ((result: string) => Put) | undefined) => Promise<T>;
  readonly read: () => Promise<T>;
  readonly isSet: (current: T) => boolean;
}

/** As `runIdempotent`, for a request that sets a state. */
export async function runReversible<T>(
  table: Table,
  once: IdempotentRequest,
  now: () => number,
  { apply, read, isSet }: ReversibleState<T>,
): Promise<{ readonly value: T; readonly replayed: boolean }> {
  return runIdempotent<{ readonly value: T; readonly replayed: boolean }>(
    table,
    once,
    now,
    async (record) => ({ value: await apply(record), replayed: false }),
    async () => {
      const value = await read();
      // Without an Idempotency-Key, the record may be that of an earlier request, which another one has reversed since.
      if (once.keyed || isSet(value)) return { value, replayed: true };
      return { value: await apply(undefined), replayed: false };
    },
  );
}

/** The result of the first request may be deleted by now: the repeated request is then refused and has no effect of its own. */
async function replayResult<T>(
  replay: (result: string) => Promise<T>,
  result: string,
  isDeletable: boolean,
): Promise<T> {
  try {
    return await replay(result);
  } catch (error) {
    if (isDeletable || !(error instanceof RunyardError) || error.code !== "resource_not_found") throw error;
    throw new RunyardError("conflict", {
      detail: "the same request succeeded before, and the created resource is deleted; send it as a new request",
      retryable: false,
      cause: error,
    });
  }
}

function toPutRecord(
  once: IdempotentRequest,
  result: string,
  now: number,
  replaced: IdempotencyRecord | undefined,
): Put {
  const record = { hash: once.hash, result, original: !once.repeat, made_at: now };
  return putRecord(
    once.record,
    record,
    recordSeconds(once),
    replaced ?? (once.keyed || once.repeat ? "none" : "original"),
  );
}

/** Compared on read, because the table deletes expired items late. */
function isExpired(once: IdempotentRequest, record: IdempotencyRecord, now: number): boolean {
  return now - record.made_at > recordSeconds(once) * 1000;
}
