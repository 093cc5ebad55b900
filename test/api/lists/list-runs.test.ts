import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { listRuns } from "#functions/runs/list-runs.ts";
import { noteUsage } from "#shared/records/budget-account.ts";
import { hasStatus } from "#shared/runs/listing/task-status.ts";
import { RunState, type TaskStatus } from "#shared/wire/run.ts";
import { type Client, createClient } from "../../support/client.ts";
import { createTestControlPlane, type ResponseBody, type TestControlPlane } from "../../support/control-plane.ts";
import { createRun, workingRun } from "../../support/execution.ts";
import { makeStage } from "../../support/principals.ts";

const ids = (response: { body: { runs: { run_id: string }[] } }) => response.body.runs.map(({ run_id }) => run_id);

/** Reads all pages of a list. Only the first may be empty. */
async function walk(client: Client, query: string, limit: number): Promise<string[]> {
  const found: string[] = [];
  let cursor: string | undefined;
  do {
    const response = await client.get(
      `/agent/runs?${query}&limit=${limit}${cursor === undefined ? "" : `&cursor=${cursor}`}`,
    );
    expect(response.status, JSON.stringify(response.body)).toBe(200);
    if (response.body.page_info.has_next_page || cursor !== undefined) expect(response.body.runs).not.toEqual([]);
    if (!response.body.page_info.has_next_page) expect(response.body.page_info).toEqual({ has_next_page: false });
    found.push(...ids(response));
    cursor = response.body.page_info.next_cursor;
  } while (cursor !== undefined);
  return found;
}

/** Creates a run that has cost $0.02, and one that has cost $2.50. */
async function createPricedRuns(plane: TestControlPlane) {
  const config = { budget_usd: 10 };
  const cheap = await workingRun(plane, { prompt: "a", config });
  const costly = await workingRun(plane, { prompt: "b", config });
  await noteUsage(cheap.run_id, { cost: 20_000_000, tokens: 1000 }, plane.table);
  await noteUsage(costly.run_id, { cost: 2_500_000_000, tokens: 1000 }, plane.table);
  return { cheap, costly };
}

