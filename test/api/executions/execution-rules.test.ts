import { beforeEach, describe, expect, it } from "vitest";
import { toChunks } from "#shared/executions/chunks.ts";
import {
  assertHarnessInstance,
  authorizeExecution,
  authorizeExecutionRead,
} from "#shared/executions/execution-access.ts";
import { confirmStop, expireAtRestart, expireExecution, recordShutdown } from "#shared/executions/expired-execution.ts";
import { finishExecution } from "#shared/executions/finish-task.ts";
import { recordHeartbeat } from "#shared/executions/heartbeat.ts";
import { recordSkill } from "#shared/executions/loaded-skill.ts";
import { storeNotification } from "#shared/executions/notifications.ts";
import { createRepositoryTokens } from "#shared/executions/repository-tokens.ts";
import { putHandle } from "#shared/executions/sandbox-handle-store.ts";
import { recordSandbox, removeStops } from "#shared/executions/sandbox-stops.ts";
import { type ExecutingHead, isExecutingHead, type RunHead, readHead } from "#shared/records/run-head.ts";
import { copyFacets } from "#shared/runs/archiving/facet-store.ts";
import { keys, sortableTime } from "#shared/table/keys.ts";
import { createClient } from "../../support/client.ts";
import { createTestControlPlane, type TestControlPlane } from "../../support/control-plane.ts";
import { deliver, nextExecution, startedRun, workingRun } from "../../support/execution.ts";
import { readTimeline, setState } from "../../support/look.ts";

let plane: TestControlPlane;
beforeEach(async () => {
  plane = await createTestControlPlane();
});

const head = async (run: string): Promise<RunHead> => {
  const found = await readHead(run, plane.table);
  if (found === undefined) throw new Error("the run does not exist");
  return found;
};
const executing = async (run: string): Promise<ExecutingHead> => {
  const found = await head(run);
  if (!isExecutingHead(found)) throw new Error("the run is not executing");
  return found;
};
const asRun = (of: RunHead, stopping = false) =>
  ({ kind: "run", head: of, executionId: of.execution_id ?? "", stopping }) as const;
const noHeader = () => undefined;
/** The event of a run that has this type, as the timeline shows it. */
const findEvent = async (run: string, type: string) => {
  const { events } = (await createClient(plane).get(`/agent/runs/${run}/timeline`)).body;
  return events.findLast(({ event_type }: { event_type: string }) => event_type === type);
};
const statusMessage = async (run: string) =>
  (await createClient(plane).get(`/agent/runs/${run}`)).body.status_message?.message;

describe("a call of an execution", () => {
  it("is refused to principals other than runs, and for other runs", async () => {
    const personal = await plane.ports.principals.authenticate(`Bearer ${plane.key}`, undefined);
    const refused = { code: "not_authorized", detail: "this endpoint accepts only the key of a run" };
    await expect(authorizeExecution(personal, noHeader, plane.ports)).rejects.toMatchObject(refused);
    expect(() => authorizeExecutionRead(personal, noHeader)).toThrow(expect.objectContaining(refused));
    const of = await executing((await workingRun(plane)).run_id);
    await expect(authorizeExecution(asRun(of), noHeader, plane.ports, "another")).rejects.toMatchObject({
      code: "not_authorized",
      detail: "a run's key gives access to its own run only",
    });
    expect(await authorizeExecution(asRun(of), noHeader, plane.ports, of.run_id)).toBe(of);
    expect(authorizeExecutionRead(asRun(of), noHeader)).toBe(of);
  });

  it("is refused once the execution has ended", async () => {
    const harness = await workingRun(plane);
    await harness.finish();
    const ended = await head(harness.run_id);
    await expect(authorizeExecution(asRun(ended), noHeader, plane.ports)).rejects.toMatchObject({
      code: "authentication_required",
    });
    expect(authorizeExecutionRead(asRun(ended), noHeader)).toBe(ended);
  });

  it("begins an execution that its worker has claimed", async () => {
    const harness = await startedRun(plane);
    await setState(plane, harness.run_id, "CLAIMED");
    const begun = await authorizeExecution(asRun(await head(harness.run_id)), noHeader, plane.ports);
    expect(begun).toMatchObject({ state: "INPROGRESS", execution_id: harness.execution_id });
    expect(await head(harness.run_id)).toMatchObject({ state: "INPROGRESS" });
  });

  it.each([
    [undefined, true],
    ["1", true],
    ["0", true],
    ["12", true],
    ["-1", false],
    ["-12", false],
    ["", false],
    ["1x", false],
    ["x1", false],
  ])("with the protocol %j is accepted: %j", async (protocol, isAccepted) => {
    const of = await executing((await startedRun(plane)).run_id);
    const check = () => assertHarnessInstance(of, (name) => (name === "runyard-protocol" ? protocol : undefined));
    if (isAccepted) check();
    else expect(check).toThrow(expect.objectContaining({ code: "invalid_request", status: 426 }));
  });

  it("is refused to any instance but the first one, with an error that is not retryable", async () => {
    const of = await executing((await workingRun(plane)).run_id);
    const asInstance = (instance: string | undefined) =>
      assertHarnessInstance(of, (name) => (name === "runyard-instance" ? instance : undefined));
    asInstance(of.instance_id);
    asInstance(undefined);
    const conflict = {
      code: "conflict",
      retryable: false,
      detail: "Runyard-Instance: another harness runs this execution",
    };
    expect(() => asInstance("another")).toThrow(expect.objectContaining(conflict));
  });
});

