import type { Json } from "../json.ts";

/** Descriptions of parameters, by name or by `operation.name`. */
export const parameterNotes: Readonly<Record<string, { readonly description: string; readonly default?: Json }>> = {
  // Path
  followupId: { description: "The id of the follow-up within its run." },
  runId: { description: "The run's id." },
  conversationId: { description: "The conversation's id." },
  sessionId: { description: "The session's id." },
  artifactUid: { description: "The artifact's id." },
  scheduleId: { description: "The schedule's id." },
  identityUid: { description: "The identity's id." },
  from: { description: "The first UTC day. Defaults to 30 days up to `to`, which is included." },
  to: { description: "The last UTC day, which is included. Defaults to today." },
  group_by: { description: "What a bucket stands for.", default: "day" },
  sessionUid: { description: "The web session's id." },
  "deleteSession.all": { description: "Whether to end all web sessions of the caller.", default: false },
  keyUid: { description: "The key's id." },
  ruleUid: { description: "The trust rule's id." },
  triggerUid: { description: "The trigger's id." },
  deliveryId: { description: "The delivery's id." },
  outcome: { description: "Selects deliveries by outcome." },
  webhookUid: { description: "The webhook's id." },
  from_sequence: { description: "The number of the first delivery to send again. Required." },
  "listDeliveries.state": {
    description: "Selects deliveries in this state. A page may then be short and not the last.",
  },
  environmentUid: { description: "The environment's id." },
  teamUid: { description: "The team's id." },
  userUid: { description: "The person's id." },
  invitationId: { description: "The invitation's id." },
  token: { description: "The token of the invitation, the last segment of its link." },
  secret: { description: "The secret's name." },
  code: { description: "The error code, with dashes instead of underscores." },

  // Pages
  limit: { description: "The maximum number of items. By default, up to 500 items or 4 MB." },
  "listRuns.limit": { description: "The maximum number of runs, 1 to 500.", default: 20 },
  cursor: { description: "The `page_info.next_cursor` of the previous page." },
  sort_by: { description: "The sort key." },
  "listRuns.sort_by": {
    description: "The sort key. `agent` sorts by skill; runs without a skill come last in both directions.",
    default: "updated_at",
  },
  "listEnvironments.sort_by": {
    description: "The sort key. `last_updated` returns the latest change first.",
    default: "last_updated",
  },
  "listAgents.sort_by": {
    description: "The sort key. `last_run` returns the latest run first, and skills without runs last.",
    default: "name",
  },
  sort_order: { description: "The sort direction.", default: "desc" },

  // Filters of runs
  state: { description: "Selects runs in this state. Repeat the parameter for several states." },
  task_status: {
    description:
      "Selects runs by the status of their task. `running`: the run or one of its descendants has not ended. The others match " +
      "the state of the run itself: `failed` (`FAILED`, `ERROR`), `blocked`, `cancelled`, `complete` (`SUCCEEDED`). A run may " +
      "match two. Repeat the parameter for several statuses.",
  },
  name: { description: "Selects runs by the name of their configuration." },
  model_id: { description: "Selects runs by model." },
  creator: { description: "Selects runs by the uid of their creator." },
  executor: { description: "Selects runs by the uid of their executor." },
  source: {
    description:
      "Selects runs by source, a RunSourceType. An unknown value selects no runs. Repeat the parameter for several sources.",
  },
  execution_location: { description: "Selects runs by execution location." },
  created_after: { description: "Selects runs created after this time." },
  created_before: { description: "Selects runs created before this time." },
  updated_after: { description: "Selects runs that changed after this time." },
  environment_id: { description: "Selects runs by environment; `empty-environment` selects runs without one." },
  skill: { description: "An alias of `skill_spec`." },
  skill_spec: { description: "Selects runs by skill: `owner/repo:name` or `owner/repo:path/to/SKILL.md`." },
  schedule_id: { description: "Selects runs by schedule, including deleted schedules." },
  trigger_id: { description: "Selects runs by the trigger that started them, including deleted triggers." },
  automation_id: {
    description: "Selects runs by automation: the uid of a trigger, or the value of the metadata key `automation_id`.",
  },
  ancestor_run_id: { description: "Selects the descendants of this run, which must exist and be visible." },
  artifact_type: { description: "Selects runs with an artifact of this type." },
  archived: {
    description: "Selects archived runs (`true`), runs that are not archived (`false`, the default), or `all`.",
  },
  q: {
    description:
      "Searches titles, prompts and skills. Ignores case, accents and word order, and allows for a typo in longer words. " +
      "The id or the URL of a run finds that run.",
  },
  metadata: { description: "Selects runs by metadata, for example `metadata[ticket]=SHOP-1412`. At most 5 keys." },

  factory_uid: { description: "Selects no runs, since no run belongs to a factory." },
  factory_only: { description: "`true` selects no runs, since no run belongs to a factory." },

  actor: { description: "Lists only events of this user or identity, by uid." },
  action: {
    description: "Lists only this action, such as `keys.delete`, or those that begin with it, such as `keys`.",
  },
  target: { description: "Lists only events about the thing with this uid." },

  url: { description: "The URL that the run refers to, percent-encoded." },

  // Options
  keep_keys: { description: "Whether to keep the agent keys that the member created.", default: false },
  repo: { description: "Lists only this repository: `owner/repo`, or its URL without credentials." },
  refresh: { description: "Whether to read the repositories again instead of using cached results.", default: false },
  include_malformed_skills: {
    description: "Whether to include malformed skills, with the reason in `error`.",
    default: false,
  },
  link: { description: "The token of a shared link, which grants read access to its environment." },
  dry_run: {
    description:
      "Whether to only check the request. `true` returns a DryRunResponse, and creates and counts nothing. An `Idempotency-Key` is ignored.",
    default: false,
  },
  force: { description: "Whether to cancel `PENDING`, `CLAIMED` and self-hosted runs as well.", default: false },
  redirect: { description: "Whether to redirect to the URL. `false` returns it in the body instead.", default: true },
  after: { description: "Returns events after this number.", default: 0 },
  live: { description: "Whether to include output that is still being produced.", default: false },
  live_after: { description: "`live_next` of the last response. Returns only newer live output." },
  "createRun.wait": {
    description:
      "The maximum number of seconds to wait for the run's end, 0 to 25. A run that ends in that time is the response, with its state and results.",
    default: 0,
  },
  wait: { description: "The maximum number of seconds to wait for an event, 0 to 25.", default: 0 },
};
