import { setImmediate as nextTurn } from "node:timers/promises";
import * as v from "valibot";
import { keys } from "#shared/table/keys.ts";
import type { RunCriteria, RunFinder, RunRange, RunSearch } from "#shared/table/run-search.ts";
import type { Item, Page } from "#shared/table/table.ts";
import type { Database } from "../database/database.ts";
import { SCOPE_PREFIX } from "./run-index.ts";
import { type Condition, columnProperties, findTerm, type Property, readTermProperties } from "./run-properties.ts";

/** Rows that one statement looks at, so that none blocks the event loop for long. */
const MAX_ROWS = 2_000;
/** Greater than every key. */
const END = "\u{10ffff}";

const ORDERS = {
  updated_key: { column: "updated_key", index: "listed_by_update" },
  created_key: { column: "run_id", index: "listed_by_creation" },
  title_key: { column: "title_key", index: "listed_by_title" },
  agent_key: { column: "agent_key", index: "listed_by_agent" },
} as const;

interface SearchLimits {
  /** If fewer runs have a property, they are read and sorted; else the order of the list is read. */
  readonly maxSorted: number;
  /** Rows that the first statement looks at; each of the next ones looks at twice as many. */
  readonly firstRows: number;
}
const LIMITS: SearchLimits = { maxSorted: 1_000, firstRows: 250 };

const Found = v.object({ run_id: v.string(), position: v.string() });
const Position = v.optional(v.object({ position: v.string() }));
type Row = v.InferOutput<typeof Found>;

const NOTHING: Page = { items: [], more: false };

/** Searches runs by the index that `createRunIndex` maintains. Every statement reads a bounded number of rows. */
export function sqliteRunSearch(database: Database, limits: SearchLimits = LIMITS): RunSearch {
  return {
    prepare(criteria) {
      const { maxSorted } = limits;
      // The same for all scopes and pages of a list.
      let terms: ReturnType<typeof readTermProperties> | undefined;
      const columns = new Map<number, readonly Property[]>();
      const find: RunFinder = async (range) => {
        terms ??= readTermProperties(database, criteria, maxSorted);
        const scope = findTerm(database, `${SCOPE_PREFIX}${range.scope}`);
        const found = await terms;
        if (scope === undefined || found === undefined) return NOTHING;
        const own = columns.get(scope) ?? columnProperties(database, { scope, criteria, maxSorted });
        columns.set(scope, own);
        const properties = [...found, ...own];
        const search: Search = { scope, criteria, range, tests: properties.map(({ test }) => test) };
        const [rarest] = properties.toSorted((a, b) => a.count - b.count);
        if (rarest === undefined || rarest.count >= maxSorted) return scanOrder(database, search, limits.firstRows);
        const rows = await database.read(() => select(database, search, rarest.from, toBounds(range), range.limit));
        return toPage(rows, search);
      };
      return find;
    },
  };
}

interface Search {
  readonly scope: number;
  readonly criteria: RunCriteria;
  readonly range: RunRange;
  readonly tests: readonly Condition[];
}

/** Bounds of the sort key; the upper one is exclusive. */
interface Bounds {
  readonly low: string;
  readonly high: string;
}

/** The least text that is greater than another one. */
const toSuccessor = (text: string): string => `${text}\u0000`;

const toBounds = (range: RunRange): Bounds => ({
  low: range.from ?? (range.after === undefined ? "" : toSuccessor(range.after)),
  high: range.before ?? END,
});

function select(database: Database, search: Search, from: Condition, { low, high }: Bounds, limit: number): Row[] {
  const { scope, criteria, range, tests } = search;
  const { column } = ORDERS[criteria.sortKey];
  const conditions = [`r.${column} >= ? AND r.${column} < ?`, ...tests.map(({ sql }) => sql)].join(" AND ");
  const sql = `SELECT r.run_id, r.${column} AS position FROM ${from.sql} WHERE r.scope = ? AND ${conditions}
    ORDER BY r.${column} ${range.descending ? "DESC" : "ASC"} LIMIT ?`;
  const values = [...from.values, scope, low, high, ...tests.flatMap((test) => test.values), limit];
  return database
    .statement(sql)
    .all(...values)
    .map((row) => v.parse(Found, row));
}

/** Reads runs in the order of the list until enough of them meet the conditions. */
async function scanOrder(database: Database, search: Search, firstRows: number): Promise<Page> {
  const { scope, criteria, range } = search;
  const { column, index, state } = chooseIndex(criteria);
  const from = { sql: `listed_runs r INDEXED BY ${index}`, values: [] };
  const sql = `SELECT ${column} AS position FROM ${from.sql} WHERE scope = ? AND ${state === undefined ? "" : "state = ? AND "}
    ${column} >= ? AND ${column} < ? ORDER BY ${column} ${range.descending ? "DESC" : "ASC"} LIMIT 1 OFFSET ?`;
  const ofState = state === undefined ? [] : [state];
  const own = state === undefined ? search.tests : [...search.tests, { sql: "r.state = ?", values: ofState }];
  const found: Row[] = [];
  let rest = toBounds(range);
  for (let rows = firstRows; ; rows = Math.min(MAX_ROWS, 2 * rows)) {
    const { part, next } = await database.read(() => {
      const last = database.statement(sql).get(scope, ...ofState, rest.low, rest.high, rows - 1);
      const [read, following] = divide(rest, v.parse(Position, last)?.position, range.descending);
      const limit = range.limit - found.length;
      return { part: select(database, { ...search, tests: own }, from, read, limit), next: following };
    });
    found.push(...part);
    if (next === undefined || found.length >= range.limit) return toPage(found, search);
    rest = next;
    await nextTurn();
  }
}

/** Chooses the index to scan: the runs of one state are in the order of their updates. */
function chooseIndex({ sortKey, states = [] }: RunCriteria) {
  const [state, ...others] = states;
  const isOfState = sortKey === "updated_key" && state !== undefined && others.length === 0;
  return isOfState
    ? { column: ORDERS.updated_key.column, index: "listed_by_state", state }
    : { ...ORDERS[sortKey], state: undefined };
}

/** Divides bounds into those up to and including `end`, and the rest. */
function divide(bounds: Bounds, end: string | undefined, descending: boolean): [Bounds, Bounds | undefined] {
  if (end === undefined) return [bounds, undefined];
  if (descending)
    return [
      { ...bounds, low: end },
      { ...bounds, high: end },
    ];
  return [
    { ...bounds, high: toSuccessor(end) },
    { ...bounds, low: toSuccessor(end) },
  ];
}

const toPage = (rows: readonly Row[], { criteria, range }: Search): Page => ({
  items: rows.map(({ run_id, position }): Item => ({ ...keys.head(run_id), [criteria.sortKey]: position })),
  more: rows.length >= range.limit,
});
