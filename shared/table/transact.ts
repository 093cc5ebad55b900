import { ConditionFailed, type Table, type TransactionWrite } from "./table.ts";

/** The writes of one transaction by name; a name may stand for several writes, or for none where its value is undefined. */
export type NamedWrites = Readonly<Record<string, TransactionWrite | readonly TransactionWrite[] | undefined>>;

/** The conditions of a transaction did not all hold; nothing was written. */
export class ConflictError extends Error {
  /** Names of the writes whose condition failed. */
  readonly failed: ReadonlySet<string>;

  constructor(failed: ReadonlySet<string>, cause?: unknown) {
    super(`conditions failed: ${[...failed].join(", ")}`, { cause });
    this.name = "ConflictError";
    this.failed = failed;
  }

  /** True if no other write than `name` failed. */
  failedOnly(name: string): boolean {
    return this.failed.size === 1 && this.failed.has(name);
  }
}

/**
 * Writes all or nothing, at most 100 writes in the order of their names.
 * @throws ConflictError naming the writes whose `if` does not hold
 */
export async function transact(table: Pick<Table, "transact">, writes: NamedWrites): Promise<void> {
  const named = Object.entries(writes).flatMap(([name, write]) => toList(write).map((one) => ({ name, write: one })));
  try {
    await table.transact(named.map(({ write }) => write));
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error;
    throw new ConflictError(new Set(error.positions.map((position) => named[position]?.name ?? "")), error);
  }
}

/** The writes of a transaction in their order, without their names. */
export const listWrites = (writes: NamedWrites): TransactionWrite[] => Object.values(writes).flatMap(toList);

const isList = (write: TransactionWrite | readonly TransactionWrite[]): write is readonly TransactionWrite[] =>
  Array.isArray(write);

function toList(write: NamedWrites[string]): readonly TransactionWrite[] {
  if (write === undefined) return [];
  return isList(write) ? write : [write];
}
