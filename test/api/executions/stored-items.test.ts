import { createHash } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import { afterEach, beforeEach, expect, it, type MockInstance, vi } from "vitest";
import { noteUsage } from "#shared/records/budget-account.ts";
import type { Item } from "#shared/table/table.ts";
import { type Client, createClient } from "../../support/client.ts";
import { createTestControlPlane, type TestControlPlane } from "../../support/control-plane.ts";
import { createHarness, createRun, deliver, nextExecution, startedRun } from "../../support/execution.ts";
import { reap } from "../../support/reaper.ts";
import { fireAt, makeSchedule } from "../../support/schedules.ts";

let plane: TestControlPlane;
let user: Client;
/** AWS calls in progress. A function may be stopped as soon as it has responded. */
let unfinished: string[];
/** The changes of each step, as text. */
let steps: string[];
let before: ReadonlyMap<string, string>;
let random: MockInstance<() => number>;

beforeEach(async () => {
  random = vi.spyOn(Math, "random").mockReturnValue(0.5);
  unfinished = [];
  plane = await createTestControlPlane(undefined, async (name, perform) => {
    unfinished.push(name);
    await nextTurn();
    try {
      return await perform();
    } finally {
      unfinished.splice(unfinished.indexOf(name), 1);
    }
  });
  user = createClient(plane);
  steps = [];
  before = readItems();
});
afterEach(() => random.mockRestore());

/** The table's items by key, except keys of people, each as a line with names in place of random values. */
const readItems = (): ReadonlyMap<string, string> => {
  const items = plane.table.all().filter(({ sk }) => sk !== "KEY");
  return new Map(items.map((item) => [`${item.pk} ${item.sk}`, formatItem(item)]));
};

