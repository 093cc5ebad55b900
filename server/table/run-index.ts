import type { SQLInputValue } from "node:sqlite";
import * as v from "valibot";
import { parseRunId } from "#shared/records/run-head.ts";
import { listBodyTerms, listHeadTerms } from "#shared/runs/listing/search-terms.ts";
import { keys, runPk } from "#shared/table/keys.ts";
import type { Item, Key } from "#shared/table/table.ts";
import type { Database } from "../database/database.ts";

/** Words are terms with this prefix. */
export const WORD_PREFIX = "word=";
export const SCOPE_PREFIX = "scope=";

const HEAD = keys.head("").sk;
const BODY = keys.body("").sk;
/** Sort keys of the items that the index covers. */
export const INDEXED_SORT_KEYS = [HEAD, BODY];
/** Attributes of a head that have a column of the same name. */
const COLUMNS = ["state", "updated_key", "title_key", "agent_key"] as const;

const Id = v.optional(v.object({ id: v.number() }));
const parseId = (row: unknown): number | undefined => v.parse(Id, row)?.id;

export interface RunIndex {
  covers(key: Key): boolean;
  /** Updates the index within the transaction that replaces `before` with `after`. */
  update(key: Key, before: Item | undefined, after: Item | undefined): void;
}

/** Maintains what `sqliteRunSearch` reads: a row for each run, and the terms of its head and its body. */
export function createRunIndex(database: Database): RunIndex {
  const statement = (sql: string) => database.statement(sql);

  const findRun = (runId: string): number | undefined =>
    parseId(statement("SELECT run AS id FROM listed_runs WHERE run_id = ?").get(runId));

  function findOrAddRun(runId: string): number {
    return (
      findRun(runId) ?? Number(statement("INSERT INTO listed_runs (run_id) VALUES (?)").run(runId).lastInsertRowid)
    );
  }

  function findOrAddTerm(text: string): number {
    const known = parseId(statement("SELECT id FROM terms WHERE text = ?").get(text));
    return known ?? Number(statement("INSERT INTO terms (text) VALUES (?)").run(text).lastInsertRowid);
  }

  function replaceTerms(run: number, before: readonly string[], after: readonly string[]): void {
    const [old, current] = [new Set(before), new Set(after)];
    for (const term of old) {
      if (!current.has(term))
        statement("DELETE FROM run_terms WHERE term = ? AND run = ?").run(findOrAddTerm(term), run);
    }
    for (const term of current) {
      // The row may exist already: it is rebuilt, or an import is repeated.
      if (!old.has(term))
        statement("INSERT OR IGNORE INTO run_terms (term, run) VALUES (?, ?)").run(findOrAddTerm(term), run);
    }
  }

  function updateHead(runId: string, before: Item | undefined, after: Item | undefined): void {
    const run = findOrAddRun(runId);
    if (!hasSameTerms(before, after)) replaceTerms(run, toHeadTerms(before), toHeadTerms(after));
    if (after === undefined) {
      statement("DELETE FROM listed_runs WHERE run = ?").run(run);
    } else if (before === undefined || ["scope", ...COLUMNS].some((name) => before[name] !== after[name])) {
      const { scope } = after;
      const values: readonly SQLInputValue[] = [
        typeof scope === "string" ? findOrAddTerm(`${SCOPE_PREFIX}${scope}`) : null,
        ...COLUMNS.map((name) => toText(after[name])),
      ];
      const sets = ["scope", ...COLUMNS].map((name) => `${name} = ?`).join(", ");
      statement(`UPDATE listed_runs SET ${sets} WHERE run = ?`).run(...values, run);
    }
  }

  /** A body is deleted before its head, with which the row of the run is deleted. */
  function updateBody(runId: string, before: Item | undefined, after: Item | undefined): void {
    const run = after === undefined ? findRun(runId) : findOrAddRun(runId);
    if (run !== undefined) replaceTerms(run, toBodyTerms(before), toBodyTerms(after));
  }

  return {
    covers: ({ pk, sk }) => INDEXED_SORT_KEYS.includes(sk) && pk.startsWith(runPk("")),
    update(key, before, after) {
      if (key.sk === HEAD) updateHead(parseRunId(key), before, after);
      else updateBody(parseRunId(key), before, after);
    },
  };
}

const toHeadTerms = (head: Item | undefined): readonly string[] => (head === undefined ? [] : listHeadTerms(head));

function toBodyTerms(body: Item | undefined): readonly string[] {
  if (body === undefined) return [];
  const { terms, words } = listBodyTerms(body);
  return [...terms, ...words.map((word) => `${WORD_PREFIX}${word}`)];
}

const hasSameTerms = (one: Item | undefined, other: Item | undefined): boolean =>
  JSON.stringify([one?.["p"], one?.["artifact_types"]]) === JSON.stringify([other?.["p"], other?.["artifact_types"]]);

const toText = (value: unknown): string | null => (typeof value === "string" ? value : null);
