import fc from "fast-check";
import { expect, it } from "vitest";
import { uuidv7 } from "#shared/ids.ts";
import type { Filters } from "#shared/runs/listing/filters.ts";
import type { Order } from "#shared/runs/listing/order.ts";
import type { Owner } from "#shared/table/keys.ts";
import { type RunSourceType, RunState, TASK_STATUSES, type TaskStatus } from "#shared/wire/run.ts";
import type { ListedRun } from "../../lab/bench/listed-run.ts";
import type { TestControlPlane } from "./control-plane.ts";
import { ORDERS, storeRuns, walk } from "./listing.ts";

/** Compares lists with a simple model: all runs, filtered and sorted in memory. */

const START = Date.parse("2026-05-18T12:00:00.000Z");
/** A small set of times, so that several runs have the same one. */
const TIMES = [0, 1, 2, 1_000, 60_000, 86_400_000];
const PEOPLE = ["person-1", "person-2"];
const SCHEDULES = ["schedule-1", "schedule-2"];
const WORDS = ["alpha", "zebra", "quick"];

const shape = fc.record({
  owner: fc.constantFrom("team", "team", "team", "mine", "theirs"),
  created: fc.constantFrom(...TIMES),
  lived: fc.constantFrom(...TIMES),
  state: fc.constantFrom(...RunState.options),
  title: fc.constantFrom("b", "A!", "a", "Ä", "ä", "ａ", "0", "a\u{10000}"),
  word: fc.constantFrom(...WORDS),
  skill: fc.option(fc.constantFrom("o/r:s", "o/r:T", "o/a:z"), { nil: undefined }),
  name: fc.option(fc.constantFrom("nightly", "weekly"), { nil: undefined }),
  environment: fc.option(fc.constantFrom("environment-1"), { nil: undefined }),
  creator: fc.constantFrom(...PEOPLE),
  executor: fc.option(fc.constantFrom(...PEOPLE), { nil: undefined }),
  source: fc.constantFrom("API" as const, "CLI" as const),
  trigger: fc.option(fc.constantFrom("trigger-1", "x"), { nil: undefined }),
  schedule: fc.option(fc.constantFrom(...SCHEDULES), { nil: undefined }),
  metadata: fc.option(fc.dictionary(fc.constantFrom("a", "b", "automation_id"), fc.constantFrom("x", "y")), {
    nil: undefined,
  }),
  artifacts: fc.option(fc.constantFrom(["FILE"], ["FILE", "PLAN"]), { nil: undefined }),
  archived: fc.oneof({ arbitrary: fc.constant(false), weight: 3 }, { arbitrary: fc.constant(true), weight: 1 }),
  /** Makes it a child of the run that is this many places before it. */
  parent: fc.option(fc.integer({ min: 1, max: 5 }), { nil: undefined, freq: 2 }),
});
type Shape = typeof shape extends fc.Arbitrary<infer T> ? T : never;

/** Sets each filter in one of seven queries, so that most queries have one or two filters. */
const rarely = <T>(arbitrary: fc.Arbitrary<T>) =>
  fc.oneof({ arbitrary: fc.constant(undefined), weight: 6 }, { arbitrary, weight: 1 });