describe("the end of an execution", () => {
  it.each([
    [{ success: true, summary: "" }, "SUCCEEDED", "done"],
    [{ success: true, summary: "built" }, "SUCCEEDED", "built"],
    [{ success: false, summary: "" }, "FAILED", "the agent gave no reason"],
    [{ success: false, summary: "no disk" }, "FAILED", "no disk"],
    [{ success: true, blocked: true, summary: "" }, "BLOCKED", "the agent waits for an answer"],
    [{ success: false, blocked: true, summary: "which one?" }, "BLOCKED", "which one?"],
  ])("by %j leaves the run %s with %j", async (request, state, text) => {
    const { run_id } = await workingRun(plane);
    plane.sent.splice(0);
    expect(await finishExecution(await executing(run_id), request, plane.ports)).toEqual({});
    expect(plane.sent).toEqual([{ queue: "ends", runId: run_id }]);
    expect(await head(run_id)).toMatchObject({ state });
    const { payload } = await findEvent(run_id, `run_${state.toLowerCase()}`);
    expect((await statusMessage(run_id)) ?? payload.detail).toBe(text);
  });

  it.each([
    [{ followups_stored: 1 }, "followups_stored"],
    [{ first_sequence: 1 }, "first_sequence"],
    [{ messages: [] }, "first_sequence"],
  ])("with %j is refused because of %s", async (more, path) => {
    const { run_id } = await workingRun(plane);
    const before = await executing(run_id);
    const request = { success: true, summary: "done", ...more };
    await expect(finishExecution(before, request, plane.ports)).rejects.toMatchObject({ errors: [{ path }] });
    expect(await head(run_id)).toEqual(before);
  });

  it("has no follow-ups to continue with if its run was deleted", async () => {
    const { run_id } = await workingRun(plane);
    await createClient(plane).post(`/agent/runs/${run_id}/followups`, { message: "more" });
    const request = { success: true, summary: "done", followups_stored: 0 };
    const runs = { ...plane.ports.runs, head: async () => undefined };
    const before = await executing(run_id);
    plane.clock.now += 1_000;
    expect(await finishExecution(before, request, { ...plane.ports, runs })).toEqual({});
    expect(await finishExecution(before, request, plane.ports)).toMatchObject({
      followups: [{ number: 1, message: "more" }],
    });
    expect(await head(run_id)).toMatchObject({ state: "INPROGRESS", heartbeat_at: plane.clock.now });
  });

  it("requeues the run for a follow-up that the execution has not received", async () => {
    const { run_id } = await workingRun(plane);
    await createClient(plane).post(`/agent/runs/${run_id}/followups`, { message: "more" });
    plane.sent.splice(0);
    const request = { success: true, summary: "done" };
    expect(await finishExecution(await executing(run_id), request, plane.ports)).toEqual({});
    expect(plane.sent).toEqual([{ queue: "runs", runId: run_id }]);
    expect(await head(run_id)).toMatchObject({ state: "QUEUED", followups: 1, followups_stored: 0 });
    const { payload } = await findEvent(run_id, "run_queued");
    expect(payload).toEqual({ state: "QUEUED", detail: "a follow-up waits for the next execution" });
  });

  it("requeues the run once for each follow-up, and ends it if the next execution does not receive it either", async () => {
    const { run_id } = await workingRun(plane);
    const send = (message: string) => createClient(plane).post(`/agent/runs/${run_id}/followups`, { message });
    const finish = async (request: object) => {
      await finishExecution(await executing(run_id), { success: true, summary: "done", ...request }, plane.ports);
      return (await head(run_id)).state;
    };
    await send("one");
    expect(await finish({})).toBe("QUEUED");
    await deliver(plane);
    await send("two");
    expect(await finish({ followups_stored: 1 })).toBe("PENDING");
    expect(await finish({})).toBe("QUEUED");
    await deliver(plane);
    expect(await finish({})).toBe("SUCCEEDED");
  });

  it("is recorded once, when the stop of a cancelled run is confirmed for its own execution", async () => {
    const harness = await workingRun(plane);
    await createClient(plane).post(`/agent/runs/${harness.run_id}/cancel`);
    await deliver(plane);
    const cancelled = await head(harness.run_id);
    await confirmStop(cancelled, "another", "timeout", plane.ports);
    expect(await head(harness.run_id)).toEqual(cancelled);
    plane.sent.splice(0);
    await confirmStop(cancelled, harness.execution_id, "timeout", plane.ports);
    expect(plane.sent).toEqual([{ queue: "ends", runId: harness.run_id }]);
    expect((await findEvent(harness.run_id, "run_stopped")).payload).toEqual({ confirmed_by: "timeout" });
    const stopped = await head(harness.run_id);
    for (const name of ["stop_pending", "stop_by", "key_hash", "instance_id"]) expect(stopped).not.toHaveProperty(name);
    await confirmStop(stopped, harness.execution_id, "provider", plane.ports);
    expect(await head(harness.run_id)).toEqual(stopped);
  });

  it("without an error is reported as a shutdown, and has no effect on a later execution", async () => {
    const first = await workingRun(plane);
    const before = await executing(first.run_id);
    await recordShutdown(before, first.execution_id, {}, plane.ports);
    const { payload } = await findEvent(first.run_id, "execution_lost");
    expect(payload).toEqual({ detail: "the sandbox shut down", losses: 1, state: "QUEUED" });
    await nextExecution(plane);
    const now = await head(first.run_id);
    const late = recordShutdown(before, first.execution_id, {}, plane.ports);
    await expect(late).rejects.toMatchObject({ code: "authentication_required" });
    expect(await expireExecution(now, first.execution_id, "late", plane.ports)).toBe(false);
    const heartbeat = (await executing(first.run_id)).heartbeat_at;
    const id = (await executing(first.run_id)).execution_id;
    expect(await expireExecution(now, id, "silent", plane.ports, heartbeat - 1)).toBe(false);
    expect(await head(first.run_id)).toEqual(now);
  });

  it("is counted separately from losses after a restart of the service, at most 20 times in a row", async () => {
    const harness = await startedRun(plane);
    const { run_id, execution_id } = harness;
    expect(await expireAtRestart(await head(run_id), "another", plane.ports)).toBe(false);
    plane.sent.splice(0);
    expect(await expireAtRestart(await head(run_id), execution_id, plane.ports)).toBe(true);
    expect(await head(run_id)).toMatchObject({ state: "QUEUED", restarts: 1, losses: 0 });
    expect((await findEvent(run_id, "execution_lost")).payload).toEqual({
      detail: "the service was restarted",
      losses: 1,
      state: "QUEUED",
    });
    expect(plane.sent).toEqual([{ queue: "runs", runId: run_id }]);
    for (const [restarts, state] of [
      [18, "QUEUED"],
      [19, "ERROR"],
    ] as const) {
      await plane.table.write({ kind: "update", key: keys.head(run_id), set: { restarts } });
      const next = await nextExecution(plane);
      expect(await expireAtRestart(await head(run_id), next.execution_id, plane.ports)).toBe(true);
      expect(await head(run_id)).toMatchObject({ state, restarts: restarts + 1 });
    }
    expect(plane.sent).toEqual([{ queue: "ends", runId: run_id }]);
    expect(await statusMessage(run_id)).toBe("the execution was lost 20 times in a row: the service was restarted");
    expect((await readTimeline(plane, run_id)).slice(-2)).toEqual(["execution_lost", "run_errored"]);
  });
});

