import { describe, expect, it } from "vitest";
import type { Identity } from "#shared/records/identity.ts";
import type { RunBody } from "#shared/records/run-body.ts";
import { isExecutingHead, parseRunHead } from "#shared/records/run-head.ts";
import { workedMs } from "#shared/records/run-time.ts";
import { readAttachments } from "#shared/runs/attachments.ts";
import { refuseBeyond, withinRun } from "#shared/runs/child-rights.ts";
import { withDefaults } from "#shared/runs/config-layers.ts";
import { continueConversation, readConversationTail } from "#shared/runs/conversation-store.ts";
import { toEndChange } from "#shared/runs/end-run.ts";
import { checkHarness, checkNamedModel, chooseHarnessModel, getThirdParty } from "#shared/runs/harness-model.ts";
import { isLongPrompt, promptFile } from "#shared/runs/new-run.ts";
import { toNewRunWrites } from "#shared/runs/new-run-store.ts";
import {
  checkWorkerHost,
  isReservedWorkerId,
  namesWorker,
  refuseIgnoredImage,
  refusePersonalWorkerRun,
} from "#shared/runs/placement.ts";
import { checkRequest, getSkills, resolveConfig } from "#shared/runs/plan-run.ts";
import { steerableRun } from "#shared/runs/read-run.ts";
import { hasTags, listTags, splitTags, toFacets } from "#shared/runs/run-facets.ts";
import { isCancellable, shownConfig, toRunItem } from "#shared/runs/run-item.ts";
import { runLeaseStore } from "#shared/runs/run-lease-store.ts";
import { runStore } from "#shared/runs/run-store.ts";
import { runTimelineStore } from "#shared/runs/run-timeline-store.ts";
import { countChild } from "#shared/runs/run-tree-store.ts";
import { type AttributeChange, addPendingStop, leaveSandbox, sandboxUnchanged } from "#shared/runs/transition.ts";
import { toTransitionWrites } from "#shared/runs/transition-store.ts";
import { findUpload } from "#shared/runs/uploads.ts";
import { keys } from "#shared/table/keys.ts";
import { memoryTable } from "#shared/table/memory-table.ts";
import type { Item } from "#shared/table/table.ts";

const NOW = Date.parse("2026-05-18T19:00:00.000Z");
const RUN = "019e3c75-9780-7b78-8a54-7a196032b69b";
const OTHER = "019e3c75-9780-7b78-8a54-7a196032b69c";
const FACETS = { creator: "c", source: "API", location: "REMOTE" };
const UNTOUCHED = `${String(NOW).padStart(13, "0")}#${RUN}`;
const NEW = { exists: false };

describe("the messages of a run", () => {
  it("begin with the first one, or after the given one", async () => {
    const table = memoryTable();
    for (const sequence of [1, 2]) await table.write({ kind: "put", item: { ...keys.messages(RUN, sequence) } });
    const read = async (after?: number) =>
      (await runTimelineStore(table).messageItems(RUN, after)).items.map(({ sk }) => sk);
    const [first, second] = [keys.messages(RUN, 1).sk, keys.messages(RUN, 2).sk];
    expect([await read(), await read(1), await read(2)]).toEqual([[first, second], [second], []]);
  });
});

const storedHead = (more: object = {}): Item =>
  Object.assign(
    {
      ...keys.head(RUN),
      v: 1,
      scope: "TEAM#t#0",
      updated_key: UNTOUCHED,
      state: "QUEUED",
      next_sequence: 2,
      p: FACETS,
    },
    more,
  );
const queued = (more: object = {}) => parseRunHead(storedHead(more));
const EXECUTION = { execution_id: "e", key_hash: "k", state_since: NOW - 500, heartbeat_at: NOW - 500 };
const executing = (more: object = {}) => {
  const head = queued({ state: "INPROGRESS", ...EXECUTION, ...more });
  if (!isExecutingHead(head)) throw new Error("the run is not executing");
  return head;
};
const ended = (more: object = {}) => queued({ state: "SUCCEEDED", ended_at: NOW, execution_id: "e", ...more });

const user = { type: "user", uid: "c", display_name: "Ada" } as const;
const service = { type: "service_account", uid: "i", display_name: "builder" } as const;
const config = { model_id: "local/runbook", computer_use_enabled: false, idle_timeout_minutes: 10 };
const body: RunBody = {
  title: "A title",
  prompt: "work",
  config,
  creator: user,
  executor: user,
  source: "API",
  execution_location: "REMOTE",
  conversation_id: RUN,
  ancestors: [],
  mode: "normal",
  interactive: false,
  attachments: [],
};

