import * as v from "valibot";
import { RUN_STATES, type RunState, type RunsListParams } from "../../clients/typescript/src/index.ts";
import { parseMetadata } from "../ui/metadata-text.ts";

/** The quick filters of the list. */
export const VIEWS = ["all", "mine", "needs-you", "active", "failed", "scheduled"] as const;
export type View = (typeof VIEWS)[number];

export const ACTIVE_STATES: readonly RunState[] = ["QUEUED", "PENDING", "CLAIMED", "INPROGRESS"];

/** The states of the quick filters that select by state. */
const VIEW_STATES: Readonly<Partial<Record<View, readonly RunState[]>>> = {
  "needs-you": ["BLOCKED"],
  active: ACTIVE_STATES,
  failed: ["FAILED", "ERROR"],
};

/** A wrong value in an address is ignored, because addresses are edited by hand and shared between versions. */
const lenient = <T>(schema: v.GenericSchema<unknown, T>) => v.optional(v.fallback(v.optional(schema), undefined));
const Text = lenient(v.pipe(v.string(), v.nonEmpty()));

/** The states in a text such as `FAILED,ERROR`. */
export const parseStates = (text: string | undefined): RunState[] =>
  RUN_STATES.filter((state) => text?.split(",").includes(state));
export const formatStates = (states: readonly RunState[]): string | undefined => states.join(",") || undefined;

/** An amount in US dollars. */
export const AMOUNT = /^\d{1,6}(\.\d{1,9})?$/;

/** The filters of the list of runs, as they are in the address. */
export const RunSearch = v.object({
  view: lenient(v.picklist(VIEWS)),
  q: Text,
  /** One state, or several with commas between them. */
  state: lenient(
    v.pipe(
      v.string(),
      v.transform((text) => formatStates(parseStates(text))),
    ),
  ),
  source: Text,
  creator: Text,
  agent: Text,
  schedule: Text,
  trigger: Text,
  environment: Text,
  skill: Text,
  model: Text,
  /** `name=value`, several on lines of their own. */
  metadata: Text,
  /** The least cost in US dollars, such as `2.50`. */
  cost: lenient(v.pipe(v.string(), v.regex(AMOUNT))),
  after: Text,
  before: Text,
  archived: lenient(v.picklist(["only", "all"])),
});
export type RunSearch = v.InferOutput<typeof RunSearch>;

/** The parameters of the API for filters. `me` is the uid of the viewer. Dates are days in the viewer's zone. */
export function toListParams(search: RunSearch, me: string): RunsListParams {
  const view = search.view ?? "all";
  const states = search.state === undefined ? VIEW_STATES[view] : parseStates(search.state);
  const creator = search.creator ?? (view === "mine" ? me : undefined);
  const source = search.source ?? (view === "scheduled" ? "SCHEDULED_AGENT" : undefined);
  const metadata = parseMetadata(search.metadata ?? "");
  return {
    sort_by: "created_at",
    ...(states === undefined ? {} : { state: [...states] }),
    ...(creator === undefined ? {} : { creator }),
    ...(source === undefined ? {} : { source: [source] }),
    ...(search.q === undefined ? {} : { q: search.q }),
    ...(search.agent === undefined ? {} : { executor: search.agent }),
    ...(search.schedule === undefined ? {} : { schedule_id: search.schedule }),
    ...(search.trigger === undefined ? {} : { trigger_id: search.trigger }),
    ...(search.environment === undefined ? {} : { environment_id: search.environment }),
    ...(search.skill === undefined ? {} : { skill: search.skill }),
    ...(search.model === undefined ? {} : { model_id: search.model }),
    ...(metadata === undefined ? {} : { metadata }),
    ...(search.cost === undefined ? {} : { min_cost_usd: Number(search.cost) }),
    ...(search.archived === undefined ? {} : { archived: search.archived === "only" ? "true" : "all" }),
    ...dayRange(search),
  };
}

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

const FILTERS = [
  ...(["state", "source", "creator", "agent", "schedule", "trigger", "environment", "skill", "model"] as const),
  ...(["metadata", "cost", "after", "before", "archived"] as const),
] as const;
export type FilterName = (typeof FILTERS)[number];
/** The names of the filters that are set, except for the quick filter and the search. */
export const activeFilters = (search: RunSearch) => FILTERS.filter((name) => search[name] !== undefined);

/** Whether anything selects among the runs. */
export const isFiltered = (search: RunSearch): boolean =>
  search.q !== undefined || search.view !== undefined || activeFilters(search).length > 0;

/** Removes the quick filter, the search and the filters. */
export const NO_FILTERS: Partial<RunSearch> = {
  view: undefined,
  q: undefined,
  ...Object.fromEntries(FILTERS.map((name) => [name, undefined])),
};