describe("a heartbeat", () => {
  it("is requested again soon if it is not stored because the run continued without the execution", async () => {
    const harness = await workingRun(plane);
    const before = await executing(harness.run_id);
    await harness.shutDown();
    plane.clock.now += 10_000;
    const heartbeat = { execution_id: harness.execution_id, followups_stored: 0 };
    expect(await recordHeartbeat(asRun(before), noHeader, heartbeat, plane.ports)).toEqual({
      followups: [],
      cancel: false,
      next_heartbeat_seconds: 1,
    });
  });

  it("makes a cancelled execution stop", async () => {
    const harness = await workingRun(plane);
    const heartbeat = { execution_id: harness.execution_id, followups_stored: 0 };
    const response = await recordHeartbeat(asRun(await head(harness.run_id), true), noHeader, heartbeat, plane.ports);
    expect(response).toEqual({ followups: [], cancel: true, next_heartbeat_seconds: 9 });
  });

  it("is written at least eight seconds after the last one, or with a follow-up", async () => {
    const harness = await workingRun(plane);
    const started = plane.clock.now;
    const heartbeatAt = async () => (await executing(harness.run_id)).heartbeat_at;
    plane.clock.now = started + 7_999;
    await harness.beat();
    expect(await heartbeatAt()).toBe(started);
    plane.clock.now = started + 8_000;
    await harness.beat();
    expect(await heartbeatAt()).toBe(started + 8_000);
    plane.clock.now += 1;
    await createClient(plane).post(`/agent/runs/${harness.run_id}/followups`, { message: "more" });
    expect((await harness.beat()).body.followups).toMatchObject([{ number: 1, message: "more" }]);
    expect(await heartbeatAt()).toBe(started + 8_000);
    expect((await harness.beat(1)).body.followups).toEqual([]);
    expect(await heartbeatAt()).toBe(started + 8_001);
    expect((await harness.beat(2)).body.errors).toEqual([expect.objectContaining({ path: "followups_stored" })]);
  });
});