describe("the writes of a change of a run", () => {
  const base = { state: { eq: "INPROGRESS" }, next_sequence: { eq: 2 }, execution_id: { eq: "e" } };

  it("without a transition are its head, under the condition that it is unchanged, and its events", () => {
    const events = [
      { type: "checkpoint_saved", data: { generation: "g" }, uuid: "u" },
      { type: "user_notified", occurredAt: 7, uuid: "v" },
    ] as const;
    const change: AttributeChange = {
      events,
      set: { losses: 1 },
      add: { executions: 2 },
      remove: ["interrupt"],
      if: { messages: { eq: 3 } },
    };
    const { head, events: puts, ...others } = toTransitionWrites(executing(), change, NOW);
    expect(head).toEqual({
      kind: "update",
      key: keys.head(RUN),
      set: { next_sequence: 4, losses: 1 },
      add: { executions: 2 },
      remove: ["interrupt"],
      if: { ...base, messages: { eq: 3 } },
    });
    const put = (sequence: number, item: object) => ({
      kind: "put",
      item: { ...keys.event(RUN, sequence), v: 1, sequence, execution_id: "e", ...item },
      if: { pk: NEW },
    });
    expect(puts).toEqual([
      put(2, { uuid: "u", type: "checkpoint_saved", occurred_at: NOW, data: { generation: "g" } }),
      put(3, { uuid: "v", type: "user_notified", occurred_at: 7, data: {} }),
    ]);
    expect(Object.values(others).filter((write) => write !== undefined)).toEqual([]);
    const first = toTransitionWrites(queued(), { events: [] }, NOW);
    expect(first["head"]).toMatchObject({ set: { next_sequence: 2 }, if: { execution_id: NEW } });
    expect(first["head"]).not.toHaveProperty("add");
  });

  it.each([
    [undefined, 2, 3],
    [true, 3, 2],
  ] as const)("number the messages after the events, or before them: %j", (messagesFirst, event, messages) => {
    const change = {
      events: [{ type: "run_succeeded", uuid: "u" }] as const,
      messages: { first: 1, count: 1 },
      ...(messagesFirst === undefined ? {} : { messagesFirst }),
    };
    const writes = toTransitionWrites(executing(), change, NOW);
    expect(writes["events"]).toMatchObject([{ item: { sequence: event } }]);
    expect(writes["messages"]).toEqual({
      kind: "put",
      item: {
        ...keys.messages(RUN, messages),
        v: 1,
        sequence: messages,
        occurred_at: NOW,
        execution_id: "e",
        first: 1,
        count: 1,
      },
      if: { pk: NEW },
    });
    expect(writes["head"]).toMatchObject({ set: { next_sequence: 4 } });
  });

  it.each([
    [undefined, undefined],
    [NOW, { check_at: String(NOW).padStart(13, "0") }],
    [{ at: NOW, from: 100, to: 200 }, undefined],
    [{ at: NOW, from: 101, to: 200 }, { check_at: String(NOW).padStart(13, "0") }],
    [{ at: NOW, from: 50, to: 99 }, { check_at: String(NOW).padStart(13, "0") }],
    [{ at: NOW, from: 50, to: 100 }, undefined],
  ])("with the check %j of a run that is checked at 100 set %j", (checkAt, expected) => {
    const { head } = toTransitionWrites(
      queued({ check_at: "0000000000100" }),
      { events: [], ...(checkAt === undefined ? {} : { checkAt }) },
      NOW,
    );
    const { check_at } = Object(head).set;
    expect(check_at).toBe(expected?.check_at);
  });

  it("remove the check of a run that is no longer checked", () => {
    const { head } = toTransitionWrites(ended(), { events: [], checkAt: null }, NOW);
    expect(head).toMatchObject({ remove: ["check_shard", "check_at"] });
  });

  it("keep the places of the run in the lists", () => {
    const schedule = { p: { ...FACETS, schedule: "s" } };
    const end = toTransitionWrites(executing(schedule), { to: "SUCCEEDED", events: [] }, NOW + 1);
    const updated_key = `${String(NOW + 1).padStart(13, "0")}#${RUN}`;
    expect(end["head"]).toMatchObject({
      set: {
        state: "SUCCEEDED",
        updated_key,
        updated_scope: "TEAM#t#0#ENDED",
        group: "TEAM#t#0#CREATOR#c",
      },
      remove: ["active_scope"],
    });
    const entry = { kind: "update", key: keys.scheduleEntry(RUN) };
    expect(end["scheduleEntry"]).toEqual({
      ...entry,
      set: { group: "TEAM#t#0#SCHEDULE#s", updated_key, state: "SUCCEEDED" },
    });
    const again = toTransitionWrites(ended(schedule), { to: "QUEUED", events: [] }, NOW + 1);
    expect(again["head"]).toMatchObject({
      set: { state: "QUEUED", updated_key, updated_scope: "TEAM#t#0#ACTIVE#2", active_scope: "TEAM#t#0" },
      remove: ["group"],
    });
    expect(again["scheduleEntry"]).toEqual({ ...entry, remove: ["group", "updated_key", "state"] });
    const touch = toTransitionWrites(executing(schedule), { touch: true, events: [] }, NOW + 1);
    expect(touch["head"]).toMatchObject({ set: { updated_key, next_sequence: 2 }, remove: [] });
    expect(touch["scheduleEntry"]).toBeUndefined();
    expect(toTransitionWrites(ended(), { touch: true, events: [] }, NOW)["scheduleEntry"]).toBeUndefined();
    expect(() => toTransitionWrites(queued(), { to: "SUCCEEDED", events: [] }, NOW)).toThrow(RangeError);
    expect(() => toTransitionWrites(queued(), { to: "FAILED", via: "INPROGRESS", events: [] }, NOW)).toThrow(
      "no transition from QUEUED to INPROGRESS",
    );
  });
});

describe("the sandbox of an execution that ends", () => {
  const unchanged = { sandbox_changes: NEW };
  const stop = (provider: string, seconds: number, handle?: string) => ({
    provider,
    ...(handle === undefined ? {} : { handle }),
    execution_id: "e",
    by: NOW + seconds * 1000,
  });
  it.each([
    [{ provider: "microvm", handle: "h" }, { to: "FAILED" }, [stop("microvm", 600, "h")]],
    [{ provider: "microvm" }, { to: "FAILED" }, undefined],
    [{ provider: "fargate" }, { to: "FAILED" }, [stop("fargate", 600)]],
    [{ provider: "worker", handle: "h" }, { to: "FAILED" }, [stop("worker", 60, "h")]],
    [{ provider: "worker", handle: "h" }, { to: "FAILED", executionEnd: "itself" }, undefined],
    [{ provider: "microvm", handle: "h" }, { to: "FAILED", executionEnd: "itself" }, [stop("microvm", 600, "h")]],
    [{ provider: "microvm", handle: "h" }, { to: "QUEUED", executionEnd: "unstarted" }, undefined],
  ] as const)("%j is to be stopped with the change %j: %j", (sandbox, change, stops) => {
    expect(leaveSandbox(executing({ sandbox }), { events: [], ...change }, NOW)).toEqual({
      set: stops === undefined ? {} : { stops },
      remove: ["sandbox"],
      if: unchanged,
    });
  });

  it.each(["lambda", "process"] as const)("is forgotten without a stop where it is a %s", (provider) => {
    const forgotten = { set: {}, remove: ["sandbox"], if: {} };
    expect(leaveSandbox(executing({ sandbox: { provider } }), { events: [], to: "FAILED" }, NOW)).toEqual(forgotten);
  });

  it("stays without a change of state, without one, or in an executing state", () => {
    const nothing = { set: {}, remove: [], if: {} };
    const sandbox = { provider: "microvm", handle: "h" };
    expect(leaveSandbox(executing({ sandbox }), { events: [] }, NOW)).toEqual(nothing);
    expect(leaveSandbox(executing({ sandbox }), { events: [], to: "INPROGRESS" }, NOW)).toEqual(nothing);
    expect(leaveSandbox(executing(), { events: [], to: "FAILED" }, NOW)).toEqual(nothing);
    expect(leaveSandbox(queued(), { events: [], to: "FAILED" }, NOW)).toEqual(nothing);
    expect(sandboxUnchanged(queued({ sandbox_changes: 3 }))).toEqual({ sandbox_changes: { eq: 3 } });
  });

  it("replaces the one of the same execution in a list of five at most", () => {
    const old = (id: string) => ({ provider: "microvm", handle: id, execution_id: id, by: 1 });
    const stops = ["a", "e", "b", "c", "d", "f"].map(old);
    const placed = { provider: "microvm", executionId: "e", handle: "h" } as const;
    expect(addPendingStop(queued({ stops }), placed, NOW)).toEqual([
      ...["b", "c", "d", "f"].map(old),
      stop("microvm", 600, "h"),
    ]);
    expect(addPendingStop(queued({ stops }), { ...placed, provider: "lambda" }, NOW)).toEqual(stops);
    expect(addPendingStop(queued(), { ...placed, provider: "lambda" }, NOW)).toEqual([]);
  });
});

