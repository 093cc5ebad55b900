import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { client, commands, type Reply } from "../support/api-client.ts";
import { startService, type TestService } from "../support/service.ts";

const LIMIT = 5;
const FLOOD = 200;
const CALLERS = 10;

let service: TestService;
let api: ReturnType<typeof client>;

beforeAll(async () => {
  // Allows the runs to reach the limits of the teams before that of the machine.
  service = await startService({ args: ["--concurrency", "40"] });
  api = client(service);
});

afterAll(() => service[Symbol.asyncDispose]());

/** A team that may have five runs at once. */
async function limitedTeam(name: string): Promise<string> {
  const made = await api.call("POST", "/agent/teams", { name });
  expect(made.status).toBe(201);
  const changed = await api.call("PUT", `/agent/teams/${made.body.uid}`, { settings: { concurrency_limit: LIMIT } });
  expect(changed.status).toBe(200);
  return made.body.uid;
}

/** A request that is repeated under its key while the service is too busy for it, as clients do. */
async function createFor(team: string, prompt: string, more: Record<string, unknown> = {}): Promise<string> {
  const headers = { "x-team-uid": team, "idempotency-key": randomUUID() };
  for (let attempt = 0; ; attempt++) {
    const made = await api.call("POST", "/agent/runs", { prompt, ...more }, headers);
    if (made.status === 200) return made.body.run_id;
    if (made.headers.get("x-should-retry") !== "true" || attempt === 20) throw new Error(JSON.stringify(made.body));
    await pause(Math.random() * 2_000);
  }
}

/** All runs of a team. */
async function listRuns(team: string): Promise<Reply["body"][]> {
  const runs: Reply["body"][] = [];
  let cursor = "";
  do {
    const page = await api.call("GET", `/agent/runs?limit=500${cursor}`, undefined, { "x-team-uid": team });
    expect(page.status).toBe(200);
    runs.push(...page.body.runs);
    const { has_next_page: more, next_cursor: next } = page.body.page_info;
    cursor = more ? `&cursor=${encodeURIComponent(next)}` : "";
  } while (cursor !== "");
  return runs;
}

describe("a team that creates two hundred runs at once", () => {
  test("delays no other team: at most as many of its runs as its limit start before another team's", async () => {
    const [team, others] = [await limitedTeam("Flood"), await limitedTeam("Others")];
    const create = () => createFor(team, commands("sleep 20"));
    await Promise.all(
      Array.from({ length: CALLERS }, async () => {
        for (let index = 0; index < FLOOD / CALLERS; index++) await create();
      }),
    );
    const submitted = Date.now();
    const other = await api.until(
      await createFor(others, commands("echo here")),
      ({ started_at }) => typeof started_at === "string",
      120,
    );
    const begunAt = Date.parse(other.started_at);
    const runs = await listRuns(team);
    expect(runs).toHaveLength(FLOOD);
    const between = runs.filter(({ started_at }) => {
      const at = Date.parse(started_at ?? "");
      return at >= submitted && at <= begunAt;
    });
    expect(between.length).toBeLessThanOrEqual(LIMIT);
    const working = runs.filter(({ state }) => ["PENDING", "INPROGRESS"].includes(state));
    expect(working.length).toBeLessThanOrEqual(LIMIT);

    const cancelled = await api.call(
      "POST",
      "/agent/runs/cancel",
      { filter: { state: ["QUEUED", "PENDING", "INPROGRESS"] }, force: true },
      { "x-team-uid": team },
    );
    expect(cancelled.status).toBe(200);
    const isOver = ({ state }: Reply["body"]) => ["SUCCEEDED", "CANCELLED"].includes(state);
    await expect.poll(async () => (await listRuns(team)).filter(isOver).length).toBe(FLOOD);
  }, 300_000);
});

describe("five parents that hold all slots of their team", () => {
  test("get the children that they wait for, and all runs end", async () => {
    const team = await limitedTeam("Parents");
    const parents = await Promise.all(
      Array.from({ length: LIMIT }, () => createFor(team, commands("echo waiting; sleep 300"))),
    );
    for (const id of parents) await api.until(id, ({ state }) => state === "INPROGRESS");
    const unrelated = await createFor(team, commands("echo after all"));
    const trees = await Promise.all(
      parents.map(async (parent) => {
        const child = () => createFor(team, commands("sleep 1; echo done"), { parent_run_id: parent });
        return { parent, children: [await child(), await child()] };
      }),
    );
    await Promise.all(
      trees.map(async ({ parent, children }) => {
        for (const id of children) expect((await api.ended(id, 120)).state).toBe("SUCCEEDED");
        // The parent continues only now: without its children it would wait forever.
        const followup = { message: commands("echo both are done"), policy: "interrupt" };
        expect((await api.call("POST", `/agent/runs/${parent}/followups`, followup)).status).toBe(200);
      }),
    );
    const ends = await Promise.all([...parents, unrelated].map((id) => api.ended(id, 120)));
    expect(ends.map(({ state }) => state)).toEqual(ends.map(() => "SUCCEEDED"));
    // The run outside the trees waited for a slot of the team.
    const first = Math.min(...ends.slice(0, LIMIT).map(({ updated_at }) => Date.parse(updated_at)));
    expect(Date.parse(ends.at(-1)?.started_at)).toBeGreaterThanOrEqual(first);
  }, 240_000);
});
