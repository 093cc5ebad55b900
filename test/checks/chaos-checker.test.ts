import { describe, expect, it } from "vitest";
import { check, DETECTION_MS } from "../../lab/chaos/checker.ts";
import { type AcceptedRun, formatTitle } from "../../lab/chaos/clients.ts";
import type { Evidence, RunResponses, StoredItem } from "../../lab/chaos/evidence.ts";
import {
  DEPLOYMENT_WEIGHTS,
  generateStrikes,
  generateTasks,
  MACHINE_WEIGHTS,
  type Strike,
} from "../../lab/chaos/plan.ts";
import type { Rule } from "../../lab/chaos/run-checks.ts";
import type { Hit } from "../../lab/chaos/targets.ts";

const SEED = 7;
const RUN = "0193a4b0-0000-7000-8000-000000000001";
const START = Date.parse("2026-05-18T19:00:00.000Z");

interface Entry {
  readonly type: string;
  readonly by?: string;
  readonly data?: Record<string, unknown>;
}

/** A run whose first execution was lost, and whose second one succeeded. */
const HISTORY: readonly Entry[] = [
  { type: "run_created", data: { state: "QUEUED" } },
  { type: "run_pending", data: { state: "PENDING", execution_id: "first" } },
  { type: "worker_container_ready", by: "first", data: { state: "INPROGRESS" } },
  { type: "execution_lost", by: "first", data: { state: "QUEUED", losses: 1 } },
  { type: "run_pending", data: { state: "PENDING", execution_id: "second" } },
  { type: "worker_container_ready", by: "second", data: { state: "INPROGRESS" } },
  { type: "setup_started", by: "second" },
  { type: "messages", by: "second" },
  { type: "run_succeeded", by: "second", data: { state: "SUCCEEDED" } },
];

/** The evidence of a chaos run without failures, with the changes of a test. */
interface Scene {
  history?: readonly Entry[];
  head?: Record<string, unknown>;
  items?: readonly StoredItem[];
  accepted?: Partial<AcceptedRun>;
  responses?: Partial<RunResponses>;
  rest?: Partial<Evidence>;
}

function findings({ history = HISTORY, head, items = [], accepted, responses, rest }: Scene) {
  const entries = history.map(({ type, by, data }, index): StoredItem => {
    const isBatch = type === "messages";
    return {
      pk: `RUN#${RUN}`,
      sk: `${isBatch ? "MESSAGES" : "EVENT"}#${String(index + 1).padStart(10, "0")}`,
      sequence: index + 1,
      occurred_at: START + index * 1_000,
      ...(isBatch ? {} : { type, data: data ?? {} }),
      ...(by === undefined ? {} : { execution_id: by }),
    };
  });
  const stored: StoredItem[] = [
    {
      pk: `RUN#${RUN}`,
      sk: "HEAD",
      state: "SUCCEEDED",
      next_sequence: history.length + 1,
      transcript_events: history.length,
      ...head,
    },
    { pk: `RUN#${RUN}`, sk: "BODY", title: formatTitle(SEED, "1") },
    { pk: "TEAM#one", sk: "COUNTERS", queued: 0, running: 0 },
    ...entries,
    ...items,
  ];
  const one: AcceptedRun = {
    name: "1",
    kind: "short",
    mark: "line-7-1",
    runId: RUN,
    followups: [],
    interrupted: 0,
    uploaded: new Map(),
    cancelled: false,
    ended: true,
    complaints: [],
    ...accepted,
  };
  const output = JSON.stringify({ stdout: "line-7-1\n" });
  const read: RunResponses = {
    events: history.map(({ type }, index) => ({ sequence: index + 1, type: toType(type) })),
    timeline: history.map(({ type }) => type).filter((type) => type !== "messages" && type !== "setup_started"),
    conversation: output,
    transcript: output,
    files: [],
    ...responses,
  };
  const evidence: Evidence = {
    accepted: [one],
    items: stored,
    before: new Set(),
    objects: [`runs/${RUN.slice(-4)}/${RUN}/transcript-${history.length}.jsonl`],
    responses: new Map([[RUN, read]]),
    hits: [createKill("harness", "first", START + 2_500)],
    lastKillAt: START + 2_500,
    processes: [],
    ...rest,
  };
  return check(evidence, SEED);
}

const toType = (type: string): RunResponses["events"][number]["type"] => {
  const known = [
    "run_created",
    "run_pending",
    "worker_container_ready",
    "execution_lost",
    "setup_started",
    "run_succeeded",
  ] as const;
  return known.find((one) => one === type) ?? "messages";
};

const createKill = (kind: Hit["kind"], executionId: string, at: number): Hit => ({
  number: 1,
  kind,
  name: kind,
  executionId,
  at,
  busy: true,
});

const brokenBy = (scene: Scene): Rule[] => [...new Set(findings(scene).violations.map(({ rule }) => rule))].sort();