describe("the end of a run", () => {
  const change = (head: ReturnType<typeof queued>, ending: object) =>
    toEndChange(head, Object.assign({ state: "SUCCEEDED", now: NOW } as const, ending));
  const event = (type: string, data: object) => ({ type, data });

  it("has an event, its time and the time that it was executing", () => {
    expect(change(executing({ run_time_ms: 7 }), { data: { detail: "done" } })).toEqual({
      to: "SUCCEEDED",
      events: [event("run_succeeded", { state: "SUCCEEDED", detail: "done" })],
      set: { ended_at: NOW, run_time_ms: 507 },
      remove: ["key_hash", "instance_id", "state_since", "heartbeat_at"],
      if: { failing: { exists: false } },
      checkAt: { at: NOW + 60_000, from: NOW + 5_000, to: NOW + 60_000 },
    });
    expect(workedMs(executing({ state_since: NOW + 1 }), NOW)).toBe(0);
    expect(workedMs(executing({ state: "CLAIMED" }), NOW)).toBe(0);
  });

  it.each([
    [{ state: "FAILED", message: "m" }, "run_failed", { message: "m" }, true],
    [
      { state: "ERROR", message: "m", code: "internal_error" },
      "run_errored",
      { message: "m", error_code: "internal_error", retryable: true },
      true,
    ],
    [{ state: "BLOCKED", message: "m" }, "run_blocked", { message: "m" }, false],
  ])("%j is the event %s with a status", (ending, type, status_message, isError) => {
    const { state } = ending;
    const made = change(executing(), ending);
    expect(made.events).toEqual([event(type, { state, detail: "m", ...(isError ? { is_error: true } : {}) })]);
    expect(made.set).toMatchObject({ status_message });
  });

  it.each([
    ["PENDING", "SUCCEEDED", true],
    ["CLAIMED", "BLOCKED", true],
    ["PENDING", "FAILED", false],
    ["INPROGRESS", "SUCCEEDED", false],
  ])("of a run that is %s in %s passes through INPROGRESS: %j", (from, state, passes) => {
    const made = change(executing({ state: from }), { state });
    expect(made.via).toBe(passes ? "INPROGRESS" : undefined);
    expect(made.events.map(({ type }) => type)).toHaveLength(passes ? 2 : 1);
    expect(made.set?.["started_at"]).toBe(passes ? NOW : undefined);
    const started = change(executing({ state: from, started_at: 1 }), { state });
    expect(started.set).not.toHaveProperty("started_at");
    if (passes) expect(made.events[0]).toEqual(event("worker_container_ready", { state: "INPROGRESS" }));
  });
});

