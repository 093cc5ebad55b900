import type { SQLInputValue } from "node:sqlite";
import { setImmediate as nextTurn } from "node:timers/promises";
import * as v from "valibot";
import type { RunCriteria, WordFilter } from "#shared/table/run-search.ts";
import type { Database } from "../database/database.ts";
import { WORD_PREFIX } from "./run-index.ts";

/** Words that are read at once, and accepted ones of a filter. A filter that accepts more is left to the caller. */
const WORDS_AT_ONCE = 2_000;
const MAX_WORDS = 500;
/** Terms and words that a statement tests, the rarest ones; the others are left to the caller. */
const MAX_TERMS = 4;
const MAX_WORD_FILTERS = 2;

/** Greater than every id and every word. */
const END = "\u{10ffff}";

/** A part of a statement, and the values of its parameters. */
export interface Condition {
  readonly sql: string;
  readonly values: readonly SQLInputValue[];
}

/** A property of runs that the index knows. */
export interface Property {
  /** The number of runs that have it, up to the limit of the count. */
  readonly count: number;
  /** The table expression that reads them, with the row of the run as `r`. */
  readonly from: Condition;
  /** Whether the row `r` has the property. */
  readonly test: Condition;
}

const Id = v.optional(v.object({ id: v.number() }));
const Count = v.object({ rows: v.number() });
const Text = v.object({ id: v.number(), text: v.string() });

export function findTerm(database: Database, text: string): number | undefined {
  return v.parse(Id, database.statement("SELECT id FROM terms WHERE text = ?").get(text))?.id;
}

/** Reads the properties that are terms; undefined if no run can have all of them. */
export async function readTermProperties(
  database: Database,
  { terms, words }: RunCriteria,
  maxCount: number,
): Promise<readonly Property[] | undefined> {
  const ids = terms.map((term) => findTerm(database, term));
  const knownIds = ids.filter((id) => id !== undefined);
  if (knownIds.length < ids.length) return undefined;
  const accepted: (readonly number[])[] = [];
  for (const filter of words) {
    const found = await findWords(database, filter);
    if (found.length === 0) return undefined;
    if (found.length <= MAX_WORDS) accepted.push(found);
  }
  return database.read(() => [
    ...sortByCount(knownIds.map((id) => termProperty(database, id, maxCount))).slice(0, MAX_TERMS),
    ...sortByCount(accepted.map((found) => wordProperty(database, found, maxCount))).slice(0, MAX_WORD_FILTERS),
  ]);
}

const sortByCount = (properties: readonly Property[]): readonly Property[] =>
  properties.toSorted((a, b) => a.count - b.count);

/** Finds the words that a filter accepts. It stops when there are too many of them to be of use. */
async function findWords(database: Database, filter: WordFilter): Promise<readonly number[]> {
  const found: number[] = [];
  for (let after = WORD_PREFIX; found.length <= MAX_WORDS; ) {
    const rows = await database.read(() =>
      database
        .statement("SELECT id, text FROM terms WHERE text > ? AND text < ? ORDER BY text LIMIT ?")
        .all(after, `${WORD_PREFIX}${END}`, WORDS_AT_ONCE),
    );
    const ids = new Map(rows.map((row) => v.parse(Text, row)).map(({ id, text }) => [text, id]));
    const words = [...ids.keys()].map((text) => text.slice(WORD_PREFIX.length));
    found.push(...filter(words).flatMap((word) => ids.get(`${WORD_PREFIX}${word}`) ?? []));
    const last = [...ids.keys()].at(-1);
    if (last === undefined || rows.length < WORDS_AT_ONCE) break;
    after = last;
    await nextTurn();
  }
  return found;
}

/** Counts the rows of a table expression, up to a limit. */
function countRows(database: Database, { sql, values }: Condition, limit: number): number {
  const counted = database.statement(`SELECT count(*) AS rows FROM (SELECT 1 FROM ${sql} LIMIT ?)`);
  return v.parse(Count, counted.get(...values, limit)).rows;
}

function termProperty(database: Database, term: number, maxCount: number): Property {
  const values = [term];
  return {
    count: countRows(database, { sql: "run_terms WHERE term = ?", values }, maxCount),
    from: { sql: "run_terms t CROSS JOIN listed_runs r ON r.run = t.run AND t.term = ?", values },
    test: { sql: "EXISTS (SELECT 1 FROM run_terms WHERE term = ? AND run = r.run)", values },
  };
}

function wordProperty(database: Database, ids: readonly number[], maxCount: number): Property {
  const values = [JSON.stringify(ids)];
  const isAccepted = "term IN (SELECT value FROM json_each(?))";
  const runs = `(SELECT DISTINCT run FROM run_terms WHERE ${isAccepted})`;
  return {
    count: countRows(database, { sql: `run_terms WHERE ${isAccepted}`, values }, maxCount),
    from: { sql: `${runs} t CROSS JOIN listed_runs r ON r.run = t.run`, values },
    test: { sql: `EXISTS (SELECT 1 FROM run_terms WHERE run = r.run AND ${isAccepted})`, values },
  };
}

interface ColumnSearch {
  readonly scope: number;
  readonly criteria: RunCriteria;
  readonly maxSorted: number;
}

/** The properties that have columns: the state, and the times of creation and of the last update. */
export function columnProperties(database: Database, { scope, criteria, maxSorted }: ColumnSearch): Property[] {
  const { states, createdFrom, createdBefore, updatedFrom } = criteria;
  const make = (index: string, sql: string, values: readonly string[]): Property => {
    const from = `listed_runs r INDEXED BY ${index}`;
    const all = { sql: `${from} WHERE scope = ? AND ${sql}`, values: [scope, ...values] };
    return { count: countRows(database, all, maxSorted), from: { sql: from, values: [] }, test: { sql, values } };
  };
  const isInState = "r.state IN (SELECT value FROM json_each(?))";
  const isCreatedBetween = "r.run_id >= ? AND r.run_id < ?";
  return [
    ...(states === undefined ? [] : [make("listed_by_state", isInState, [JSON.stringify(states)])]),
    ...(createdFrom === undefined && createdBefore === undefined
      ? []
      : [make("listed_by_creation", isCreatedBetween, [createdFrom ?? "", createdBefore ?? END])]),
    ...(updatedFrom === undefined ? [] : [make("listed_by_update", "r.updated_key >= ?", [updatedFrom])]),
  ];
}
