import * as v from "valibot";
import { invalid, RunyardError, retryableConflict } from "#shared/errors.ts";
import { randomId, sha256 } from "#shared/ids.ts";
import { type Principal, toPrincipalKey } from "#shared/principals/principal.ts";
import { keys } from "#shared/table/keys.ts";
import { ConditionFailed, type Conditions, type Item, type Key, type Put, type Table } from "#shared/table/table.ts";
import { canonicalJson } from "./canonical-json.ts";

const KEYED_SECONDS = 24 * 3600;
const KEYLESS_SECONDS = 10 * 60;

/**
 * One logical request. With an Idempotency-Key it is that key's; without one it is told by its content, so that what
 * a client repeats of itself (`x-stainless-retry-count` above 0) finds what its first try made — or the
 * other way round, where the repeat overtakes the first try.
 */
export interface IdempotentRequest {
  readonly record: Key;
  readonly hash: string;
  readonly keyed: boolean;
  readonly repeat: boolean;
}

const Record = v.object({
  hash: v.string(),
  token: v.string(),
  /** Id of what the first try made. */
  result: v.string(),
  /** True once the first try itself has arrived, and not only a repeat of it. */
  original: v.boolean(),
  made_at: v.number(),
});
type Record = v.InferOutput<typeof Record>;

/** The logical request behind a call. `team` is part of it, since a key is kept per principal and team. */
export function toIdempotentRequest(
  header: (name: string) => string | undefined,
  principal: Principal,
  operation: string,
  content: unknown,
): IdempotentRequest {
  const key = header("idempotency-key");
  if (key !== undefined && ([...key].length > 255 || !/^[\x20-\x7e]+$/.test(key))) {
    throw invalid("Idempotency-Key", "must have at most 255 printable ASCII characters");
  }
  // A run's key is in no team, and nobody has checked the header that comes with it.
  const team = principal.kind === "run" ? "" : (header("x-team-uid") ?? header("x-warp-team-uid") ?? "");
  const hash = sha256(canonicalJson(content));
  const retries = header("x-stainless-retry-count") ?? "0";
  if (!/^\d+$/.test(retries)) throw invalid("x-stainless-retry-count", "must be a whole number");
  const repeat = Number(retries) > 0;
  const name = key === undefined ? `body:${hash}` : `key:${sha256(key)}`;
  return {
    record: keys.idempotency(`${toPrincipalKey(principal)}#${team}`, operation, name),
    hash,
    keyed: key !== undefined,
    repeat,
  };
}

/** The record was there already; `runIdempotent` decides what that means. */
export class IdempotencyRecordExists extends Error {}

/**
 * Does `first` once: it must write the record in the same transaction as its effect, and throw IdempotencyRecordExists where the
 * record's condition failed. A repeat is answered by `replay` with what the first made, even where what the first did
 * stands in its way: the run that it cancelled has ended, the conversation that it continued goes on. `checkFirst` is for a
 * `first` that stores files on its way, which nobody would ever read again: then a repeat is found out before.
 */
export async function runIdempotent<T>(
  table: Table,
  once: IdempotentRequest,
  now: () => number,
  first: (record: (result: string) => Put) => Promise<T>,
  replay: (result: string) => Promise<T>,
  { checkFirst = false }: { readonly checkFirst?: boolean } = {},
): Promise<T> {
  let takeOver: Conditions | undefined;
  for (let attempt = 0; attempt < 5; attempt++) {
    let refusal: RunyardError | undefined;
    const looks = checkFirst && attempt === 0 && (once.keyed || once.repeat);
    try {
      if (!looks) return await first((result) => recordOf(once, result, now(), takeOver));
    } catch (error) {
      if (error instanceof RunyardError && (once.keyed || once.repeat)) refusal = error;
      else if (!(error instanceof IdempotencyRecordExists)) throw error;
    }
    const item = await table.get(once.record);
    const record = item === undefined ? undefined : v.parse(Record, item);
    if (refusal !== undefined && (record?.hash !== once.hash || isOver(once, record, now()))) throw refusal;
    if (item === undefined || record === undefined) continue;
    takeOver = { token: { eq: record.token } };
    if (isOver(once, record, now())) continue;
    if (record.hash !== once.hash) {
      throw new RunyardError("conflict", {
        detail: "Idempotency-Key: was used with another body; use a new key for a new request",
        retryable: false,
      });
    }
    if (once.keyed || once.repeat) return answerAgain(replay, record.result);
    if (record.original) continue;
    if (await markOriginal(table, item, record)) return answerAgain(replay, record.result);
  }
  throw retryableConflict("the same request is being answered; send it again");
}

/** What the first made may be deleted by now: there is nothing to answer with then, and it is not made again either. */
async function answerAgain<T>(replay: (result: string) => Promise<T>, result: string): Promise<T> {
  try {
    return await replay(result);
  } catch (error) {
    if (!(error instanceof RunyardError) || error.code !== "resource_not_found") throw error;
    throw new RunyardError("conflict", {
      detail: "the same request was answered before, and what it made is deleted; send it as a new one",
      retryable: false,
      cause: error,
    });
  }
}

function recordOf(once: IdempotentRequest, result: string, now: number, takeOver: Conditions | undefined): Put {
  const fresh: Conditions =
    once.keyed || once.repeat ? { pk: { exists: false } } : { original: { absentOr: { eq: true } } };
  return {
    kind: "put",
    item: {
      ...once.record,
      v: 1,
      hash: once.hash,
      token: randomId(),
      result,
      original: !once.repeat,
      made_at: now,
      expires_at: Math.ceil(now / 1000) + (once.keyed ? KEYED_SECONDS : KEYLESS_SECONDS),
    },
    if: takeOver ?? fresh,
  };
}

/** Compared on read, because the table's own expiry lags. */
function isOver(once: IdempotentRequest, record: Record, now: number): boolean {
  return now - record.made_at > (once.keyed ? KEYED_SECONDS : KEYLESS_SECONDS) * 1000;
}

/** False where another first try took the record in between. */
async function markOriginal(table: Table, item: Item, record: Record): Promise<boolean> {
  try {
    await table.write({
      kind: "update",
      key: { pk: item.pk, sk: item.sk },
      set: { original: true },
      if: { token: { eq: record.token }, original: { eq: false } },
    });
    return true;
  } catch (error) {
    if (error instanceof ConditionFailed) return false;
    throw error;
  }
}