describe("the writes of a new run", () => {
  const owner = { type: "Team", uid: "t" } as const;
  const toWrites = (more: object = {}, run: object = {}) =>
    toNewRunWrites({ runId: RUN, owner, body: { ...body, ...more }, now: NOW, ...run });

  it("are its head in all lists, its body, its first event and its place in the queue", () => {
    const { head, body: put, created, budget, queue, descendants, scheduleEntry } = toWrites();
    expect(head).toEqual({
      kind: "put",
      item: {
        ...keys.head(RUN),
        v: 1,
        state: "QUEUED",
        next_sequence: 2,
        p: { model: "local/runbook", ...FACETS },
        scope: "TEAM#t#0",
        active_scope: "TEAM#t#0",
        updated_scope: "TEAM#t#0#ACTIVE#2",
        updated_key: UNTOUCHED,
        created_key: RUN,
        title_key: `a title\u0000${RUN}`,
        agent_key: `1#${RUN}`,
        check_shard: `RUNS#${0xb69b % 16}`,
        check_at: String(NOW + 30_000).padStart(13, "0"),
      },
      if: { pk: NEW },
    });
    expect(put).toEqual({ kind: "put", item: { ...keys.body(RUN), v: 1, ...body } });
    expect(created.item).toMatchObject({
      ...keys.event(RUN, 1),
      sequence: 1,
      type: "run_created",
      occurred_at: NOW,
      data: { state: "QUEUED" },
      scope: "TEAM#t#0#CREATOR#c",
      created_key: RUN,
    });
    expect([budget, scheduleEntry, descendants]).toEqual([undefined, undefined, []]);
    expect(queue).toMatchObject({ key: keys.counters(owner) });
  });

  it("have what only some runs have", () => {
    const schedule = { schedule_id: "s", schedule_name: "nightly", cron_schedule: "0 3 * * *" };
    const more = {
      config: { ...config, skill_spec: "a/b:C", worker_host: "rack-7", budget_usd: 2 },
      docker_image: "python:3.13",
      schedule,
      ancestors: ["root", "parent"],
    };
    const { head, budget, descendants, scheduleEntry } = toWrites(more);
    expect(head.item).toMatchObject({
      own_image: true,
      worker_host: "rack-7",
      b: true,
      root: "root",
      depth: 2,
      agent_key: `0#a/b:c\u0000${RUN}`,
    });
    expect(budget).toBeDefined();
    expect(descendants.map(({ item }) => item)).toEqual(
      ["root", "parent"].map((id) => ({ ...keys.descendant(id, RUN), v: 1, run_id: RUN })),
    );
    expect(scheduleEntry?.item).toMatchObject({
      ...keys.scheduleEntry(RUN),
      scope: "TEAM#t#0#SCHEDULE#s",
      created_key: RUN,
      p: { schedule: "s" },
    });
  });

  it("of a run that its caller executes have its execution, and no place in the queue", () => {
    const local = { execution_id: "e", key_hash: "k" };
    const { head, queue } = toWrites({ config: { ...config, worker_host: "rack-7" } }, { local });
    expect(head.item).toMatchObject({ ...local, check_at: String(NOW + 3_600_000).padStart(13, "0") });
    expect(head.item).not.toHaveProperty("worker_host");
    expect(queue).toBeUndefined();
  });

  it("count a child at its parent and at the root of its tree, within their limits", () => {
    const children = { pk: { exists: true }, children: { absentOr: { below: 100 } } };
    const descendants = { pk: { exists: true }, descendants: { absentOr: { below: 500 } } };
    const at = (id: string) => ({ kind: "update", key: keys.head(id) });
    expect(countChild("p", undefined)).toEqual([
      { ...at("p"), add: { children: 1, descendants: 1 }, if: { ...children, ...descendants } },
    ]);
    expect(countChild("p", "r")).toEqual([
      { ...at("p"), add: { children: 1 }, if: children },
      { ...at("r"), add: { descendants: 1 }, if: descendants },
    ]);
  });

  it("make it the latest run of its conversation", async () => {
    const table = memoryTable();
    const first = await readConversationTail("c", table);
    expect(first).toEqual({ conversationId: "c", latestRunId: "c", isStored: false, changes: 0 });
    const writes = continueConversation(first, "r");
    expect(writes).toEqual([
      { kind: "put", item: { ...keys.conversationTail("c"), v: 1, run_id: "r", changes: 1 }, if: { pk: NEW } },
      { kind: "put", item: { ...keys.conversationRun("c", "r"), v: 1, run_id: "r" } },
    ]);
    await table.transact(writes);
    const second = await readConversationTail("c", table);
    expect(second).toEqual({ conversationId: "c", latestRunId: "r", isStored: true, changes: 1 });
    const [again] = continueConversation(second, "r");
    expect(again).toMatchObject({ item: { changes: 2 }, if: { changes: { eq: 1 } } });
  });
});

describe("the facets of a run", () => {
  it("are what lists filter by, and absent where the run has none", () => {
    expect(toFacets(body)).toEqual({ model: "local/runbook", ...FACETS });
    const more = {
      config: { ...config, name: "n", environment_id: "env", skill_spec: "a/b:c" },
      executor: service,
      schedule: { schedule_id: "s", schedule_name: "nightly", cron_schedule: "0 3 * * *" },
      metadata: { a: "1", b: "2" },
    };
    expect(toFacets({ ...body, ...more })).toEqual({
      ...FACETS,
      name: "n",
      model: "local/runbook",
      executor: "i",
      as_identity: true,
      environment: "env",
      skill: "a/b:c",
      schedule: "s",
      tags: listTags(more.metadata).join(""),
    });
  });

  it("have a tag of four characters for each pair of metadata", () => {
    const tags = listTags({ a: "1", b: "2" });
    expect(tags.map((tag) => tag.length)).toEqual([4, 4]);
    expect(new Set([...tags, ...listTags({ a: "2" }), ...listTags({ b: "1" })]).size).toBe(4);
    expect(splitTags(tags.join(""))).toEqual(tags);
    expect([splitTags(undefined), splitTags("")]).toEqual([[], []]);
    const has = (wanted: Record<string, string> | undefined) => hasTags(tags.join(""), wanted);
    expect([has(undefined), has({}), has({ b: "2" }), has({ a: "1", b: "2" }), has({ a: "1", b: "1" })]).toEqual([
      true,
      true,
      true,
      true,
      false,
    ]);
    expect([hasTags(undefined, undefined), hasTags(undefined, { a: "1" })]).toEqual([true, false]);
  });
});

