import * as v from "valibot";
import { randomId } from "#shared/ids.ts";
import { keys } from "#shared/table/keys.ts";
import type { Conditions, Key, Put, Table } from "#shared/table/table.ts";
import { writeIf } from "#shared/table/write-if.ts";

const IdempotencyRecord = v.object({
  /** SHA-256 of the request's content. */
  hash: v.string(),
  /** Changes with every write of the record. */
  token: v.string(),
  /** Id of what the first attempt created. */
  result: v.string(),
  /** True once the first attempt itself has arrived, and not only a retry of it. */
  original: v.boolean(),
  made_at: v.number(),
});
export type IdempotencyRecord = v.InferOutput<typeof IdempotencyRecord>;

/** The key of the record of a logical request; `name` distinguishes the requests of a principal for one operation. */
export const recordKey = keys.idempotency;

export async function readRecord(key: Key, table: Table): Promise<IdempotencyRecord | undefined> {
  const item = await table.get(key);
  return item === undefined ? undefined : v.parse(IdempotencyRecord, item);
}

/**
 * Returns the write of a record. `replaces` names the record that it may replace: the one that was read, `none`, or one whose first
 * attempt has arrived (`original`).
 */
export function putRecord(
  key: Key,
  record: Omit<IdempotencyRecord, "token">,
  keptSeconds: number,
  replaces: IdempotencyRecord | "none" | "original",
): Put {
  return {
    kind: "put",
    item: {
      ...key,
      v: 1,
      ...record,
      token: randomId(),
      expires_at: Math.ceil(record.made_at / 1000) + keptSeconds,
    },
    if: conditionFor(replaces),
  };
}

function conditionFor(replaces: IdempotencyRecord | "none" | "original"): Conditions {
  if (replaces === "none") return { pk: { exists: false } };
  if (replaces === "original") return { original: { absentOr: { eq: true } } };
  return { token: { eq: replaces.token } };
}

/** Notes that the first attempt has arrived after its retry. Returns false where another first attempt was faster. */
export function markOriginal(key: Key, { token }: IdempotencyRecord, table: Table): Promise<boolean> {
  return writeIf(table, {
    kind: "update",
    key,
    set: { original: true },
    if: { token: { eq: token }, original: { eq: false } },
  });
}
