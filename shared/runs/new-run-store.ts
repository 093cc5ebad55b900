import { ownAllowance } from "#shared/budgets/budget.ts";
import { type Allowance, putBudget } from "#shared/budgets/budget-store.ts";
import { ownLimits, type PlannedLimits, toLimitAttributes } from "#shared/budgets/run-limits.ts";
import { randomId } from "#shared/ids.ts";
import { type StoredScopes, scopesMember, toRunScopes } from "#shared/principals/scopes.ts";
import { DEFAULT_IDLE_MINUTES, folded, LOCAL_START_SECONDS } from "#shared/records/run.ts";
import type { RunBody } from "#shared/records/run-body.ts";
import { type RunFacets, toCheckAttributes } from "#shared/records/run-head.ts";
import { count } from "#shared/runs/capacity/slot-store.ts";
import { activePart, groupKey, keys, type Owner, scopeKey, sortableTime } from "#shared/table/keys.ts";
import type { Put, Update } from "#shared/table/table.ts";
import { putReference } from "./references/reference-store.ts";
import { toFacets } from "./run-facets.ts";

/** Milliseconds after which the reaper requests the dispatch of a run that still waits. */
const FIRST_CHECK_MS = 30_000;

/** Sorts before every character that a text may have, so that a text comes before all texts that begin with it. */
const TIE = "\u0000";

/** The execution of a LOCAL run, which exists from the start, and the hash of its key. */
export interface LocalExecution {
  readonly execution_id: string;
  readonly key_hash: string;
}

export interface NewRun {
  readonly runId: string;
  readonly owner: Owner;
  readonly body: RunBody;
  /** When it is created, in milliseconds. */
  readonly now: number;
  /** Of a run that its caller executes. */
  readonly local?: LocalExecution | undefined;
  /** The part of its team's counters that counts it. @default the first */
  readonly part?: number | undefined;
  /** What its model calls may cost. @default the budget of its own configuration */
  readonly allowance?: Allowance | undefined;
  /** The scopes of what it is made with, which its own key has at most. @default all */
  readonly scopes?: StoredScopes;
  /** How long it may take, and how many model responses and tokens. @default the limits of its own configuration */
  readonly limits?: PlannedLimits | undefined;
}

/** The writes of a new run by name. `queue` counts it at its owner, and is the one that the limit of the queue is a condition of. */
export type NewRunWrites = Readonly<{
  head: Put;
  body: Put;
  created: Put;
  budget: Put | undefined;
  queue: Update | undefined;
  descendants: readonly Put[];
  scheduleEntry: Put | undefined;
  reference: Put | undefined;
}>;

export function toNewRunWrites(run: NewRun): NewRunWrites {
  const { runId, owner, body, local, part } = run;
  const allowance = run.allowance ?? ownAllowance(body.config.budget_usd);
  const limits = run.limits ?? ownLimits(body.config);
  const hasAccount =
    allowance !== undefined || limits?.max_steps !== undefined || limits?.max_total_tokens !== undefined;
  const facets = toFacets(body);
  return {
    head: toHeadPut(run, facets, { hasAccount, limits }),
    body: { kind: "put", item: { ...keys.body(runId), v: 1, ...body } },
    created: toCreatedPut(run, facets),
    budget: hasAccount ? putBudget(runId, allowance ?? { above: [] }, limits) : undefined,
    // A LOCAL run waits in no queue.
    queue: local === undefined ? count(keys.counterPart(owner, part), { queued: 1 }) : undefined,
    descendants: body.ancestors.map((ancestor) => ({
      kind: "put",
      item: { ...keys.descendant(ancestor, runId), v: 1, run_id: runId },
    })),
    scheduleEntry: toScheduleEntry(run, facets),
    reference: body.trigger?.url === undefined ? undefined : putReference(owner, body.trigger.url, runId),
  };
}

interface Accounting {
  readonly hasAccount: boolean;
  readonly limits: PlannedLimits | undefined;
}