describe("a run in a response", () => {
  const view = { webUrl: "https://runyard.test", now: NOW };
  const plain = {
    run_id: RUN,
    task_id: RUN,
    root_run_id: RUN,
    title: "A title",
    state: "QUEUED",
    prompt: "work",
    submitted_prompt: "work",
    created_at: "2026-05-18T19:00:00.000Z",
    updated_at: "2026-05-18T19:00:00.000Z",
    started_at: null,
    finished_at: null,
    archived: false,
    pending_followups: 0,
    source: "API",
    execution_location: "REMOTE",
    session_id: RUN,
    session_link: `https://runyard.test/runs/${RUN}`,
    creator: user,
    executor: user,
    agent_config: config,
    conversation_id: RUN,
    is_sandbox_running: false,
    is_run_type_cancellable: true,
    artifacts: [],
    scope: { type: "Team", uid: "t" },
  };

  it("has only the members with a value", () => {
    expect(toRunItem(queued(), body, [], view)).toEqual(plain);
  });

  it("has its times, usage, schedule, skill and metadata", () => {
    const schedule = { schedule_id: "s", schedule_name: "nightly", cron_schedule: "0 3 * * *" };
    const more = { schedule, parent_run_id: "p", metadata: { a: "1" }, config: { ...config, skill_spec: "a/b:c" } };
    const head = executing({ started_at: NOW - 1_000, run_time_ms: 250 });
    const used = { cost: 1_000_000, tokens: 5, calls: 1 };
    expect(toRunItem(head, { ...body, ...more }, [], { ...view, used })).toEqual({
      ...plain,
      state: "INPROGRESS",
      started_at: "2026-05-18T18:59:59.000Z",
      request_usage: { inference_cost: 0.001, inference_cost_usd: 0.001, total_tokens: 5 },
      schedule,
      agent_config: more.config,
      agent_skill: { full_path: "a/b:c" },
      parent_run_id: "p",
      is_sandbox_running: true,
      run_time: "PT0.750S",
      metadata: { a: "1" },
    });
    const loaded = { name: "c", full_path: "a/b:skills/c/SKILL.md" };
    const shown = toRunItem(head, { ...body, ...more, agent_skill: loaded }, [], { webUrl: undefined, now: NOW });
    expect(shown.agent_skill).toEqual(loaded);
    expect(shown).not.toHaveProperty("session_link");
  });

  it.each([
    ["SUCCEEDED", {}, false],
    ["FAILED", { status_message: { message: "m" } }, false],
    ["CANCELLED", { stop_pending: true }, true],
    ["CANCELLED", { stop_pending: false }, false],
  ])("that is %s with %j has a running sandbox: %j", (state, more, isRunning) => {
    const shown = toRunItem(ended({ state, ...more }), body, [], view);
    expect(shown).toMatchObject({ session_link: `https://runyard.test/runs/${RUN}`, is_sandbox_running: isRunning });
    expect(shown.status_message).toEqual("status_message" in more ? more.status_message : undefined);
    const local = toRunItem(executing({ p: { ...FACETS, location: "LOCAL" } }), body, [], view);
    expect(local.is_sandbox_running).toBe(false);
  });

  it("can be cancelled if this service executes it", () => {
    expect([
      isCancellable(body),
      isCancellable({ ...body, execution_location: "LOCAL" }),
      isCancellable({ ...body, config: { ...config, worker_host: "rack-7" } }),
      isCancellable({ ...body, source: "GITHUB_ACTION" }),
    ]).toEqual([true, false, false, false]);
  });

  it("shows no secrets of its configuration", () => {
    const server = { command: "npx", env: { TOKEN: "secret" } };
    const remote = { url: "https://mcp.test", headers: { Authorization: "secret" } };
    expect(shownConfig({ ...config, mcp_servers: { a: server, b: remote, c: { command: "x" } } })).toEqual({
      ...config,
      mcp_servers: {
        a: { command: "npx", env: { TOKEN: "***" } },
        b: { url: "https://mcp.test", headers: { Authorization: "***" } },
        c: { command: "x" },
      },
    });
    for (const type of ["default", "oz"] as const) {
      expect(shownConfig({ ...config, harness: { type } })).toEqual(config);
    }
    expect(shownConfig({ ...config, harness: { type: "claude" } })).toEqual({ ...config, harness: { type: "claude" } });
  });

  it("shows no empty base_prompt", () => {
    expect(shownConfig({ ...config, base_prompt: "" })).toEqual(config);
    expect(shownConfig({ ...config, base_prompt: "b" })).toEqual({ ...config, base_prompt: "b" });
  });
});

describe("the configuration of a new run", () => {
  const identity = { uid: "i", team_uid: "t", name: "builder", created_at: 1, updated_at: 1 };
  const team = { uid: "t", name: "Alpha", created_at: 1 };
  const full: Partial<Identity> = {
    base_model: "m1",
    environment_id: "e1",
    prompt: "p1",
    skills: ["s1"],
    mcp_servers: {},
    harness: { type: "claude" },
    worker_host: "w1",
    credential_strategy: "CREATOR",
  };

  it("is filled from its identity, then from its team", () => {
    const none = { identity: undefined, team: undefined };
    const request = {};
    expect(withDefaults(request, none)).toBe(request);
    expect(withDefaults({ config: { name: "n" } }, none)).toEqual({ config: { name: "n" } });
    const defaults = { ...team, default_model_id: "m2", default_environment_id: "e2" };
    expect(withDefaults({}, { identity: undefined, team: defaults })).toEqual({
      config: { model_id: "m2", environment_id: "e2" },
    });
    const ofIdentity = {
      model_id: "m1",
      environment_id: "e1",
      base_prompt: "p1",
      skills: ["s1"],
      mcp_servers: {},
      harness: { type: "claude" },
      worker_host: "w1",
      credential_strategy: "CREATOR",
    };
    const layers = { identity: { ...identity, ...full }, team: defaults };
    expect(withDefaults({}, layers)).toEqual({ config: ofIdentity });
    expect(withDefaults({ config: { model_id: "m0" } }, layers).config).toEqual({ ...ofIdentity, model_id: "m0" });
    const { skills: _, ...withoutSkills } = ofIdentity;
    expect(withDefaults({ skill: "s0" }, layers)).toEqual({ skill: "s0", config: withoutSkills });
    expect(withDefaults({ config: { skill_spec: "s0" } }, layers).config).toEqual({
      ...withoutSkills,
      skill_spec: "s0",
    });
    expect(withDefaults({ config: { skills: [] } }, layers).config).toEqual({ ...ofIdentity, skills: [] });
    expect(withDefaults({}, { identity, team })).toEqual({});
  });

  it.each([
    [{}, []],
    [{ skill: "a", config: { skill_spec: "b", skills: ["c"] } }, ["a"]],
    [{ config: { skill_spec: "b", skills: ["c", "d"] } }, ["c", "d"]],
    [{ config: { skill_spec: "b" } }, ["b"]],
  ])("of %j has the skills %j", (request, skills) => {
    expect(getSkills(request)).toEqual(skills);
  });

  it.each([
    ["a/b:c", "c"],
    ["a/b:skills/c/SKILL.md", "c"],
    ["a/b:skills/c", "c"],
    ["SKILL.md", "SKILL.md"],
    ["c", "c"],
  ])("with the skill %s has the name %s", (skill, name) => {
    expect(resolveConfig({ skill })).toEqual({ ...config, name, skill_spec: skill, skills: [skill] });
  });

  it("has the defaults of the service, and no name of its own sandboxes", () => {
    expect(resolveConfig({})).toEqual(config);
    expect(resolveConfig({ config: { worker_host: "hosted" } })).toEqual(config);
    const given = { name: "n", worker_host: "rack-7", computer_use_enabled: true, idle_timeout_minutes: 3 };
    expect(resolveConfig({ config: { ...given, skills: ["a/b:c", "d"] } })).toEqual({
      ...given,
      model_id: "local/runbook",
      skill_spec: "a/b:c",
      skills: ["a/b:c", "d"],
    });
    expect(resolveConfig({ config: { budget_usd: 1 } })).toMatchObject({ budget_usd: 1 });
    expect(() => resolveConfig({ config: { budget_usd: 1, model_id: "none/none" } })).toThrow("config.budget_usd");
  });

  it.each([
    [{ prompt: "p" }, undefined],
    [{ skill: "a/b:c" }, undefined],
    [{ conversation_id: RUN }, undefined],
    [{}, "prompt"],
    [{ prompt: " \n" }, "prompt"],
    [{ prompt: "p", attachments: [], images: [] }, "images"],
    [{ prompt: "p", attachments: [] }, undefined],
    [{ prompt: "p", images: [] }, undefined],
    [{ prompt: "p", config: { base_prompt: "x".repeat(262_144 - '{"base_prompt":""}'.length) } }, undefined],
    [{ prompt: "p", config: { base_prompt: "x".repeat(262_145 - '{"base_prompt":""}'.length) } }, "config"],
    [{ prompt: "p", config: { base_prompt: "é".repeat(131_072) } }, "config"],
    [{ prompt: "p", config: { model_id: "none/none" } }, "config.model_id"],
    [{ prompt: "p", config: { worker_host: "warp-1" } }, "config.worker_host"],
  ])("is refused because of a member of the request (%#)", (request, path) => {
    const check = () => checkRequest(request);
    if (path === undefined) check();
    else expect(check).toThrow(expect.objectContaining({ errors: [expect.objectContaining({ path })] }));
  });

  it("stores prompts of more than 32 KiB as files", () => {
    expect([isLongPrompt(undefined), isLongPrompt("x".repeat(32_768)), isLongPrompt("x".repeat(32_769))]).toEqual([
      false,
      false,
      true,
    ]);
    expect(promptFile("q", "short")).toBeUndefined();
    expect(promptFile("q", "x".repeat(32_769))).toMatch(/^requests\/q\/prompt-[0-9a-f]{32}\.txt$/);
  });
});