const without = (index: number): Entry[] => HISTORY.filter((_, place) => place !== index);
const withLast = (...more: readonly Entry[]): Entry[] => [...HISTORY, ...more];
const strayItem = (sk: string, more: Record<string, unknown>, pk = "TEAM#one"): Scene => ({
  items: [{ pk, sk, ...more }],
});

describe("a finding of the chaos checker", () => {
  it("is absent if an expired execution was recovered, and reports the detection time", () => {
    expect(findings({})).toEqual({
      violations: [],
      states: { SUCCEEDED: 1 },
      executions: 2,
      lost: 1,
      longestDetectionMs: 500,
    });
  });

  it("is a gap in the sequence, in the middle and at the end", () => {
    const head = { next_sequence: 12, transcript_events: 11 };
    expect(brokenBy({ head })).toEqual(["gap"]);
    const eleventh = { sequence: 11, type: "run_stopped", occurred_at: START };
    expect(brokenBy({ head, items: [{ pk: `RUN#${RUN}`, sk: "EVENT#0000000011", ...eleventh }] })).toContain("gap");
  });

  it("is a transition that the state machine does not allow, and a head that contradicts its events", () => {
    expect(brokenBy({ history: without(1), rest: { hits: [] } })).toEqual(["fence", "move"]);
    expect(brokenBy({ head: { state: "FAILED" }, accepted: { kind: "failing" } })).toEqual(["move"]);
  });

  it("is a write of an execution after its fence, whether expired or ended", () => {
    const late: Entry = { type: "messages", by: "first" };
    expect(brokenBy({ history: [...HISTORY.slice(0, 4), late, ...HISTORY.slice(4)] })).toEqual(["fence"]);
    expect(brokenBy({ history: withLast({ type: "messages", by: "second" }) })).toEqual(["fence"]);
  });

  it("is an execution that begins while another is active", () => {
    const second: Entry = { type: "run_pending", data: { execution_id: "second" } };
    expect(brokenBy({ history: [...HISTORY.slice(0, 3), second, ...HISTORY.slice(5)], rest: { hits: [] } })).toContain(
      "fence",
    );
  });

  it("is a run that ended twice", () => {
    expect(brokenBy({ history: withLast({ type: "run_succeeded", data: { state: "SUCCEEDED" } }) })).toEqual([
      "ended",
      "move",
    ]);
  });

  it("is an accepted run that is missing or has not ended", () => {
    expect(brokenBy({ accepted: { runId: "another" } })).toEqual(["lost", "twice"]);
    expect(
      brokenBy({ history: HISTORY.slice(0, 7), head: { state: "INPROGRESS", slot: "owner", check_shard: "RUNS#1" } }),
    ).toEqual(["counters", "lost"]);
  });

  it("is a request that created two runs, and a run whose creation was never confirmed", () => {
    const second = (title: string): Scene => ({
      items: [
        { pk: "RUN#2", sk: "HEAD", state: "QUEUED", next_sequence: 2 },
        { pk: "RUN#2", sk: "BODY", title },
        { pk: "RUN#2", sk: "EVENT#1", sequence: 1, type: "run_created", occurred_at: START, data: { state: "QUEUED" } },
      ],
    });
    expect(brokenBy(second(formatTitle(SEED, "1")))).toEqual(["twice"]);
    expect(brokenBy(second("something else"))).toEqual(["twice"]);
    expect(brokenBy({ accepted: { followups: ["line-7-1"] } })).toEqual(["twice"]);
  });

  it("is an end that no caller requested and no event explains", () => {
    const failed = [...HISTORY.slice(0, 7), { type: "run_failed", by: "second", data: { state: "FAILED" } }];
    const scene: Scene = { history: failed, head: { state: "FAILED" } };
    expect(brokenBy(scene)).toContain("outcome");
    const rest = { hits: [createKill("command", "second", START + 6_000)] };
    expect(brokenBy({ ...scene, rest })).not.toContain("outcome");
    const errored = [...HISTORY.slice(0, 7), { type: "run_errored", by: "second", data: { state: "ERROR" } }];
    expect(brokenBy({ history: errored, head: { state: "ERROR", losses: 1 } })).toContain("outcome");
    expect(brokenBy({ history: errored, head: { state: "ERROR", losses: 3 } })).not.toContain("outcome");
    expect(brokenBy({ accepted: { cancelled: true } })).toEqual(["outcome"]);
    expect(brokenBy({ head: { followups: 1 } })).toEqual(["outcome"]);
  });

  it("is an unreadable output, and a difference between the API and the table", () => {
    expect(brokenBy({ responses: { transcript: "" } })).toEqual(["output"]);
    expect(brokenBy({ responses: { conversation: "" } })).toEqual(["output"]);
    expect(brokenBy({ responses: { timeline: [] } })).toEqual(["responses"]);
    expect(brokenBy({ responses: { events: [] } })).toEqual(["responses"]);
    expect(brokenBy({ head: { transcript_events: 3 } })).toEqual(["responses"]);
    expect(brokenBy({ responses: { files: [{ name: "a", problem: "status 404" }] } })).toEqual(["files"]);
    expect(brokenBy({ accepted: { kind: "file" } })).toEqual(["files"]);
    expect(
      brokenBy({ accepted: { kind: "file" }, responses: { files: [{ name: "line-7-1.txt", text: "line-7-1\n" }] } }),
    ).toEqual([]);
    expect(brokenBy({ rest: { responses: new Map([[RUN, "GET returned 500"]]) } })).toEqual(["responses"]);
  });

  it("is a file that was uploaded and is missing or different, in any state", () => {
    const uploaded = new Map([["out/a.txt", "line\n"]]);
    const scene = (text: string): Scene => ({
      accepted: { uploaded },
      responses: { files: [{ name: "out/a.txt", text }] },
    });
    expect(brokenBy({ accepted: { uploaded } })).toEqual(["files"]);
    expect(brokenBy(scene("another"))).toEqual(["files"]);
    expect(brokenBy(scene("line\n"))).toEqual([]);
  });

  it("is not a follow-up that was cancelled by force and never taken up", () => {
    const followup = strayItem("FOLLOWUP#1", {}, `RUN#${RUN}`);
    const head = { followups: 1, followups_stored: 0 };
    expect(brokenBy({ head, ...followup, accepted: { interrupted: 1 } })).toEqual([]);
    expect(brokenBy({ head, ...followup })).toContain("twice");
  });

  it.each([
    ["a counter", strayItem("COUNTERS", { running: 1 }, "TEAM#two")],
    ["a counter below zero", strayItem("COUNTERS", { queued: -1 }, "TEAM#two")],
    ["a slot of a tree", strayItem("TREE#1", { running: 1 }, `RUN#${RUN}`)],
    ["an entry in a wait queue", strayItem("WAITING#2", {})],
    ["a slot that a run holds", { head: { slot: "owner" } }],
    ["a scheduled check", { head: { check_shard: "RUNS#3" } }],
  ] satisfies [string, Scene][])("is a remaining %s", (_, scene) => {
    expect(brokenBy(scene)).toEqual(["counters"]);
  });

  it("is an object without its run, and a remaining process", () => {
    expect(brokenBy({ rest: { objects: ["runs/ther/another/transcript-3.jsonl"] } })).toEqual(["object"]);
    expect(brokenBy({ rest: { objects: ["snapshots/another/first/1/0"] } })).toEqual(["object"]);
    expect(brokenBy({ rest: { objects: ["requests/one/prompt-1.txt"] } })).toEqual(["object"]);
    expect(brokenBy({ rest: { objects: [`runs/${RUN.slice(-4)}/${RUN}/transcript-99.jsonl`] } })).toEqual(["object"]);
    expect(brokenBy({ rest: { processes: ["12 sleep"] } })).toEqual(["process"]);
  });

  it("is an expired execution that was never noticed, or two minutes too late", () => {
    const at = START + 3_000 - DETECTION_MS - 1;
    expect(brokenBy({ rest: { hits: [createKill("harness", "first", at)], lastKillAt: at } })).toEqual(["detection"]);
    expect(brokenBy({ rest: { hits: [createKill("sandbox", "unknown", at)], lastKillAt: at } })).toEqual(["detection"]);
    expect(brokenBy({ rest: { hits: [createKill("harness", "second", START + 60_000)] } })).toEqual([]);
  });
});