const timeFilter = rarely(fc.constantFrom(...TIMES).map((time) => new Date(START + time).toISOString()));
const filters = fc.record({
  states: rarely(fc.uniqueArray(fc.constantFrom(...RunState.options), { minLength: 1, maxLength: 4 })),
  taskStatuses: rarely(fc.uniqueArray(fc.constantFrom(...TASK_STATUSES), { minLength: 1, maxLength: 3 })),
  name: rarely(fc.constantFrom("nightly", "weekly")),
  creator: rarely(fc.constantFrom(...PEOPLE)),
  executor: rarely(fc.constantFrom(...PEOPLE)),
  source: rarely(fc.oneof(fc.constantFrom("API", "FAX"), fc.constant(["CLI", "ORCHESTRATION"]))),
  triggerId: rarely(fc.constantFrom("trigger-1", "trigger-2")),
  automationId: rarely(fc.constantFrom("trigger-1", "x")),
  environmentId: rarely(fc.constantFrom("environment-1", "empty-environment")),
  skillSpec: rarely(fc.constantFrom("o/r:s", "o/r:T")),
  scheduleId: rarely(fc.constantFrom(...SCHEDULES)),
  createdAfter: timeFilter,
  createdBefore: timeFilter,
  updatedAfter: timeFilter,
  artifactType: rarely(fc.constantFrom("FILE", "PLAN")),
  metadata: rarely(fc.dictionary(fc.constantFrom("a", "b"), fc.constantFrom("x", "y"), { minKeys: 1 })),
  archived: rarely(fc.constantFrom("true" as const, "all" as const)),
  q: rarely(fc.constantFrom(...WORDS, "alpha b")),
});
const query = fc.record({
  filters,
  /** Descendants of the run with this number. */
  ancestor: rarely(fc.nat({ max: 39 })),
  order: fc.constantFrom(...ORDERS),
  limit: fc.constantFrom(1, 2, 7, 500),
});

interface Row {
  readonly shape: Shape;
  readonly run: ListedRun;
  readonly ancestors: readonly string[];
}

function createRows(shapes: readonly Shape[], plane: TestControlPlane): Row[] {
  const owners: Record<string, Owner> = {
    team: { type: "Team", uid: plane.team },
    mine: { type: "User", uid: plane.user },
    theirs: { type: "Team", uid: plane.otherTeam },
  };
  const rows: Row[] = [];
  for (const [index, one] of shapes.entries()) {
    const parent = one.parent === undefined ? undefined : rows[index - one.parent];
    const createdAt = START + one.created;
    const runId = uuidv7(createdAt);
    const ancestors = parent === undefined ? [] : [...parent.ancestors, parent.run.runId];
    const profile = (uid: string) => ({ type: "user" as const, uid });
    rows.push({
      shape: one,
      ancestors,
      run: {
        runId,
        owner: parent?.run.owner ?? owners[one.owner] ?? { type: "Team", uid: "" },
        createdAt,
        updatedAt: one.state === "QUEUED" ? createdAt : createdAt + one.lived,
        state: one.state,
        ...(one.archived ? { archived: true } : {}),
        ...(one.artifacts === undefined || one.state === "QUEUED" ? {} : { artifactTypes: one.artifacts }),
        body: {
          title: one.title,
          prompt: `please ${one.word}`,
          config: {
            ...(one.skill === undefined ? {} : { skill_spec: one.skill }),
            ...(one.name === undefined ? {} : { name: one.name }),
            ...(one.environment === undefined ? {} : { environment_id: one.environment }),
          },
          creator: profile(one.creator),
          executor: profile(one.executor ?? one.creator),
          source: toSource(one),
          ...(one.trigger === undefined ? {} : { trigger: { trigger_id: one.trigger } }),
          ancestors,
          ...(parent === undefined ? {} : { parent_run_id: parent.run.runId }),
          ...(one.metadata === undefined ? {} : { metadata: one.metadata }),
          ...(one.schedule === undefined
            ? {}
            : { schedule: { schedule_id: one.schedule, schedule_name: "s", cron_schedule: "@daily" } }),
        },
      },
    });
  }
  return rows;
}

/** The service gives each child this source. */
const toSource = ({ parent, source }: Shape): RunSourceType => (parent === undefined ? source : "ORCHESTRATION");

const OWN_STATUSES: Readonly<Record<RunState, TaskStatus>> = {
  ...{ QUEUED: "running", PENDING: "running", CLAIMED: "running", INPROGRESS: "running", SUCCEEDED: "complete" },
  ...{ FAILED: "failed", ERROR: "failed", BLOCKED: "blocked", CANCELLED: "cancelled" },
};

/** Whether a run has a status; every run has an undefined one. */
function hasTaskStatus({ runId, state }: ListedRun, status: TaskStatus | undefined, rows: readonly Row[]): boolean {
  const isActive = (row: Row) => OWN_STATUSES[row.run.state] === "running";
  const hasActiveDescendant = () => rows.some((row) => row.ancestors.includes(runId) && isActive(row));
  return status === undefined || OWN_STATUSES[state] === status || (status === "running" && hasActiveDescendant());
}