describe("a child that a run's own key creates", () => {
  const own = {
    ...config,
    environment_id: "e",
    worker_host: "rack-7",
    repositories: [{ url: "https://github.com/acme/a" }, { url: "https://github.com/acme/m", submodules: true }],
    harness_auth_secrets: { claude_auth_secret_name: "S" },
  };

  it.each<readonly [Parameters<typeof refuseBeyond>[0], string | undefined]>([
    [{}, undefined],
    [{ execution_location: "LOCAL" }, "execution_location"],
    [{ execution_location: "REMOTE" }, undefined],
    [{ config: { environment_id: "e" } }, undefined],
    [{ config: { environment_id: "f" } }, "config.environment_id"],
    [{ config: { worker_host: "rack-7" } }, undefined],
    [{ config: { worker_host: "hosted" } }, undefined],
    [{ config: { worker_host: "rack-8" } }, "config.worker_host"],
    [{ config: { repositories: [{ url: "https://github.com/acme/a" }] } }, undefined],
    [
      { config: { repositories: [{ url: "https://github.com/acme/a" }, { url: "https://github.com/acme/b" }] } },
      "config.repositories[1]",
    ],
    [{ config: { repositories: [{ url: "https://github.com/acme/b" }] } }, "config.repositories[0]"],
    [{ config: { repositories: [{ url: "https://github.com/acme/a", submodules: true }] } }, "config.repositories[0]"],
    [{ config: { repositories: [{ url: "https://github.com/acme/m", submodules: true }] } }, undefined],
    [{ config: { harness_auth_secrets: { claude_auth_secret_name: "S" } } }, undefined],
    [
      { config: { harness_auth_secrets: { claude_auth_secret_name: "T" } } },
      "config.harness_auth_secrets.claude_auth_secret_name",
    ],
    [
      { config: { harness_auth_secrets: { codex_auth_secret_name: "S" } } },
      "config.harness_auth_secrets.codex_auth_secret_name",
    ],
  ])("with %j is refused because of %s", (request, member) => {
    const check = () => refuseBeyond(request, { config: own });
    if (member === undefined) check();
    else {
      const detail = expect.stringMatching(new RegExp(`^${member.replaceAll(/[.[\]]/g, "\\$&")}: `));
      expect(check).toThrow(expect.objectContaining({ code: "not_authorized", detail }));
    }
  });

  it("has the environment and the worker of the run", () => {
    expect(withinRun({ config: { name: "n", environment_id: "x", worker_host: "y" } }, { config: own })).toEqual({
      config: { name: "n", environment_id: "e", worker_host: "rack-7" },
    });
    expect(withinRun({}, { config })).toEqual({ config: { worker_host: "hosted" } });
  });
});