describe("a chaos plan", () => {
  it.each([
    ["one machine", MACHINE_WEIGHTS],
    ["the deployment", DEPLOYMENT_WEIGHTS],
  ])("of %s is the same for the same seed, differs for another, and has every kind of kill", (_, weights) => {
    const first = (seed: number) => {
      const strikes = generateStrikes(seed, weights);
      return Array.from({ length: 200 }, () => strikes.next().value);
    };
    expect(first(SEED)).toEqual(first(SEED));
    expect(first(SEED)).not.toEqual(first(SEED + 1));
    expect(new Set(first(SEED).map(({ kind }) => kind))).toEqual(
      new Set(Object.entries(weights).flatMap(([kind, weight]) => (weight > 0 ? [kind] : []))),
    );
    const ways = (strikes: readonly Strike[]) =>
      new Set(strikes.map(({ kind, terminates = false }) => `${kind} ${terminates ? "SIGTERM" : "SIGKILL"}`));
    const all = ways(first(SEED));
    expect([...all].filter((way) => way.endsWith("SIGTERM")).length).toBe(weights.service > 0 ? 3 : 1);
    for (const seed of [1, 2, 3]) expect(ways(first(seed).slice(0, all.size)), "a short test").toEqual(all);
    expect(generateTasks(SEED, 50)).toEqual(generateTasks(SEED, 50));
    expect(generateTasks(SEED, 300).slice(0, 50)).toEqual(generateTasks(SEED, 50));
  });
});