describe("GET /agent/runs", () => {
  // @contract general.visibility.team-run
  // @contract runs.item.prompt-cut: Lists return a prompt's first 1,000 characters, and the run itself all of them.
  // @contract runs.list.response: GET /agent/runs returns runs and page_info with has_next_page and, if there is one, next_cursor.
  // @contract runs.list.limit: limit is 1 to 500, and 20 by default.
  // @contract runs.list.sees: The list contains the caller's runs and the team's.
  it("returns own and team runs newest first, 20 by default, with the first 1,000 characters of a prompt", async () => {
    const plane = await createTestControlPlane();
    const made: string[] = [];
    for (let number = 1; number <= 21; number++) {
      made.unshift(await createRun(plane, { prompt: `${number} `.repeat(1_000), team: number % 2 === 0 }));
      plane.clock.now += 1;
    }
    await createRun(plane, { prompt: "theirs" }, plane.otherKey);
    const response = await createClient(plane).get("/agent/runs");
    expect(ids(response)).toEqual(made.slice(0, 20));
    expect(response.body.page_info).toMatchObject({ has_next_page: true, next_cursor: expect.any(String) });
    expect([...response.body.runs[0].prompt]).toHaveLength(1_000);
    expect(response.body.runs[0]).toMatchObject({ state: "QUEUED", agent_config: { model_id: "local/runbook" } });
    const mia = await plane.person("Mia");
    expect(await walk(createClient(plane, mia.key), "", 7), "none of the personal runs").toEqual(
      made.filter((_, index) => index % 2 === 1),
    );
    expect(await walk(createClient(plane, (await plane.agent()).key), "", 500)).toHaveLength(10);
  });

  it("selects runs by what they have cost at least", async () => {
    const plane = await createTestControlPlane();
    const client = createClient(plane);
    const free = await createRun(plane);
    const { cheap, costly } = await createPricedRuns(plane);
    const read = async (least: string, order = "created_at") =>
      ids(await client.get(`/agent/runs?sort_by=${order}&min_cost_usd=${least}`));
    expect(await read("2.5")).toEqual([costly.run_id]);
    expect(await read("0.02", "title")).toEqual(expect.arrayContaining([costly.run_id, cheap.run_id]));
    expect(await read("2.500000001")).toEqual([]);
    expect(await read("0")).toContain(free);
    expect(await read("2.5e0")).toEqual([costly.run_id]);
    expect(await read("1000000")).toEqual([]);
    expect(await read("0.01629875944")).toEqual(expect.arrayContaining([costly.run_id, cheap.run_id]));
    await noteUsage(cheap.run_id, { cost: 2_480_000_000, tokens: 1000 }, plane.table);
    expect((await read("2.50")).toSorted()).toEqual([cheap.run_id, costly.run_id].toSorted());
    expect(await walk(client, "min_cost_usd=2.5", 1)).toHaveLength(2);
    for (const wrong of ["-1", "1e7", "1e", "cheap", "1000001"]) {
      const { status, body } = await client.get(`/agent/runs?min_cost_usd=${wrong}`);
      expect([status, body.errors[0]?.path], wrong).toEqual([400, "min_cost_usd"]);
    }
  });

  it("archives the runs that have cost at least an amount, and no others", async () => {
    const plane = await createTestControlPlane();
    const client = createClient(plane);
    const { cheap, costly } = await createPricedRuns(plane);
    await Promise.all([cheap.finish(), costly.finish()]);
    const { body } = await client.post("/agent/runs/archive", { filter: { min_cost_usd: 1 } });
    expect(body.archived).toEqual([costly.run_id]);
    const [event] = (await client.get("/agent/audit?action=runs.archive")).body.events;
    expect(event.filter).toEqual({ min_cost_usd: 1 });
  });

  // @contract runs.list.limit
  // @contract runs.list.sort
  // @contract runs.list.agent-last: Sorted by agent, runs without a skill are last in both directions.
  // @contract runs.list.ties: Runs that are equal in the order are sorted by id, in the same direction.
  // @contract runs.list.folded: Texts are sorted in their NFKC form and lower case, up to 200 characters.
  it.each([
    ["updated_at", "desc"],
    ["updated_at", "asc"],
    ["created_at", "desc"],
    ["created_at", "asc"],
    ["title", "desc"],
    ["title", "asc"],
    ["agent", "desc"],
    ["agent", "asc"],
  ])("returns all runs once, in the order of %s %s, for any page size", async (by, order) => {
    const plane = await createTestControlPlane();
    const rows: { id: string; key: string }[] = [];
    const titles = ["b", "A!", "a", "a b", "Ä", "ä", "ａ", "zz", "a", "A  c", "b", "0"];
    for (const [index, title] of titles.entries()) {
      plane.clock.now += index % 3;
      const skill = index % 4 === 0 ? undefined : `o/r:${title.codePointAt(0)}`;
      const body = { prompt: "p", title, team: index % 5 > 0, ...(skill === undefined ? {} : { skill }) };
      const id = await createRun(plane, body);
      const key =
        { updated_at: "", created_at: "", title: title.normalize("NFKC").toLowerCase(), agent: skill ?? "" }[by] ?? "";
      rows.push({ id, key: key === "" && by.endsWith("_at") ? String(plane.clock.now) : key });
    }
    const sign = order === "asc" ? 1 : -1;
    const bytes = (a: string, b: string) => sign * Buffer.compare(Buffer.from(a), Buffer.from(b));
    const missing = ({ key }: { key: string }) => (by === "agent" && key === "" ? 1 : 0);
    const expected = rows
      .toSorted((a, b) => missing(a) - missing(b) || bytes(a.key, b.key) || bytes(a.id, b.id))
      .map(({ id }) => id);
    for (const limit of [1, 2, 5, 12, 500]) {
      expect(await walk(createClient(plane), `sort_by=${by}&sort_order=${order}`, limit), `limit ${limit}`).toEqual(
        expected,
      );
    }
  });

  // @contract runs.cursor.stable
  it("returns each unchanged run exactly once while others change", async () => {
    const plane = await createTestControlPlane();
    const user = createClient(plane);
    const made: string[] = [];
    for (let number = 0; number < 30; number++) {
      plane.clock.now += 1;
      made.push(await createRun(plane, { prompt: `${number}` }));
    }
    const touched = new Set<string>();
    const seen: string[] = [];
    let cursor = "";
    for (let page = 0; ; page++) {
      const response = await user.get(`/agent/runs?limit=4&cursor=${cursor}`);
      seen.push(...ids(response));
      cursor = response.body.page_info.next_cursor ?? "";
      if (cursor === "") break;
      plane.clock.now += 1;
      const moved = made[(page * 7) % 30] ?? "";
      touched.add(moved);
      await user.post(`/agent/runs/${moved}/followups`, { message: "m" });
      await createRun(plane, { prompt: "new" });
    }
    for (const id of made.filter((it) => !touched.has(it))) expect(seen.filter((it) => it === id)).toHaveLength(1);
  });

  // @contract general.format.unknown-parameters: Unknown query parameters are ignored.
  // @contract general.clients.repeated-arrays
  // @contract general.clients.encoded-brackets
  // @contract general.clients.micros: A time may have microseconds and an offset.
  // @contract general.query.empty
  // @contract general.query.source: An unknown source is not an error: it matches nothing.
  // @contract runs.list.and
  // @contract runs.list.state: state is repeatable, with OR.
  // @contract runs.list.name: name finds runs by the name in their configuration.
  // @contract runs.list.model: model_id finds runs by their model.
  // @contract runs.list.creator: creator finds runs by their creator.
  // @contract runs.list.source: source finds runs by their source.
  // @contract runs.list.location: execution_location finds runs by their place of execution.
  // @contract runs.list.times: created_after, created_before and updated_after are RFC 3339 and exclusive.
  // @contract runs.list.times-ms: Times are compared by the millisecond.
  // @contract runs.list.skill: skill and skill_spec are one filter.
  // @contract runs.list.metadata: metadata[key]=value finds runs by metadata; at most five.
  it("filters by each parameter, and by all of them together", async () => {
    const plane = await createTestControlPlane();
    const user = createClient(plane);
    const config = { name: "nightly", model_id: "local/runbook" };
    const full = await user.post(
      "/agent/runs",
      { prompt: "a", skill: "o/r:s", config, metadata: { team: "x", "a.b": "c d" } },
      { headers: { "x-run-source": "CLI" } },
    );
    const id: string = full.body.run_id;
    plane.clock.now += 1_000;
    const harness = await workingRun(plane, { prompt: "b" });
    const agent = await plane.agent();
    await createRun(plane, { prompt: "c" }, agent.key);
    const only = [
      "state=QUEUED&source=CLI",
      "name=nightly",
      "skill=o%2Fr:s",
      "skill_spec=o/r:s",
      "source=CLI",
      "metadata[team]=x",
      "metadata%5Bteam%5D=x&metadata%5Ba.b%5D=c+d",
      "created_before=2026-05-18T19:00:00.500Z",
      "created_before=2026-05-18T19:00:00.500999%2B00:00",
      "created_before=2026-05-18T21:00:00.500%2B02:00",
      `creator=${plane.user}&executor=${plane.user}&state=QUEUED&state=FAILED&name=nightly&model_id=local/runbook&execution_location=REMOTE&environment_id=empty-environment&metadata[a.b]=c%20d&updated_after=2026-05-18T18:59:59Z&created_after=2026-05-18T18:59:59.999Z`,
    ];
    for (const query of only) expect(ids(await user.get(`/agent/runs?${query}`)), query).toEqual([id]);
    expect(ids(await user.get("/agent/runs?state=INPROGRESS"))).toEqual([harness.run_id]);
    expect(ids(await user.get(`/agent/runs?creator=${agent.uid}`))).toHaveLength(1);
    expect(ids(await user.get("/agent/runs?state=QUEUED&state=INPROGRESS"))).toHaveLength(3);
    const none = [
      "state=FAILED",
      "source=FAX",
      "name=night",
      "environment_id=e",
      "schedule_id=s",
      "execution_location=LOCAL",
      "metadata[team]=y",
      "created_after=2026-05-18T19:00:01Z",
      "updated_after=2026-05-18T19:00:01.000Z",
    ];
    for (const query of none) expect(ids(await user.get(`/agent/runs?${query}`)), query).toEqual([]);
    for (const query of ["name=", "state=&creator=", "unknown=1", "cursor="]) {
      expect(ids(await user.get(`/agent/runs?${query}`)), `${query} filters nothing`).toHaveLength(3);
    }
  });

  // @contract runs.list.ancestor: ancestor_run_id finds descendants at any depth.
  // @contract runs.list.ancestor-self: It excludes the run itself.
  // @contract runs.list.ancestor-unknown: An unknown or invisible ancestor is 400.
  it("finds the descendants of a run at any depth, without the run itself, and rejects an invisible ancestor", async () => {
    const plane = await createTestControlPlane();
    const user = createClient(plane);
    const root = await createRun(plane);
    plane.clock.now += 1;
    const child = await createRun(plane, { prompt: "child", parent_run_id: root });
    plane.clock.now += 1;
    const grandchild = await createRun(plane, { prompt: "grandchild", parent_run_id: child });
    const foreign = await createRun(plane, { prompt: "theirs" }, plane.otherKey);
    expect(ids(await user.get(`/agent/runs?ancestor_run_id=${root}`))).toEqual([grandchild, child]);
    expect(ids(await user.get(`/agent/runs?ancestor_run_id=${child}`))).toEqual([grandchild]);
    for (const unknown of [foreign, randomUUID(), "none"]) {
      expect(await user.get(`/agent/runs?ancestor_run_id=${unknown}`)).toMatchObject({
        status: 400,
        body: { errors: [{ path: "ancestor_run_id" }] },
      });
    }
  });

  // @contract runs.list.q: A search ignores case, accents and word order, and tolerates one typo in a long word.
  // @contract runs.list.running: running matches a run while a descendant is not terminal.
  it("finds tasks by their status, and a run under running while a descendant has not ended", async () => {
    const plane = await createTestControlPlane();
    const user = createClient(plane);
    const list = async (query: string) => ids(await user.get(`/agent/runs?sort_by=created_at&${query}`));
    const root = await workingRun(plane, { prompt: "root" });
    plane.clock.now += 1;
    const child = await createRun(plane, { prompt: "child", parent_run_id: root.run_id });
    plane.clock.now += 1;
    const grandchild = await createRun(plane, { prompt: "grandchild", parent_run_id: child });
    await user.post(`/agent/runs/${child}/cancel`);
    await root.finish();
    for (const order of ["created_at", "updated_at", "title", "agent"]) {
      const running = await walk(user, `task_status=running&sort_by=${order}`, 1);
      expect(running.toSorted(), order).toEqual([root.run_id, child, grandchild].toSorted());
    }
    expect(await list("task_status=complete")).toEqual([root.run_id]);
    expect(await list("task_status=cancelled&task_status=complete")).toEqual([child, root.run_id]);
    expect(await list("task_status=running&state=SUCCEEDED"), "both filters").toEqual([root.run_id]);
    expect(await list("task_status=failed&task_status=blocked")).toEqual([]);
    expect(await list(`task_status=running&ancestor_run_id=${root.run_id}`)).toEqual([grandchild, child]);
    await user.post(`/agent/runs/${grandchild}/cancel`);
    expect(await list("task_status=running")).toEqual([]);
    expect(await user.get("/agent/runs?task_status=done")).toMatchObject({
      status: 400,
      body: { errors: [{ path: "task_status" }] },
    });
  });

  // @contract runs.list.status: task_status matches the run's own state.
  it("counts ERROR as failed, BLOCKED as blocked and every active state as running", () => {
    const matching = (status: TaskStatus) =>
      RunState.options.filter((state) => hasStatus("", state, { taskStatuses: [status] }));
    expect(matching("failed")).toEqual(["FAILED", "ERROR"]);
    expect(matching("blocked")).toEqual(["BLOCKED"]);
    expect(matching("running")).toEqual(["QUEUED", "PENDING", "CLAIMED", "INPROGRESS"]);
  });

  // @contract runs.list.sources: source may be repeated.
  it("finds runs of any of several sources, with the cursors of a single one from earlier releases", async () => {
    const plane = await createTestControlPlane();
    const user = createClient(plane);
    const made: string[] = [];
    for (const source of ["MCP", "TEAMS", "AZURE_DEVOPS_WEBHOOK", "CUSTOM_WEBHOOK", "SCHEDULED_AGENT"]) {
      const { body } = await user.post("/agent/runs", { prompt: "p" }, { headers: { "x-run-source": source } });
      made.push(body.run_id);
      plane.clock.now += 1;
    }
    const list = async (query: string) => ids(await user.get(`/agent/runs?sort_order=asc&${query}`));
    expect(await list("source=MCP&source=TEAMS&source=FAX")).toEqual(made.slice(0, 2));
    expect(await list("source=AZURE_DEVOPS_WEBHOOK&source=CUSTOM_WEBHOOK")).toEqual(made.slice(2, 4));
    expect(await list("source=API"), "a source that only the service sets").toEqual(made.slice(4));
    const scopes = [`TEAM#${plane.team}#0`, `USER#${plane.user}#0`];
    const binding = [`user:${plane.user}`, scopes, "updated_at", true, { source: "API" }];
    const cursor = await plane.ports.cursors.write(binding, "2000000000000#");
    const earlier = await user.get(`/agent/runs?source=API&cursor=${cursor}`);
    expect(earlier, JSON.stringify(earlier.body)).toMatchObject({ status: 200 });
  });

  // @contract runs.list.q
  // @contract runs.list.q-run: q also finds a full run id and a run's URL.
  it("finds a run by its id and by its URL, and otherwise the text", async () => {
    const plane = await createTestControlPlane();
    const user = createClient(plane);
    const id = await createRun(plane, { prompt: "p", title: "wanted" });
    const foreign = await createRun(plane, { prompt: "theirs" }, plane.otherKey);
    const note = await createRun(plane, { prompt: `look at ${foreign}` });
    const list = async (q: string, more = "") => ids(await user.get(`/agent/runs?q=${encodeURIComponent(q)}${more}`));
    const { session_link } = (await user.get(`/agent/runs/${id}`)).body;
    for (const q of [
      id,
      ` ${id.toUpperCase()}`,
      session_link,
      `${session_link}?tab=files`,
      `https://x.test/api/v1/agent/runs/${id}`,
    ]) {
      expect(await list(q), q).toEqual([id]);
    }
    expect(await list(id, "&state=FAILED"), "with another filter").toEqual([]);
    expect(await list(id, `&ancestor_run_id=${note}`), "with an ancestor").toEqual([]);
    expect(await list(foreign), "the text, where the run is not visible").toEqual([note]);
    expect(await list(id.slice(0, -1)), "a part of an id").toEqual([]);
  });

  // @contract runs.list.q
  // @contract runs.list.trigger: trigger_id filters runs.
  // @contract runs.list.automation: automation_id is a trigger's uid, or the metadata of that name.
  it("finds runs by automation, the metadata of that name, and by trigger", async () => {
    const plane = await createTestControlPlane();
    const user = createClient(plane);
    const id = await createRun(plane, { prompt: "p", metadata: { automation_id: "nightly" } });
    await createRun(plane, { prompt: "p", metadata: { other: "nightly" } });
    expect(ids(await user.get("/agent/runs?automation_id=nightly"))).toEqual([id]);
    expect(ids(await user.get("/agent/runs?trigger_id=nightly"))).toEqual([]);
    for (const query of ["trigger_id=a&trigger_id=b", "automation_id=a&automation_id=b"]) {
      expect((await user.get(`/agent/runs?${query}`)).status, query).toBe(400);
    }
  });

  // @contract runs.list.artifact-type: artifact_type finds runs by the kind of their artifacts.
  // @contract runs.list.q
  it("finds runs by the kind of their artifacts", async () => {
    const stage = await makeStage();
    const user = createClient(stage.plane);
    const found = await user.get("/agent/runs?artifact_type=FILE");
    expect(ids(found)).toEqual([stage.runId]);
    const { artifacts } = (await user.get(`/agent/runs/${stage.runId}`)).body;
    expect(artifacts).toMatchObject([{ artifact_type: "FILE" }]);
    expect(found.body.runs[0].artifacts).toEqual(artifacts);
    expect(ids(await user.get("/agent/runs?artifact_type=PLAN"))).toEqual([]);
    expect((await user.get("/agent/runs?artifact_type=file")).status).toBe(400);
  });

  // @contract runs.list.q
  it.each([
    ["review the code", "the words in any order", "code review"],
    ["Überprüfe die Straße", "without accents, in another case", "UBERPRUFE"],
    ["document every function", "a typo in a longer word", "documant"],
    ["deploy production", "the beginning of a word", "prod"],
  ])("finds %j by %s", async (prompt, _, q) => {
    const plane = await createTestControlPlane();
    const id = await createRun(plane, { prompt });
    await createRun(plane, { prompt: "something else entirely" });
    expect(ids(await createClient(plane).get(`/agent/runs?q=${encodeURIComponent(q)}`))).toEqual([id]);
    expect(
      ids(await createClient(plane).get(`/agent/runs?q=${encodeURIComponent(`${q} unicorn`)}`)),
      "every word counts",
    ).toEqual([]);
  });

  // @contract runs.list.q
  // @contract runs.page.not-empty
  it("finds few matches among many runs, page by page, without an empty page", async () => {
    const plane = await createTestControlPlane();
    const wanted: string[] = [];
    for (let number = 0; number < 350; number++) {
      plane.clock.now += 1;
      const rare = number % 50 === 7;
      const id = await createRun(plane, { prompt: "p", metadata: { kind: rare ? "rare" : "common" } });
      if (rare) wanted.unshift(id);
    }
    expect(await walk(createClient(plane), "metadata[kind]=rare", 3)).toEqual(wanted);
    expect(await walk(createClient(plane), "metadata[kind]=none", 3)).toEqual([]);
  });

  // @contract general.lists.4mib
  it("never exceeds 4 MiB: a page of large runs ends early, and the next page continues", async () => {
    const plane = await createTestControlPlane();
    const made: string[] = [];
    for (let number = 0; number < 80; number++) {
      plane.clock.now += 1;
      made.unshift(await createRun(plane, { prompt: "p", config: { base_prompt: "é".repeat(32_768) } }));
    }
    const response = await createClient(plane).get("/agent/runs?limit=500");
    expect(response.status).toBe(200);
    expect(Buffer.byteLength(JSON.stringify(response.body))).toBeLessThanOrEqual(4 * 1024 * 1024);
    expect(await walk(createClient(plane), "", 500)).toEqual(made);
  });

  // @contract runs.cursor.no-end: A cursor does not expire.
  // @contract runs.cursor.bound: A cursor is valid for its caller, team, filters and order, and 400 otherwise.
  // @contract runs.cursor.limit: It is not bound to limit.
  it("binds a cursor to caller, filters and order, but not to the limit", async () => {
    const plane = await createTestControlPlane();
    const user = createClient(plane);
    for (let number = 0; number < 5; number++) await createRun(plane);
    const first = await user.get("/agent/runs?limit=2&state=QUEUED");
    const cursor: string = first.body.page_info.next_cursor;
    expect(ids(await user.get(`/agent/runs?limit=500&state=QUEUED&cursor=${cursor}`))).toHaveLength(3);
    const mia = await plane.person("Mia");
    for (const response of [
      await user.get(`/agent/runs?limit=2&cursor=${cursor}`),
      await user.get(`/agent/runs?limit=2&state=QUEUED&state=FAILED&cursor=${cursor}`),
      await user.get(`/agent/runs?limit=2&state=QUEUED&sort_order=asc&cursor=${cursor}`),
      await user.get(`/agent/runs?limit=2&state=QUEUED&sort_by=title&cursor=${cursor}`),
      await createClient(plane, mia.key).get(`/agent/runs?limit=2&state=QUEUED&cursor=${cursor}`),
    ]) {
      expect(response).toMatchObject({ status: 400, body: { errors: [{ path: "cursor" }] } });
    }
    const [one, two] = [await plane.agent("one"), await plane.agent("two")];
    const { page_info } = (await createClient(plane, one.key).get("/agent/runs?limit=2")).body;
    const target = `/agent/runs?limit=2&cursor=${page_info.next_cursor}`;
    expect((await createClient(plane, one.key).get(target)).status).toBe(200);
    expect((await createClient(plane, two.key).get(target)).status, "another agent of the team").toBe(400);
    plane.clock.now += 365 * 24 * 3_600_000;
    expect((await user.get(`/agent/runs?state=QUEUED&cursor=${cursor}`)).status, "it does not expire").toBe(200);
  });

  // @contract general.team.reads: Without the header, a caller in several teams reads the resources of all of them.
  it("returns the runs of all teams of a caller in several teams, or of the named one", async () => {
    const plane = await createTestControlPlane();
    const { key } = await plane.person("Mia", [plane.team, plane.otherTeam]);
    const mia = createClient(plane, key);
    const one = await createRun(plane);
    plane.clock.now += 1;
    const two = await createRun(plane, { prompt: "b" }, plane.otherKey);
    expect(ids(await mia.get("/agent/runs"))).toEqual([two, one]);
    expect(ids(await mia.get("/agent/runs", { headers: { "x-team-uid": plane.team } }))).toEqual([one]);
    const { next_cursor } = (await mia.get("/agent/runs?limit=1")).body.page_info;
    expect(ids(await mia.get(`/agent/runs?limit=1&cursor=${next_cursor}`))).toEqual([one]);
    const named = { headers: { "x-team-uid": plane.team } };
    expect((await mia.get(`/agent/runs?limit=1&cursor=${next_cursor}`, named)).status).toBe(400);
  });

  /** Requests a list while each reading of the service's clock takes eleven seconds. */
  async function slowly(plane: TestControlPlane, query: string): Promise<ResponseBody> {
    const slow = { ...plane.ports, now: () => (plane.clock.now += 11_000) };
    return plane.call({ handle: (event) => listRuns.handle(event, slow) }, { query });
  }

  // @contract runs.page.not-empty
  it("reports that a search without a match in time must be narrowed, and then finds the run", async () => {
    const plane = await createTestControlPlane();
    for (let number = 0; number < 250; number++) await createRun(plane);
    plane.clock.now += 1_000;
    const after = `created_after=${new Date(plane.clock.now - 500).toISOString()}`;
    await createRun(plane, { prompt: "p", title: "wanted", metadata: { kind: "rare" } });
    for (const order of ["updated_at", "created_at", "title", "agent"]) {
      const query = `metadata[kind]=none&sort_by=${order}`;
      expect(await slowly(plane, query), order).toMatchObject({
        status: 400,
        body: { detail: expect.stringContaining("created_after"), errors: [{ path: "created_after" }] },
      });
      expect(await slowly(plane, `${query}&${after}`), `${order}, narrowed`).toMatchObject({
        status: 200,
        body: { runs: [], page_info: { has_next_page: false } },
      });
      const wanted = await slowly(plane, `metadata[kind]=rare&sort_by=${order}&${after}`);
      expect(ids(wanted), `${order}, narrowed`).toHaveLength(1);
    }
  });

  // @contract runs.page.not-empty
  it("returns matches found in time as a short page with a cursor that continues after it", async () => {
    const plane = await createTestControlPlane();
    const wanted: string[] = [];
    for (let number = 0; number < 250; number++) {
      plane.clock.now += 1;
      const isWanted = number % 100 === 40;
      const id = await createRun(plane, { prompt: "p", metadata: { kind: isWanted ? "rare" : "common" } });
      if (isWanted) wanted.push(id);
    }
    const query = "metadata[kind]=rare&sort_by=created_at&sort_order=asc&limit=40";
    const first = await slowly(plane, query);
    expect(ids(first), "from the first round").toEqual(wanted.slice(0, 1));
    expect(first.body.page_info.has_next_page).toBe(true);
    const rest = await createClient(plane).get(`/agent/runs?${query}&cursor=${first.body.page_info.next_cursor}`);
    expect(ids(rest)).toEqual(wanted.slice(1));
    expect(rest.body.page_info).toEqual({ has_next_page: false });
  });
});
