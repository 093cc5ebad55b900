import type { Json } from "../json.ts";

/** What a parameter means; by its name, or by `operation.name`. */
export const parameterNotes: Readonly<Record<string, { readonly description: string; readonly default?: Json }>> = {
  limit: { description: "How many at most. By default all, up to 500 or 4 MB." },
  "listRuns.limit": { description: "How many runs at most.", default: 20 },
  cursor: { description: "`page_info.next_cursor` of the page before." },
  sort_by: { description: "What to sort by." },
  "listRuns.sort_by": {
    description: "What to sort by. `agent` is the skill, and runs without one come last in both directions.",
    default: "updated_at",
  },
  sort_order: { description: "The direction.", default: "desc" },
  state: { description: "Runs in one of these states; repeat it for several." },
  name: { description: "Runs whose configuration has this name." },
  model_id: { description: "Runs with this model." },
  creator: { description: "Runs that this person or identity asked for, by uid." },
  executor: { description: "Runs that work as this person or identity, by uid." },
  source: { description: "Runs that came about this way (RunSourceType). What is none of them matches nothing." },
  execution_location: { description: "Runs that are executed there." },
  created_after: { description: "Runs made after this time." },
  created_before: { description: "Runs made before this time." },
  updated_after: { description: "Runs that changed after this time." },
  environment_id: { description: "Runs in this environment; `empty-environment`: runs without one." },
  skill: { description: "The same as `skill_spec`." },
  skill_spec: { description: "Runs that started from this skill: `owner/repo:name` or `owner/repo:path/to/SKILL.md`." },
  schedule_id: { description: "Runs of this schedule, also of one that was deleted." },
  ancestor_run_id: { description: "Runs below this one, at any depth. It must exist and be visible." },
  artifact_type: { description: "Runs that left such an artifact." },
  q: {
    description:
      "Runs whose title, prompt or skill has these words, in any order, case and accents aside; longer words may have a typo.",
  },
  keep_keys: { description: "Keeps the agent keys that the member created.", default: false },
  metadata: { description: "Runs with these labels: `metadata[ticket]=SHOP-1412`." },
  repo: { description: "Skills of this repository alone: `owner/repo`, or its URL without a credential." },
  refresh: { description: "Looks into the repositories again, however short ago that was.", default: false },
  include_malformed_skills: {
    description: "Also skills that are malformed, with what is wrong in `error`.",
    default: false,
  },
  "listAgents.sort_by": {
    description: "What to sort by. `last_run`: the latest first, those that never ran last.",
    default: "name",
  },
  link: { description: "The token of a shared link, which opens an environment of others." },
  dry_run: {
    description: "`true` is refused with 422: checking a run without creating it is not supported yet.",
    default: false,
  },
  force: { description: "Cancels also what is PENDING, CLAIMED or with a self-hosted worker.", default: false },
  redirect: { description: "`false`: answers with the address instead of leading there.", default: true },
  after: { description: "Events after this number.", default: 0 },
  wait: { description: "Seconds to wait for an event, where there is none yet.", default: 0 },
};