const formatItem = (item: Item): string => {
  const sorted = Object.fromEntries(Object.entries(item).toSorted(([one], [other]) => (one < other ? -1 : 1)));
  return JSON.stringify(sorted)
    .replaceAll(plane.user, "ADA")
    .replaceAll(plane.team, "TEAM")
    .replaceAll(runIds(), "RUN")
    .replace(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "UUID")
    .replace(/(?<="(?:runs|snapshots|attachments)\/)[0-9a-f]{4}(?=\/)/g, "SPREAD")
    .replace(/"key_suffix":"[^"]+"/g, '"key_suffix":"KEY"')
    .replace(/(RUNS|SCHEDULES)#\d+/g, "$1#N")
    .replace(/(#ACTIVE|DELIVERIES|"EVENTS)(#\d+)?(?=")/g, "$1")
    .replace(/(?<![0-9a-z])[0-9a-f]{32,64}(?![0-9a-z])/g, "HASH");
};

/** Matches the ids of all runs. */
const runIds = (): RegExp => {
  const ids = plane.table.all().flatMap(({ pk, sk }) => (sk === "HEAD" ? [pk.slice("RUN#".length)] : []));
  return new RegExp(["none", ...ids].join("|"), "g");
};

/** Records the changes that a step makes to the items, at its own time. */
async function step(name: string, work: () => Promise<unknown>): Promise<void> {
  plane.clock.now += 1_000;
  const result = await work();
  expect(unfinished, `${name} leaves calls unfinished`).toEqual([]);
  const status = Number(Object(result).status ?? 200);
  if (status >= 300) throw new Error(`${name}: ${JSON.stringify(result)}`);
  const after = readItems();
  const changed = [...after].filter(([key, line]) => before.get(key) !== line).map(([, line]) => line);
  const removed = [...before].filter(([key]) => !after.has(key)).map(([, line]) => `removed ${line}`);
  steps.push(`# ${name}`, ...[...changed, ...removed].toSorted(), "");
  before = after;
}

const expectSteps = (file: string) => expect(steps.join("\n")).toMatchFileSnapshot(file);

const NOBODY = { version: 1, base_url: "", model_url: "", run_id: "", execution_id: "", key: "" } as const;

const describeFile = (content: string) => ({
  size_bytes: content.length,
  sha256: createHash("sha256").update(content).digest("hex"),
});

it("a run is stored as in stored-runs.txt after each step of its life (`-u` after a change)", async () => {
  let run = createHarness(plane, NOBODY);
  const config = { name: "nightly", budget_usd: 1, mcp_servers: { box: { command: "node" } } };
  const body = { prompt: "Fix the gate.", title: "Gate", metadata: { batch: "7" }, config };
  await step("created", () => user.post("/agent/runs", body, { headers: { "idempotency-key": "k" } }));
  await step("dispatched", async () => {
    run = await nextExecution(plane);
  });
  await step("begun", () => run.resolve());
  await step("messages", () => run.messages(1, "one", "two"));
  await step("heartbeat", async () => {
    plane.clock.now += 10_000;
    return run.beat();
  });
  await step("follow-up", () => user.post(`/agent/runs/${run.run_id}/followups`, { message: "and then?" }));
  await step("follow-up stored", () => run.beat(1));
  const content = "an artifact\n";
  const file = { filepath: "a.txt", filename: "a.txt", mime_type: "text/plain", ...describeFile(content) };
  const report = () => run.support("report-artifact", { artifact_type: "FILE", data: file });
  await step("artifact placed", async () => plane.upload((await report()).body.upload.url, content));
  await step("artifact reported", report);
  const pull = { url: "https://github.com/acme/shop/pull/1", branch: "fix" };
  await step("pull request", () => run.support("report-artifact", { artifact_type: "PULL_REQUEST", data: pull }));
  await step("notification", () => run.support("notify-user", { message: "look" }));
  const event = { event_uuid: "e1", event_name: "agent_started", timestamp: "2026-05-18T18:00:00Z" };
  await step("client event", () => run.event(event));
  const saved = { filename: "workspace.tar.gz", mime_type: "application/gzip", ...describeFile("the workspace") };
  await step("snapshot placed", async () => {
    const place = { mode: "checkpoint", generation: "turn-1", files: [saved] };
    await plane.upload((await run.support("upload-snapshot", place)).body.uploads[0].url, "the workspace");
  });
  await step("snapshot committed", () =>
    run.support("commit-snapshot", { generation: "turn-1", files: [saved.filename] }),
  );
  await step("watched", () => user.get(`/agent/runs/${run.run_id}/events?after=99&live=true`));
  await step("lost", () => run.shutDown({ error: { category: "oom", message: "out of memory" } }));
  await step("dispatched again", async () => {
    run = await nextExecution(plane);
  });
  await step("begun again", () => run.resolve());
  await step("model called", () => noteUsage(run.run_id, { cost: 20_000, tokens: 100 }, plane.table));
  await step("finished", () => run.finish());
  await step("ended", () => deliver(plane));
  await step("restarted", () => user.post(`/agent/runs/${run.run_id}/followups`, { message: "more", mode: "plan" }));
  await step("dispatched after its restart", async () => {
    run = await nextExecution(plane);
  });
  await step("begun after its restart", () => run.resolve());
  await step("cancelled", () => user.post(`/agent/runs/${run.run_id}/cancel`));
  await step("stopped", () => run.shutDown());
  await step("ended again", () => deliver(plane));
  await expectSteps("stored-runs.txt");
});

it("other kinds of runs are stored as in stored-other-runs.txt", async () => {
  let run = "";
  let local = createHarness(plane, NOBODY);
  await step("an upload", () =>
    user.post("/agent/attachments", { file_name: "a.txt", mime_type: "text/plain", ...describeFile("abc") }),
  );
  await step("a local run", async () => {
    const { body } = await user.post("/agent/runs", { prompt: "x", execution_location: "LOCAL" });
    local = createHarness(plane, { ...NOBODY, run_id: body.run_id, key: body.run_key });
  });
  await step("a local run begun", () => local.resolve());
  await step("a schedule", async () => {
    run = (await makeSchedule(plane)).id;
  });
  await step("a scheduled run", () => fireAt(plane, run, "2026-05-19T02:30:00Z"));
  await step("a personal run", () => user.post("/agent/runs", { prompt: "x", team: false }));
  plane.sent.length = 0;
  const parent = await startedRun(plane, { prompt: "x", config: { budget_usd: 1 } });
  await parent.resolve();
  before = readItems();
  await step("a child", () => parent.client.post("/agent/runs", { prompt: "x" }));
  await step("a child with a slot of the tree", () => deliver(plane, "runs"));
  plane.offered.splice(0, 1, "microvm");
  await step("a run in a MicroVM", async () => {
    run = await createRun(plane);
    await deliver(plane, "runs");
  });
  await step("cancelled by force", () => user.post(`/agent/runs/${run}/cancel?force=true`));
  await step("its sandbox stopped", () => deliver(plane, "ends"));
  await step("checked by the reaper an hour later", async () => {
    plane.clock.now += 3_600_000;
    await reap(plane);
  });
  await expectSteps("stored-other-runs.txt");
});