describe("the place of a run", () => {
  it("is a worker's, or one of the service's own names", () => {
    const names = [undefined, "hosted", "warp", "rack-7", "Warp-1", "warp7"];
    expect(names.map(namesWorker)).toEqual([false, false, false, true, true, true]);
    expect(names.slice(1).map((name) => isReservedWorkerId(name ?? ""))).toEqual([true, true, false, true, true]);
    for (const name of names.slice(0, 4)) checkWorkerHost(name, "f");
    for (const name of names.slice(4)) {
      expect(() => checkWorkerHost(name, "f")).toThrow(expect.objectContaining({ code: "invalid_request" }));
    }
  });

  it("is a worker's for runs of a team only, and containers for an image", () => {
    const personal = { type: "User", uid: "u" } as const;
    const onWorker = { config: { worker_host: "rack-7" } };
    refusePersonalWorkerRun(onWorker, { type: "Team", uid: "t" });
    refusePersonalWorkerRun({ ...onWorker, execution_location: "LOCAL" }, personal);
    refusePersonalWorkerRun({ config: { worker_host: "hosted" } }, personal);
    refusePersonalWorkerRun({}, personal);
    expect(() => refusePersonalWorkerRun(onWorker, personal)).toThrow("config.worker_host");
    const image = { docker_image: "python:3.13", execution_location: "REMOTE", config: undefined } as const;
    const none = { hasContainers: false };
    refuseIgnoredImage(image, { hasContainers: true });
    refuseIgnoredImage({ ...image, execution_location: "LOCAL" }, none);
    refuseIgnoredImage({ ...image, ...onWorker }, none);
    refuseIgnoredImage({ execution_location: "REMOTE", config: undefined }, none);
    expect(() => refuseIgnoredImage(image, none)).toThrow("config.environment_id");
    const machine = (problem?: string) => ({ hasContainers: false, findImageProblem: () => problem });
    refuseIgnoredImage(image, machine());
    expect(() => refuseIgnoredImage(image, machine("install skopeo"))).toThrow(
      expect.objectContaining({
        code: "operation_not_supported",
        detail: "config.environment_id: install skopeo",
      }),
    );
    const named: (string | undefined)[] = [];
    const findImageProblem = (harness: string | undefined) => void named.push(harness);
    const config = { harness: { type: "codex" } } as const;
    refuseIgnoredImage({ ...image, config }, { hasContainers: false, findImageProblem });
    expect(named).toEqual(["codex"]);
  });
});

describe("a third-party harness", () => {
  it("is one of three, and has models of its own", () => {
    const types = ["claude", "codex", "gemini", "default", "oz"] as const;
    expect(types.map((type) => getThirdParty({ harness: { type } }))).toEqual([
      "claude",
      "codex",
      "gemini",
      undefined,
      undefined,
    ]);
    expect(getThirdParty({})).toBeUndefined();
    expect(chooseHarnessModel({ model_id: "x" })).toBeUndefined();
    const choose = (type: "claude" | "codex" | "gemini", more: object = {}) =>
      chooseHarnessModel({ harness: { type }, ...more });
    expect(choose("claude", { model_id: "bedrock/x" })).toBe("bedrock/x");
    expect(choose("codex", { model_id: "compatible/x" })).toBe("compatible/x");
    expect(choose("gemini", { model_id: "anthropic/x" })).toBe("anthropic/x");
    expect(chooseHarnessModel({ model_id: "anthropic/y", harness: { type: "claude", model_id: "anthropic/x" } })).toBe(
      "anthropic/x",
    );
    for (const model_id of [undefined, "openai/x", "anthropicx"]) {
      const given = model_id === undefined ? {} : { model_id };
      expect(() => choose("claude", given)).toThrow("one of anthropic, bedrock");
    }
  });

  it.each([
    [{}, undefined],
    [{ harness: { type: "oz" }, model_id: "openai/x" }, undefined],
    [{ harness: { type: "claude" }, model_id: "openai/x" }, "config.model_id"],
    [{ harness: { type: "claude" }, model_id: "anthropic/x" }, undefined],
    [{ harness: { type: "claude", model_id: "anthropic/x" }, model_id: "openai/x" }, undefined],
    [{ harness: { type: "claude" } }, undefined],
  ] as const)("with %j is refused because of %s", (given, path) => {
    const check = () => checkNamedModel({ config: given });
    if (path === undefined) check();
    else expect(check).toThrow(expect.objectContaining({ errors: [expect.objectContaining({ path })] }));
  });

  it("is refused where it cannot run, and with a model that it cannot call", () => {
    const claude = { harness: { type: "claude" } } as const;
    checkHarness({});
    checkHarness({ config: claude });
    checkHarness({ config: { harness: { type: "oz" } }, execution_location: "LOCAL" });
    checkHarness({ config: { ...claude, harness_auth_secrets: { claude_auth_secret_name: "S" } } });
    const refused = (detail: string) =>
      expect.objectContaining({ code: "operation_not_supported", detail: expect.stringContaining(detail) });
    expect(() => checkHarness({ config: claude, execution_location: "LOCAL" })).toThrow(refused("config.harness.type"));
    const local = { harness: { type: "claude", model_id: "local/runbook" } } as const;
    const wrong = expect.objectContaining({ errors: [expect.objectContaining({ path: "config.harness.model_id" })] });
    expect(() => checkHarness({ config: local })).toThrow(wrong);
    checkHarness({ config: { harness: { type: "oz", model_id: "local/runbook" } } });
    expect(() => checkHarness({ config: { harness: { type: "oz", model_id: "none/none" } } })).toThrow(wrong);
  });
});