describe("the sandbox of an execution", () => {
  const placed = (executionId: string) => ({ provider: "microvm", executionId, handle: "vm-1" }) as const;

  it("is listed to be stopped if the run no longer has it, and checked five seconds later", async () => {
    const { run_id } = await startedRun(plane);
    plane.sent.splice(0);
    await recordSandbox(run_id, placed("earlier"), plane.ports);
    const found = await head(run_id);
    expect(found).toMatchObject({
      stops: [{ provider: "microvm", handle: "vm-1", execution_id: "earlier", by: plane.clock.now + 600_000 }],
      sandbox_changes: 1,
      check_at: sortableTime(plane.clock.now + 5_000),
    });
    expect(found).not.toHaveProperty("sandbox");
    expect(plane.sent).toEqual([{ queue: "ends", runId: run_id }]);
    expect(await readTimeline(plane, run_id)).toEqual(["run_created", "run_pending"]);
  });

  it("is not recorded without a handle or for a deleted run", async () => {
    const { run_id, execution_id } = await startedRun(plane);
    const before = plane.table.all();
    plane.sent.splice(0);
    await recordSandbox(run_id, { provider: "microvm", executionId: "earlier", handle: undefined }, plane.ports);
    await recordSandbox("no-run", placed("earlier"), plane.ports);
    expect(plane.table.all()).toEqual(before);
    expect(plane.sent).toEqual([]);
    await recordSandbox(run_id, placed(execution_id), plane.ports);
    expect(await head(run_id)).toMatchObject({ sandbox: { provider: "microvm", handle: "vm-1" }, sandbox_changes: 1 });
    expect(plane.sent).toEqual([]);
  });

  it("is recorded only while it executes, and other errors of the table are passed on", async () => {
    const { run_id, execution_id } = await startedRun(plane);
    for (const state of ["PENDING", "CLAIMED", "INPROGRESS"]) {
      await setState(plane, run_id, state);
      expect(await putHandle(run_id, placed(execution_id), plane.table), state).toBe(true);
    }
    await setState(plane, run_id, "QUEUED");
    expect(await putHandle(run_id, placed(execution_id), plane.table)).toBe(false);
    const broken = { write: () => Promise.reject(new Error("no table")) };
    await expect(putHandle(run_id, placed(execution_id), broken)).rejects.toThrow("no table");
  });

  it("is removed from the list, without any others, once it is gone or given up", async () => {
    const { run_id } = await startedRun(plane);
    const stop = (execution_id: string) => ({ provider: "microvm", handle: execution_id, execution_id, by: 1 });
    const stops = [stop("a"), stop("b"), stop("c")];
    await plane.table.write({ kind: "update", key: keys.head(run_id), set: { stops } });
    const before = await head(run_id);
    plane.sent.splice(0);
    await removeStops(before, new Set(), new Set(), plane.ports);
    await removeStops(before, new Set(["x"]), new Set(["y"]), plane.ports);
    const { stops: _, ...rest } = before;
    await removeStops(rest, new Set(["a"]), new Set(), plane.ports);
    expect(await head(run_id)).toEqual(before);
    await removeStops(before, new Set(["a"]), new Set(["c"]), plane.ports);
    expect(await head(run_id)).toEqual({ ...before, stops: [stop("b")], sandbox_changes: 1 });
    await removeStops(await head(run_id), new Set(), new Set(["b"]), plane.ports);
    expect(await head(run_id)).toEqual({ ...rest, sandbox_changes: 2 });
    expect(plane.sent).toEqual([]);
    expect(await readTimeline(plane, run_id)).toEqual(["run_created", "run_pending"]);
  });
});

