import * as v from "valibot";
import { isTerminal } from "#shared/records/run.ts";
import { readBodies } from "#shared/records/run-body.ts";
import { parseRunId } from "#shared/records/run-head.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import { RunState, type TaskStatus } from "#shared/wire/run.ts";
import type { Source } from "./order.ts";
import { runIndexStore } from "./run-index-store.ts";

const STATES: Readonly<Record<TaskStatus, readonly RunState[]>> = {
  running: RunState.options.filter((state) => !isTerminal(state)),
  failed: ["FAILED", "ERROR"],
  blocked: ["BLOCKED"],
  cancelled: ["CANCELLED"],
  complete: ["SUCCEEDED"],
};

export interface StatusFilters {
  readonly states?: readonly RunState[] | undefined;
  readonly taskStatuses?: readonly TaskStatus[] | undefined;
  /** The runs with descendants that have not ended, from `withActiveAncestors`. */
  readonly activeAncestors?: ReadonlySet<string> | undefined;
}

/** Lists the states of the runs that match whatever their descendants do; undefined if runs of all states do. */
export function listMatchingStates({ states, taskStatuses }: StatusFilters): readonly RunState[] | undefined {
  if (taskStatuses === undefined) return states;
  const ofStatuses = new Set(taskStatuses.flatMap((status) => STATES[status]));
  return (states ?? RunState.options).filter((state) => ofStatuses.has(state));
}

/** Whether a run in this state matches. */
export function hasStatus(runId: string, state: RunState, filters: StatusFilters): boolean {
  const { states, taskStatuses, activeAncestors } = filters;
  return (
    (states === undefined || states.includes(state)) &&
    (taskStatuses === undefined ||
      taskStatuses.some((status) => STATES[status].includes(state)) ||
      (taskStatuses.includes("running") && activeAncestors?.has(runId) === true))
  );
}

/**
 * Adds the runs that have a descendant which has not ended, where the filters ask for `running`. They are found from below: the
 * active runs of a scope are few, and a tree has a single owner.
 */
export async function withActiveAncestors<F extends StatusFilters>(
  filters: F,
  scopes: readonly string[],
  ports: Pick<RunPorts, "runs" | "table">,
): Promise<F> {
  if (filters.taskStatuses?.includes("running") !== true) return filters;
  const children = await Promise.all(runIndexStore(ports.runs).activeByCreation(scopes).map(readActiveChildren));
  const bodies = await readBodies(children.flat(), ports.table);
  return { ...filters, activeAncestors: new Set(bodies.flatMap((body) => body?.ancestors ?? [])) };
}

/** Entries of the index that are read at once. */
const ENTRIES = 1_000;

/** The facets of a child. */
const ChildFacets = v.object({ source: v.literal("ORCHESTRATION") });

/** Reads the ids of the active runs of a source that are children. */
async function readActiveChildren(source: Source): Promise<readonly string[]> {
  const found: string[] = [];
  for (let before: string | undefined; ; ) {
    const { items, more } = await source(before === undefined ? {} : { before }, ENTRIES, true);
    found.push(...items.filter(({ p }) => v.is(ChildFacets, p)).map(parseRunId));
    const last = items.at(-1)?.["created_key"];
    if (!more || last === undefined) return found;
    before = String(last);
  }
}
