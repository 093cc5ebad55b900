import type { SQLInputValue } from "node:sqlite";
import { setImmediate as nextTurn } from "node:timers/promises";
import { evaluateTransaction, formatKey, makeProjection, type Outcome } from "#shared/table/evaluate.ts";
import {
  bounds,
  INDEXES,
  type Item,
  type Key,
  type Page,
  type Query,
  type Table,
  type TransactionWrite,
} from "#shared/table/table.ts";
import type { Database } from "../database/database.ts";
import { decodeItem, encodeItem } from "./item-text.ts";
import { createRunIndex } from "./run-index.ts";

const MAX_BATCH = 100;
/** Number of items whose read takes about a millisecond. */
const LARGE_READ = 50;
/** Number of expired items deleted by one transaction. */
const PURGE_SIZE = 500;

/** The key attributes of the indexes. Each has a column of the same name. */
const KEY_COLUMNS = [...new Set(Object.values(INDEXES).flatMap(({ pk, sk }) => [pk, sk]))];
const COLUMNS = ["pk", "sk", "item", "tagged", "expires_at", ...KEY_COLUMNS];
const quoted = (column: string): string => `"${column}"`;

const GET = "SELECT item, tagged FROM items WHERE pk = ? AND sk = ?";
const DELETE = "DELETE FROM items WHERE pk = ? AND sk = ?";
const PUT = `
  INSERT INTO items (${COLUMNS.map(quoted).join(", ")}) VALUES (${COLUMNS.map(() => "?").join(", ")})
  ON CONFLICT (pk, sk) DO UPDATE SET ${COLUMNS.slice(2)
    .map((column) => `${quoted(column)} = excluded.${quoted(column)}`)
    .join(", ")}`;
const PURGE = `
  DELETE FROM items WHERE rowid IN (SELECT rowid FROM items WHERE expires_at <= ? ORDER BY expires_at LIMIT ${PURGE_SIZE})`;

export interface SqliteTable extends Table {
  /**
   * Deletes the items whose `expires_at` (in seconds) is not after `now` (in milliseconds). Resolves with their number.
   */
  purgeExpired(now: number): Promise<number>;
}

export interface SqliteTableOptions {
  /** Called with the key of each item that was written. */
  readonly onWrite?: (key: Key) => void;
  /** Called with each new item, in the transaction that writes it. */
  readonly onNewItem?: (item: Item) => void;
}

/** The table in SQLite, with the items, indexes, conditions and limits of DynamoDB. All reads are consistent. */
export function sqliteTable(
  database: Database,
  { onWrite = () => {}, onNewItem }: SqliteTableOptions = {},
): SqliteTable {
  function read({ pk, sk }: Key): Item | undefined {
    const row = database.statement(GET).get(pk, sk);
    return row === undefined ? undefined : decodeItem(row);
  }

  const runIndex = createRunIndex(database);

  function apply({ key, item }: Outcome): void {
    if (onNewItem !== undefined && item !== undefined && read(key) === undefined) onNewItem(item);
    if (runIndex.covers(key)) runIndex.update(key, read(key), item);
    if (item === undefined) database.statement(DELETE).run(key.pk, key.sk);
    else database.statement(PUT).run(...toValues(item));
  }

  const transact = async (writes: readonly TransactionWrite[]): Promise<void> => {
    // Later changes by the caller to its objects must not change the transaction.
    const own = structuredClone(writes);
    await database.write(() => evaluateTransaction(own, read).forEach(apply));
    for (const write of own) if (write.kind !== "check") onWrite(write.kind === "put" ? write.item : write.key);
  };

  return {
    get: (key) => database.read(() => read(key)),

    async batchGet(keys) {
      const uniqueKeys = new Map(keys.map((key) => [formatKey(key), key]));
      if (uniqueKeys.size > MAX_BATCH) throw new RangeError(`a batch has at most ${MAX_BATCH} keys`);
      return giveWay(await database.read(() => keys.map(read)));
    },

    async query(query) {
      const page = await database.read(() => select(database, query));
      await giveWay(page.items);
      return page;
    },
    write: (write) => transact([write]),
    transact,

    async purgeExpired(now) {
      for (let purged = 0; ; ) {
        const changes = await database.write(() =>
          Number(database.statement(PURGE).run(Math.floor(now / 1000)).changes),
        );
        purged += changes;
        if (changes < PURGE_SIZE) return purged;
      }
    },
  };
}

/** After a large read, lets other requests continue first: a search through many items is a long series of such reads. */
async function giveWay<T extends readonly unknown[]>(items: T): Promise<T> {
  if (items.length >= LARGE_READ) await nextTurn();
  return items;
}

/** Returns the column values of an item, in the order of COLUMNS. */
function toValues(item: Item): SQLInputValue[] {
  const { item: text, tagged } = encodeItem(item);
  const expires = item["expires_at"];
  return [
    item.pk,
    item.sk,
    text,
    tagged,
    typeof expires === "number" ? Math.ceil(expires) : null,
    ...KEY_COLUMNS.map((column) => {
      const key = item[column];
      return typeof key === "string" ? key : null;
    }),
  ];
}

function select(database: Database, query: Query): Page {
  const { sql, values } = buildStatement(query);
  const rows = database.statement(sql).all(...values, query.limit ?? -1);
  const items = rows.map(decodeItem);
  return {
    items: query.index === undefined ? items : items.map(makeProjection(query.index)),
    // DynamoDB, too, stops at the limit without checking whether more items follow.
    more: query.limit !== undefined && items.length >= query.limit,
  };
}

function buildStatement(query: Query): { readonly sql: string; readonly values: readonly string[] } {
  const { pk, sk } = query.index === undefined ? { pk: "pk", sk: "sk" } : INDEXES[query.index];
  const { low, high } = bounds(query);
  const tests = [`${quoted(pk)} = ?`, `${quoted(sk)} IS NOT NULL`];
  const values = [query.pk];
  if (low !== undefined) {
    tests.push(`${quoted(sk)} ${low.inclusive ? ">=" : ">"} ?`);
    values.push(low.value);
  }
  if (high !== undefined) {
    tests.push(`${quoted(sk)} ${high.inclusive ? "<=" : "<"} ?`);
    values.push(high.value);
  }
  const index = query.index === undefined ? "" : ` INDEXED BY ${query.index}`;
  const order = `ORDER BY ${quoted(sk)} ${query.descending === true ? "DESC" : "ASC"}`;
  return { sql: `SELECT item, tagged FROM items${index} WHERE ${tests.join(" AND ")} ${order} LIMIT ?`, values };
}