describe("what an execution records", () => {
  it("is nothing for a notification that a concurrent request has already recorded", async () => {
    const { run_id } = await workingRun(plane);
    const before = await executing(run_id);
    await storeNotification(before, "ready", plane.ports);
    const after = await head(run_id);
    expect(after).toMatchObject({ notifications: 1, heartbeat_at: plane.clock.now });
    await storeNotification(before, "ready", plane.ports);
    expect(await head(run_id)).toEqual(after);
  });

  it("is the first skill that was loaded", async () => {
    const body = { prompt: "p", config: { skill_spec: "acme/tools:skills/lint/SKILL.md" } };
    const { run_id } = await startedRun(plane, body);
    const before = await executing(run_id);
    const lint = { name: "lint", content: "", path: "acme/tools:skills/lint/SKILL.md" };
    const recorded = await recordSkill(before, lint, plane.ports);
    expect(recorded.p.skill_path).toBe(lint.path);
    await storeNotification(before, "an event of the run", plane.ports);
    const other = { name: "other", content: "", path: "acme/tools:skills/other/SKILL.md" };
    expect((await recordSkill(before, other, plane.ports)).p.skill_path).toBe(lint.path);
    expect((await head(run_id)).p).toEqual(recorded.p);
    expect(await recordSkill(recorded, other, plane.ports)).toBe(recorded);
    const plain = await executing((await startedRun(plane)).run_id);
    expect(await recordSkill(plain, lint, plane.ports)).toBe(plain);
    expect(await recordSkill(before, { name: "lint", content: "" }, plane.ports)).toBe(before);
  });

  it("is copied to each index entry of its run when it is a skill", async () => {
    const of = await executing((await startedRun(plane)).run_id);
    const p = { ...of.p, skill_path: "acme/tools:a/SKILL.md" };
    const update = (key: object, set: object) => ({ kind: "update", key, set });
    expect(copyFacets(of.run_id, p)).toEqual([update(keys.event(of.run_id, 1), { p })]);
    const scheduled = { ...p, schedule: "s" };
    expect(copyFacets(of.run_id, scheduled)).toEqual([
      update(keys.event(of.run_id, 1), { p: scheduled }),
      update(keys.scheduleEntry(of.run_id), { p: scheduled }),
    ]);
  });

  it("has no tokens if the run has no repositories", async () => {
    const refuse = () => {
      throw new Error("there is nothing to read");
    };
    const { run_id } = await startedRun(plane);
    const app = { newToken: refuse, tokenFor: refuse, forget: refuse };
    const owner = { type: "Team", uid: plane.team } as const;
    const ports = { app, table: plane.table };
    expect(await createRepositoryTokens(await plane.ports.runs.body(run_id), owner, ports)).toEqual([]);
  });
});

describe("chunks", () => {
  it.each([
    [0, []],
    [1, [[0]]],
    [3, [[0, 1, 2]]],
    [4, [[0, 1, 2], [3]]],
    [7, [[0, 1, 2], [3, 4, 5], [6]]],
  ])("of %i entries have at most three each", (length, chunks) => {
    expect(
      toChunks(
        Array.from({ length }, (_, index) => index),
        3,
      ),
    ).toEqual(chunks);
  });
});