const folded = (text: string) => text.normalize("NFKC").toLowerCase();

function expected(rows: readonly Row[], plane: TestControlPlane, order: Order, filter: Filters): string[] {
  const is = <T>(wanted: T | undefined, value: T | undefined) => wanted === undefined || wanted === value;
  const isAfter = (time: number, bound: string | undefined) => bound === undefined || time > Date.parse(bound);
  const isBefore = (time: number, bound: string | undefined) => bound === undefined || time < Date.parse(bound);
  const matching = rows.filter(({ shape: one, run, ancestors }) => {
    const { owner } = run;
    const words = `${one.title} ${one.skill ?? ""} please ${one.word}`.toLowerCase();
    return (
      (owner.uid === plane.team || owner.uid === plane.user) &&
      (filter.states === undefined || filter.states.includes(run.state)) &&
      (filter.taskStatuses ?? [undefined]).some((status) => hasTaskStatus(run, status, rows)) &&
      is(filter.name, one.name) &&
      is(filter.creator, one.creator) &&
      is(filter.executor, one.executor ?? one.creator) &&
      (filter.source === undefined || [filter.source].flat().includes(toSource(one))) &&
      is(filter.triggerId, one.trigger) &&
      (is(filter.automationId, one.trigger) || is(filter.automationId, one.metadata?.["automation_id"])) &&
      (filter.environmentId === "empty-environment"
        ? one.environment === undefined
        : is(filter.environmentId, one.environment)) &&
      is(filter.skillSpec, one.skill) &&
      is(filter.scheduleId, one.schedule) &&
      isAfter(run.createdAt, filter.createdAfter) &&
      isBefore(run.createdAt, filter.createdBefore) &&
      isAfter(run.updatedAt, filter.updatedAfter) &&
      (filter.ancestorRunId === undefined || ancestors.includes(filter.ancestorRunId)) &&
      (filter.archived === "all" || one.archived === (filter.archived === "true")) &&
      (filter.artifactType === undefined || (run.artifactTypes ?? []).includes(filter.artifactType)) &&
      Object.entries(filter.metadata ?? {}).every(([key, value]) => one.metadata?.[key] === value) &&
      (filter.q === undefined || filter.q.split(" ").every((word) => words.includes(word)))
    );
  });
  const bytes = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b)) * (order.descending ? -1 : 1);
  const toKey = ({ shape: one, run }: Row) =>
    ({
      updated_at: String(run.updatedAt),
      created_at: String(run.createdAt),
      title: folded(one.title),
      agent: folded(one.skill ?? ""),
    })[order.sortBy];
  const isMissing = ({ shape: one }: Row) => Number(order.sortBy === "agent" && one.skill === undefined);
  return matching
    .toSorted((a, b) => isMissing(a) - isMissing(b) || bytes(toKey(a), toKey(b)) || bytes(a.run.runId, b.run.runId))
    .map(({ run }) => run.runId);
}

/** Tests lists in all control planes that `createPlane` creates. */
export function listContract(createPlane: () => Promise<TestControlPlane>): void {
  it("equals filtering and sorting all runs, for any filters, order and page size", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(shape, { minLength: 1, maxLength: 40 }),
        fc.array(query, { minLength: 12, maxLength: 12 }),
        async (shapes, queries) => {
          const plane = await createPlane();
          const rows = createRows(shapes, plane);
          await storeRuns(
            plane.table,
            rows.map(({ run }) => run),
          );
          for (const { filters: filter, order, limit, ancestor } of queries) {
            const seen = rows.filter(({ run }) => run.owner.uid !== plane.otherTeam);
            const ancestorRunId = ancestor === undefined ? undefined : seen[ancestor % seen.length]?.run.runId;
            const all = { ...filter, ancestorRunId };
            expect(await walk(plane, { order, limit, filters: all })).toEqual(expected(rows, plane, order, all));
          }
        },
      ),
      { numRuns: 60 },
    );
  });
}
