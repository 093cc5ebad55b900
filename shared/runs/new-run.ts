import { type Allowance, ownAllowance, putBudget } from "#shared/budgets/budget.ts";
import { randomId } from "#shared/ids.ts";
import { folded, LOCAL_START_SECONDS } from "#shared/records/run.ts";
import type { RunBody } from "#shared/records/run-body.ts";
import type { RunFacets } from "#shared/records/run-head.ts";
import { count } from "#shared/runs/capacity/slots.ts";
import { activePart, checkShard, groupKey, keys, type Owner, scopeKey, sortableTime } from "#shared/table/keys.ts";
import type { TransactionWrite } from "#shared/table/table.ts";
import { tagsOf } from "./metadata-tags.ts";

/** Milliseconds after which the reaper asks for the dispatch of a run that is still waiting. */
const FIRST_CHECK_MS = 30_000;

/** Sorts before every character that a text may have, so that a text comes before all that begin with it. */
const TIE = "\u0000";

export interface LocalExecution {
  readonly execution_id: string;
  readonly key_hash: string;
}

/** The writes of a new run: head, body, first event, entries for its relatives, and the owner's counter last but them. */
export function newRunWrites(
  runId: string,
  owner: Owner,
  body: RunBody,
  now: number,
  /** Of a run that its caller executes: the execution that is ready for it, and its key's hash. */
  local?: LocalExecution,
  /** What its model calls may cost, where it is not only the budget of its own configuration. */
  allowance: Allowance | undefined = ownAllowance(body.config.budget_usd),
): TransactionWrite[] {
  const scope = scopeKey(owner);
  const skill = body.config.skill_spec;
  const tags = tagsOf(body.metadata ?? {});
  const [root] = body.ancestors;
  const facets: RunFacets = {
    ...(body.config.name === undefined ? {} : { name: body.config.name }),
    ...(body.config.model_id === undefined ? {} : { model: body.config.model_id }),
    creator: body.creator.uid,
    ...(body.executor.uid === body.creator.uid ? {} : { executor: body.executor.uid }),
    ...(body.executor.type === "service_account" ? { as_identity: true as const } : {}),
    source: body.source,
    location: body.execution_location,
    ...(body.config.environment_id === undefined ? {} : { environment: body.config.environment_id }),
    ...(skill === undefined ? {} : { skill }),
    ...(body.schedule === undefined ? {} : { schedule: body.schedule.schedule_id }),
    ...(tags === "" ? {} : { tags }),
  };
  const indexKeys = {
    scope,
    active_scope: scope,
    updated_scope: activePart(scope),
    updated_key: `${sortableTime(now)}#${runId}`,
    created_key: runId,
    title_key: `${folded(body.title)}${TIE}${runId}`,
    // Runs without a skill come last in both directions: readers take the two halves one after the other.
    agent_key: skill === undefined ? `1#${runId}` : `0#${folded(skill)}${TIE}${runId}`,
    check_shard: checkShard(runId),
    check_at: sortableTime(now + (local === undefined ? FIRST_CHECK_MS : LOCAL_START_SECONDS * 1000)),
  };
  const head: TransactionWrite = {
    kind: "put",
    item: {
      ...keys.head(runId),
      v: 1,
      state: "QUEUED",
      next_sequence: 2,
      p: facets,
      ...indexKeys,
      ...local,
      ...(body.docker_image === undefined ? {} : { own_image: true }),
      ...(allowance === undefined ? {} : { b: true }),
      ...(root === undefined ? {} : { root, depth: body.ancestors.length }),
    },
    if: { pk: { exists: false } },
  };
  const created: TransactionWrite = {
    kind: "put",
    item: {
      ...keys.event(runId, 1),
      v: 1,
      sequence: 1,
      uuid: randomId(),
      type: "run_created",
      occurred_at: now,
      data: { state: "QUEUED" },
      // Written with each run and never changed, so that it can carry what the head has no place for: one item, one entry.
      scope: groupKey(scope, "creator", body.creator.uid),
      created_key: runId,
      p: facets,
    },
  };
  return [
    head,
    { kind: "put", item: { ...keys.body(runId), v: 1, ...body } },
    created,
    ...(allowance === undefined ? [] : [putBudget(runId, allowance)]),
    // It waits in nobody's queue.
    ...(local === undefined ? [count(keys.counters(owner), { queued: 1 })] : []),
    ...familyWrites(runId, scope, body, facets),
  ];
}

function familyWrites(runId: string, scope: string, body: RunBody, p: RunFacets): TransactionWrite[] {
  const descendants = body.ancestors.map(
    (ancestor): TransactionWrite => ({
      kind: "put",
      item: { ...keys.descendant(ancestor, runId), v: 1, run_id: runId },
    }),
  );
  if (p.schedule === undefined) return descendants;
  const entry = { v: 1, scope: groupKey(scope, "schedule", p.schedule), created_key: runId, p };
  return [...descendants, { kind: "put", item: { ...keys.scheduleEntry(runId), ...entry } }];
}
