import type { Page } from "./table.ts";

/** Returns the words that it accepts. */
export type WordFilter = (words: readonly string[]) => readonly string[];

/** The runs that have all of these properties, in the order of `sortKey`. */
export interface RunCriteria {
  readonly sortKey: "updated_key" | "created_key" | "title_key" | "agent_key";
  /** Terms that a run has, all of them. */
  readonly terms: readonly string[];
  /** For each filter, a run has a word that it accepts. */
  readonly words: readonly WordFilter[];
  /** @default any state */
  readonly states?: readonly string[] | undefined;
  /** Bounds of the ids, which sort by creation. */
  readonly createdFrom?: string | undefined;
  readonly createdBefore?: string | undefined;
  /** Lower bound of the updated key. */
  readonly updatedFrom?: string | undefined;
}

/** A part of the runs of one scope, with bounds of the sort key as in a query of the table. */
export interface RunRange {
  readonly scope: string;
  readonly from?: string;
  readonly after?: string;
  readonly before?: string;
  readonly descending: boolean;
  readonly limit: number;
}

/** Reads runs that meet criteria. The entries have the keys of a run's head and the sort key. */
export type RunFinder = (range: RunRange) => Promise<Page>;

/**
 * Finds runs by several of their properties at once. It may return runs that lack some of them, and leaves out none that has
 * all of them. DynamoDB has no such index: where this port is missing, lists read the indexes of the table.
 */
export interface RunSearch {
  /** Prepares the search of one list. */
  prepare(criteria: RunCriteria): RunFinder;
}