function toHeadPut(
  { runId, body, local, scopes, ...run }: NewRun,
  facets: RunFacets,
  { hasAccount, limits }: Accounting,
): Put {
  const [root] = body.ancestors;
  const { idle_timeout_minutes = DEFAULT_IDLE_MINUTES } = body.config;
  return {
    kind: "put",
    item: {
      ...keys.head(runId),
      v: 1,
      state: "QUEUED",
      next_sequence: 2,
      p: facets,
      ...toIndexKeys({ runId, body, local, ...run }),
      ...local,
      ...(run.part === undefined || local !== undefined ? {} : { part: run.part }),
      ...(body.docker_image === undefined ? {} : { own_image: true }),
      ...(body.config.worker_host === undefined || local !== undefined ? {} : { worker_host: body.config.worker_host }),
      ...scopesMember(toRunScopes(scopes)),
      ...(hasAccount ? { b: true } : {}),
      ...(limits === undefined ? {} : toLimitAttributes(runId, limits)),
      ...toAuthAttribute(body.config),
      ...(body.interactive ? { interactive: true } : {}),
      ...(idle_timeout_minutes === DEFAULT_IDLE_MINUTES ? {} : { idle_minutes: idle_timeout_minutes }),
      ...(root === undefined ? {} : { root, depth: body.ancestors.length }),
    },
    if: { pk: { exists: false } },
  };
}

/** The secrets with keys for models, which the model gateway reads with the head. */
function toAuthAttribute({ harness_auth_secrets: secrets }: RunBody["config"]) {
  const { claude_auth_secret_name: claude, codex_auth_secret_name: codex } = secrets ?? {};
  if (claude === undefined && codex === undefined) return {};
  return { auth: { ...(claude === undefined ? {} : { claude }), ...(codex === undefined ? {} : { codex }) } };
}

/** Places the run in the order of each list, and in the reaper's index. */
function toIndexKeys({ runId, owner, body, now, local }: NewRun) {
  const scope = scopeKey(owner);
  const skill = body.config.skill_spec;
  return {
    scope,
    active_scope: scope,
    updated_scope: activePart(scope, runId),
    updated_key: `${sortableTime(now)}#${runId}`,
    created_key: runId,
    title_key: `${folded(body.title)}${TIE}${runId}`,
    // Runs without a skill come last in both directions: readers take the two halves one after the other.
    agent_key: skill === undefined ? `1#${runId}` : `0#${folded(skill)}${TIE}${runId}`,
    ...toCheckAttributes(runId, now + (local === undefined ? FIRST_CHECK_MS : LOCAL_START_SECONDS * 1000)),
  };
}

const toCreatedPut = ({ runId, owner, body, now }: NewRun, facets: RunFacets): Put => ({
  kind: "put",
  item: {
    ...keys.event(runId, 1),
    v: 1,
    sequence: 1,
    uuid: randomId(),
    type: "run_created",
    occurred_at: now,
    data: { state: "QUEUED", ...describeTrigger(body) },
    // Written with each run and never changed, so that it can carry what the head has no room for: one item, one entry.
    scope: groupKey(scopeKey(owner), "creator", body.creator.uid),
    created_key: runId,
    p: facets,
  },
});

/** What the timeline says about a run of a pull request. */
function describeTrigger({ trigger }: RunBody): { readonly detail?: string } {
  if (trigger?.is_fork === true) {
    return { detail: "The pull request is of a fork: the run has no secrets, and can push nowhere." };
  }
  if (trigger?.push === undefined) return {};
  const { repository, branch } = trigger.push;
  return { detail: `Commits on the branch ${branch} of ${repository} are pushed at the end of each turn.` };
}

function toScheduleEntry({ runId, owner }: NewRun, p: RunFacets): Put | undefined {
  if (p.schedule === undefined) return undefined;
  const scope = groupKey(scopeKey(owner), "schedule", p.schedule);
  return { kind: "put", item: { ...keys.scheduleEntry(runId), v: 1, scope, created_key: runId, p } };
}
