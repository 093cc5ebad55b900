import { keyOf } from "#shared/table/evaluate.ts";
import type { Key, TransactionWrite, Write } from "#shared/table/table.ts";
import type { TestControlPlane } from "./control-plane.ts";

interface Attempts<T> {
  readonly result: T;
  /** Transactions that would have written the item. */
  readonly attempts: number;
}

/**
 * Performs requests while every transaction that writes an item, or any item, fails: with `outage`, or by its condition, as if
 * another request had changed the item each time.
 */
export async function withFailingWrites<T>(
  { table }: TestControlPlane,
  key: Key | "any",
  perform: () => Promise<T>,
  outage?: Error,
): Promise<Attempts<T>> {
  const { transact } = table;
  let attempts = 0;
  Object.assign(table, {
    transact: async (writes: readonly TransactionWrite[]) => {
      const isIt = (write: TransactionWrite) =>
        key === "any" || (keyOf(write).pk === key.pk && keyOf(write).sk === key.sk);
      if (!writes.some(isIt)) return transact(writes);
      attempts++;
      if (outage !== undefined) throw outage;
      const never = { never: { eq: true } };
      return transact(writes.map((write) => (isIt(write) ? { ...write, if: never } : write)));
    },
  });
  try {
    return { result: await perform(), attempts };
  } finally {
    Object.assign(table, { transact });
  }
}

/** Performs `meanwhile` once, immediately before the first write or transaction that writes an item of this kind. */
export async function withWriteInBetween<T>(
  { table }: TestControlPlane,
  matches: (write: TransactionWrite) => boolean,
  meanwhile: () => Promise<unknown>,
  perform: () => Promise<T>,
): Promise<T> {
  const { transact, write } = table;
  const interrupt = async (writes: readonly TransactionWrite[]) => {
    if (!writes.some(matches)) return;
    Object.assign(table, { transact, write });
    await meanwhile();
  };
  Object.assign(table, {
    transact: async (writes: readonly TransactionWrite[]) => {
      await interrupt(writes);
      return transact(writes);
    },
    write: async (one: Write) => {
      await interrupt([one]);
      return write(one);
    },
  });
  try {
    return await perform();
  } finally {
    Object.assign(table, { transact, write });
  }
}