describe("the attachments of a request", () => {
  const data = (bytes: number) => Buffer.alloc(bytes).toString("base64");

  it("are its files, its earlier uploads and its images, of 2.9 MiB together", () => {
    const attachments = [
      { attachment_id: OTHER },
      { file_name: "a.txt", mime_type: "text/plain", data: Buffer.from("abc").toString("base64") },
    ];
    const images = ["image/png", "image/svg+xml", "image"].map((mime_type) => ({ mime_type, data: data(1) }));
    const image = (number: number, type: string, mimeType: string) => ({
      fileName: `image-${number}.${type}`,
      mimeType,
      content: Buffer.alloc(1),
    });
    expect(readAttachments({ attachments, images })).toEqual([
      { uid: OTHER, field: "attachments[0].attachment_id" },
      { fileName: "a.txt", mimeType: "text/plain", content: Buffer.from("abc") },
      image(1, "png", "image/png"),
      image(2, "svg", "image/svg+xml"),
      image(3, "bin", "image"),
    ]);
    expect(readAttachments({})).toEqual([]);
    const limit = Math.floor(2.9 * 1024 * 1024);
    const files = (...sizes: number[]) => ({
      attachments: sizes.map((size) => ({ file_name: "a", mime_type: "text/plain", data: data(size) })),
    });
    expect(readAttachments(files(limit - 1, 1))).toHaveLength(2);
    expect(() => readAttachments(files(limit, 1))).toThrow(`attachments: have ${limit + 1} bytes together`);
    const shown = (...sizes: number[]) => ({
      images: sizes.map((size) => ({ mime_type: "image/png", data: data(size) })),
    });
    expect(readAttachments(shown(limit - 1, 1))).toHaveLength(2);
    expect(() => readAttachments(shown(limit, 1))).toThrow(`attachments: have ${limit + 1} bytes together`);
  });

  it("are found for a day by their uploader, and for runs of their team only", async () => {
    const table = memoryTable();
    const upload = {
      uid: OTHER,
      uploaded_by: "run:r",
      file_name: "a",
      mime_type: "text/plain",
      size_bytes: 1,
      sha256: "s",
      file: "f",
      created_at: NOW,
    };
    const put = (more: object = {}) =>
      table.write({ kind: "put", item: Object.assign({ ...keys.upload(OTHER), v: 1 }, upload, more) });
    const by = (run: string) =>
      ({ kind: "run", head: { ...queued(), run_id: run }, executionId: "e", stopping: false }) as const;
    const team = { type: "Team", uid: "t" } as const;
    const find = (age = 0, owner: { type: "Team" | "User"; uid: string } = team, run = "r", uid = OTHER) =>
      findUpload(uid, by(run), owner, { table, now: () => NOW + age });
    expect(await find()).toBeUndefined();
    await put();
    expect(await find()).toEqual(upload);
    expect(await find(86_400_000)).toEqual(upload);
    expect(await find(86_400_001)).toBeUndefined();
    expect(await find(0, team, "other")).toBeUndefined();
    expect(await find(0, team, "r", "no-id")).toBeUndefined();
    await put({ team: "t" });
    expect(await find()).toEqual({ ...upload, team: "t" });
    expect(await find(0, { type: "Team", uid: "u" })).toBeUndefined();
    expect(await find(0, { type: "User", uid: "t" })).toBeUndefined();
  });
});

describe("the times and the timeline of a run", () => {
  it("are written unless the run has changed meanwhile", async () => {
    const table = memoryTable();
    const store = runLeaseStore(table);
    const put = (more: object = {}) => table.write({ kind: "put", item: storedHead(more) });
    const read = async () => ({ ...(await table.get(keys.head(RUN))) });
    for (const [state, isBeating] of [
      ["QUEUED", false],
      ["PENDING", false],
      ["CLAIMED", true],
      ["INPROGRESS", true],
      ["FAILED", false],
    ] as const) {
      await put({ state, ...EXECUTION });
      expect(await store.recordHeartbeat(RUN, "e", NOW, { followups_stored: 3 }), state).toBe(isBeating);
      expect((await read())["heartbeat_at"]).toBe(isBeating ? NOW : NOW - 500);
      await store.noteWatch(RUN, NOW);
      expect((await read())["watched_at"], state).toBe(state === "FAILED" ? undefined : NOW);
    }
    await put({ state: "INPROGRESS", ...EXECUTION, check_at: "a" });
    expect(await store.recordHeartbeat(RUN, "another", NOW, { followups_stored: 3 })).toBe(false);
    await store.checkAgain(RUN, "b", "c");
    expect((await read())["check_at"]).toBe("a");
    await store.checkAgain(RUN, "a", "c");
    expect((await read())["check_at"]).toBe("c");
    await store.extendLease({ ...executing(), heartbeat_at: 1 });
    await store.extendLease({ ...executing(), execution_id: "another" });
    expect(await read()).not.toHaveProperty("extended_from");
    await store.extendLease(executing());
    expect((await read())["extended_from"]).toBe(NOW - 500);
    const broken = { write: () => Promise.reject(new Error("no table")) };
    await expect(runLeaseStore(broken).noteWatch(RUN, NOW)).rejects.toThrow("no table");
  });

  it("are read in order, after a number and up to a limit", async () => {
    const table = memoryTable();
    const store = runTimelineStore(table);
    for (const number of [1, 2, 10]) {
      for (const key of [keys.event(RUN, number), keys.messages(RUN, number), keys.followup(RUN, number)]) {
        await table.write({ kind: "put", item: { ...key, number } });
      }
    }
    const numbers = ({ items }: { readonly items: readonly Item[] }) => items.map(({ number }) => number);
    expect(numbers(await store.timelineItems(RUN))).toEqual([1, 2, 10]);
    expect(numbers(await store.timelineItems(RUN, 1, 1))).toEqual([2]);
    expect(numbers(await store.messageItems(RUN))).toEqual([1, 2, 10]);
    expect(numbers(await store.messageItems(RUN, 2, 5))).toEqual([10]);
    expect(numbers({ items: await store.followupItems(RUN, 1) })).toEqual([2, 10]);
    const artifact = (uid: string, committed_at?: number) => ({
      pk: keys.head(RUN).pk,
      sk: `ARTIFACT#${uid}`,
      uid,
      run_id: RUN,
      execution_id: "e",
      artifact_type: "PULL_REQUEST",
      url: uid,
      branch: "b",
      ...(committed_at === undefined ? {} : { committed_at }),
    });
    for (const one of [artifact("c", 2), artifact("b", 1), artifact("a", 2), artifact("d")]) {
      await table.write({ kind: "put", item: one });
    }
    expect((await store.artifacts(RUN)).map(({ data }) => Object(data).url)).toEqual(["b", "a", "c"]);
  });
});

describe("the key of a run", () => {
  const principal = { kind: "run", head: queued(), executionId: "e", stopping: false } as const;
  const ports = { runs: runStore(memoryTable()) };

  it("steers other runs of its tree, but not its own", async () => {
    await expect(steerableRun(RUN, principal, ports)).rejects.toMatchObject({
      code: "not_authorized",
      detail: "a run's key cannot steer its own run",
    });
    await expect(steerableRun(OTHER, principal, ports)).rejects.toMatchObject({
      code: "not_authorized",
      detail: "a run's key can access only its own run and its descendants",
    });
    await expect(ports.runs.body("none")).rejects.toThrow("there is no such run");
  });
});
