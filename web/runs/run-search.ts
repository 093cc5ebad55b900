import * as v from "valibot";
import { RUN_STATES, type RunState, type RunsListParams } from "../../clients/typescript/src/index.ts";

/** The quick filters of the list. */
export const VIEWS = ["all", "mine", "active", "failed", "scheduled"] as const;
export type View = (typeof VIEWS)[number];

const ACTIVE_STATES: readonly RunState[] = ["QUEUED", "PENDING", "CLAIMED", "INPROGRESS"];
const FAILED_STATES: readonly RunState[] = ["FAILED", "ERROR"];

/** A wrong value in an address is ignored, because addresses are edited by hand and shared between versions. */
const lenient = <T>(schema: v.GenericSchema<unknown, T>) => v.optional(v.fallback(v.optional(schema), undefined));
const Text = lenient(v.pipe(v.string(), v.nonEmpty()));

/** The filters of the list of runs, as they are in the address. */
export const RunSearch = v.object({
  view: lenient(v.picklist(VIEWS)),
  q: Text,
  state: lenient(v.picklist(RUN_STATES)),
  source: Text,
  creator: Text,
  environment: Text,
  skill: Text,
  model: Text,
  after: Text,
  before: Text,
  archived: lenient(v.picklist(["only", "all"])),
});
export type RunSearch = v.InferOutput<typeof RunSearch>;

/** The parameters of the API for filters. `me` is the uid of the viewer. Dates are days in the viewer's zone. */
export function toListParams(search: RunSearch, me: string): RunsListParams {
  const view = search.view ?? "all";
  const states = search.state === undefined ? viewStates(view) : [search.state];
  const creator = search.creator ?? (view === "mine" ? me : undefined);
  const source = search.source ?? (view === "scheduled" ? "SCHEDULED_AGENT" : undefined);
  return {
    sort_by: "created_at",
    ...(states === undefined ? {} : { state: [...states] }),
    ...(creator === undefined ? {} : { creator }),
    ...(source === undefined ? {} : { source: [source] }),
    ...(search.q === undefined ? {} : { q: search.q }),
    ...(search.environment === undefined ? {} : { environment_id: search.environment }),
    ...(search.skill === undefined ? {} : { skill: search.skill }),
    ...(search.model === undefined ? {} : { model_id: search.model }),
    ...(search.archived === undefined ? {} : { archived: search.archived === "only" ? "true" : "all" }),
    ...dayRange(search),
  };
}

const viewStates = (view: View): readonly RunState[] | undefined =>
  view === "active" ? ACTIVE_STATES : view === "failed" ? FAILED_STATES : undefined;

function dayRange({ after, before }: RunSearch): { created_after?: string; created_before?: string } {
  const start = startOfDay(after, 0);
  const end = startOfDay(before, 1);
  return {
    ...(start === undefined ? {} : { created_after: new Date(start - 1).toISOString() }),
    ...(end === undefined ? {} : { created_before: new Date(end).toISOString() }),
  };
}

function startOfDay(day: string | undefined, plusDays: number): number | undefined {
  const parts = /^(\d{4})-(\d\d)-(\d\d)$/.exec(day ?? "");
  if (parts === null) return undefined;
  const [year = 0, month = 0, date = 0] = parts.slice(1).map(Number);
  return new Date(year, month - 1, date + plusDays).getTime();
}

export interface FilterProps {
  readonly search: RunSearch;
  /** Changes some of the filters. `undefined` removes one. */
  readonly onChange: (changes: Partial<RunSearch>) => void;
}

const FILTERS = ["state", "source", "creator", "environment", "skill", "model", "after", "before", "archived"] as const;
export type FilterName = (typeof FILTERS)[number];
/** The names of the filters that are set, except for the quick filter and the search. */
export const activeFilters = (search: RunSearch) => FILTERS.filter((name) => search[name] !== undefined);
