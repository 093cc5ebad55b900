import fc from "fast-check";
import { expect, it } from "vitest";
import { uuidv7 } from "#shared/ids.ts";
import { isTerminal } from "#shared/records/run.ts";
import type { RunHead } from "#shared/records/run-head.ts";
import type { Filters } from "#shared/runs/listing/filters.ts";
import { type Change, ENDING_ATTRIBUTES, EXECUTION_ATTRIBUTES } from "#shared/runs/transition.ts";
import { toTransitionWrites } from "#shared/runs/transition-store.ts";
import { listWrites } from "#shared/table/transact.ts";
import { RunState } from "#shared/wire/run.ts";
import { type ListedRun, ownWrites } from "../../lab/bench/listed-run.ts";
import type { TestControlPlane } from "./control-plane.ts";
import { ORDERS, storeRuns, walk } from "./listing.ts";

const RUNS = 30;

const step = fc.record({
  run: fc.nat({ max: RUNS - 1 }),
  kind: fc.constantFrom("move", "touch", "create"),
  afterMs: fc.constantFrom(0, 1, 5),
});
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** Filters that keep matching a run as long as it does not change. */
const filters = fc.constantFrom<Filters>(
  {},
  {},
  { creator: "person-1" },
  { scheduleId: "schedule-1" },
  { states: ["QUEUED", "INPROGRESS"] },
  { states: ["SUCCEEDED"] },
  { metadata: { odd: "yes" } },
);

function createRun(number: number, state: RunState, plane: TestControlPlane): ListedRun {
  const createdAt = plane.clock.now;
  const creator = { type: "user" as const, uid: `person-${number % 2}` };
  const schedule = { schedule_id: `schedule-${number % 3}`, schedule_name: "s", cron_schedule: "@daily" };
  return {
    runId: uuidv7(createdAt),
    owner: number % 4 === 0 ? { type: "User", uid: plane.user } : { type: "Team", uid: plane.team },
    createdAt,
    updatedAt: createdAt,
    state,
    body: {
      title: `title ${number % 5}`,
      creator,
      executor: creator,
      schedule,
      metadata: { odd: number % 2 === 1 ? "yes" : "no" },
      config: number % 3 === 0 ? {} : { skill_spec: `o/r:${number % 4}` },
    },
  };
}

/** One change as the service makes it, without slots, which do not affect the lists. */
function createChange(head: RunHead, { kind }: Step): Change {
  const events = [{ type: "checkpoint_saved" as const }];
  if (kind === "touch") return { touch: true, events };
  if (isTerminal(head.state)) return { to: "QUEUED", events, remove: [...ENDING_ATTRIBUTES, ...EXECUTION_ATTRIBUTES] };
  if (head.state === "QUEUED") return { to: "CANCELLED", events, set: { ended_at: 1 } };
  const via = head.state === "INPROGRESS" ? {} : { via: "INPROGRESS" as const };
  return { to: "FAILED", ...via, events, set: { ended_at: 1 } };
}

async function apply(one: Step, ids: readonly string[], plane: TestControlPlane): Promise<string | undefined> {
  plane.clock.now += one.afterMs;
  if (one.kind === "create") {
    await storeRuns(plane.table, [createRun(one.run, "QUEUED", plane)]);
    return undefined;
  }
  const id = ids[one.run] ?? "";
  const head = await plane.ports.runs.head(id);
  if (head === undefined) throw new Error("the run is gone");
  const writes = listWrites(toTransitionWrites(head, createChange(head, one), plane.clock.now));
  await plane.table.transact(ownWrites(id, writes));
  return id;
}

const isMatch = ({ state, body }: ListedRun, { creator, scheduleId, states, metadata }: Filters): boolean =>
  (creator === undefined || body?.creator?.uid === creator) &&
  (scheduleId === undefined || body?.schedule?.schedule_id === scheduleId) &&
  (states === undefined || states.includes(state)) &&
  (metadata === undefined || body?.metadata?.["odd"] === metadata["odd"]);

/** Tests walks through lists in all control planes that `createPlane` creates. */
export function listWalkContract(createPlane: () => Promise<TestControlPlane>, numRuns = 12): void {
  it.each(ORDERS)(
    "by $sortBy (descending: $descending) returns each unchanged run once while others change",
    async (order) => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.constantFrom(...RunState.options), { minLength: RUNS, maxLength: RUNS }),
          fc.array(fc.array(step, { maxLength: 3 }), { maxLength: 30 }),
          filters,
          fc.integer({ min: 1, max: 9 }),
          async (states, changes, filter, limit) => {
            const plane = await createPlane();
            const runs = states.map((state, number) => {
              plane.clock.now += number % 2;
              return createRun(number, state, plane);
            });
            await storeRuns(plane.table, runs);
            const ids = runs.map(({ runId }) => runId);
            const changed = new Set<string>();
            const between = async (): Promise<void> => {
              for (const one of changes.shift() ?? []) changed.add((await apply(one, ids, plane)) ?? "");
            };
            const seen = await walk(plane, { order, filters: filter, limit, between });
            const unchanged = runs.filter((run) => !changed.has(run.runId) && isMatch(run, filter));
            for (const { runId } of unchanged) {
              expect(seen.filter((id) => id === runId)).toHaveLength(1);
            }
            const others = new Set(
              runs.filter((run) => !isMatch(run, filter) && !changed.has(run.runId)).map((run) => run.runId),
            );
            expect(seen.filter((id) => others.has(id))).toEqual([]);
          },
        ),
        { numRuns },
      );
    },
  );
}
