import { beforeEach, describe, expect, it } from "vitest";
import { RunyardError } from "#shared/errors.ts";
import { findExecutor, withScheduleNames } from "#shared/schedules/agent.ts";
import { keys } from "#shared/table/keys.ts";
import { createClient } from "../../support/client.ts";
import { createTestControlPlane, type TestControlPlane } from "../../support/control-plane.ts";
import { createHarness } from "../../support/execution.ts";
import { fireAt, listRuns, makeSchedule, nightly, readSchedule } from "../../support/schedules.ts";

let plane: TestControlPlane;
beforeEach(async () => {
  plane = await createTestControlPlane();
});
const call = () => createClient(plane);
const invalid = (path: string) => ({
  status: 400,
  body: { error_code: "invalid_request", errors: [{ path, message: expect.any(String) }] },
});

describe("POST /agent/schedules", () => {
  // @contract schedules.create: POST /agent/schedules returns 201 with the schedule.
  // @contract schedules.body.enabled: enabled is true by default.
  // @contract schedules.item: The item has id, name, cron_schedule, enabled, prompt and its times.
  // @contract schedules.item.people: created_by and updated_by are profiles.
  // @contract schedules.item.error
  // @contract schedules.item.history: history has last_ran and next_run, each null if there is none.
  // @contract schedules.cron.utc: It is in UTC.
  it("returns 201 with the schedule, its next run, and its creator", async () => {
    const { status, body } = await call().post("/agent/schedules", nightly);
    expect(status).toBe(201);
    const user = { type: "user", uid: plane.user, display_name: "Ada", email: "ada@runyard.test" };
    expect(body).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      ...nightly,
      time_zone: "UTC",
      overlap: "allow",
      enabled: true,
      mode: "normal",
      created_at: "2026-05-18T19:00:00.000Z",
      updated_at: "2026-05-18T19:00:00.000Z",
      created_by: user,
      updated_by: user,
      last_spawn_error: null,
      history: { last_ran: null, next_run: "2026-05-19T02:30:00.000Z" },
      scope: { type: "Team", uid: plane.team },
    });
    expect([...plane.timers.values()]).toEqual([{ id: body.id, expression: "cron(30 2 * * ? *)", timeZone: "UTC" }]);
  });

  // @contract runs.mcp.secrets
  // @contract schedules.body.prompt
  // @contract schedules.body.optional: agent_config, team, agent_uid, mode and metadata are optional, and the runs have them.
  it("accepts every member of a run's configuration, and returns it without secrets", async () => {
    const agent = await plane.agent();
    const more = {
      mode: "plan",
      metadata: { source: "test" },
      time_zone: "europe/berlin",
      overlap: "skip",
      agent_uid: agent.uid,
      agent_config: {
        name: "night shift",
        skills: ["acme/tools:check"],
        mcp_servers: [{ name: "db", command: "serve", env: { TOKEN: "secret" } }],
      },
    };
    const { prompt: _, ...rest } = nightly;
    const { status, body } = await call().post("/agent/schedules", { ...rest, ...more });
    expect(status).toBe(201);
    expect(body).toMatchObject({
      ...more,
      prompt: "",
      agent_config: { ...more.agent_config, mcp_servers: { db: { command: "serve", env: { TOKEN: "***" } } } },
      history: { next_run: "2026-05-19T00:30:00.000Z" },
    });
    expect(plane.timers.get(body.id)).toMatchObject({ timeZone: "Europe/Berlin" });
  });

  // @contract schedules.item.environment: environment is the resolved configuration of the schedule's environment.
  it("returns its environment's content while the environment exists", async () => {
    const environment = { name: "node", setup_commands: ["npm ci"], description: "Node" };
    const { uid } = (await call().post("/agent/environments", environment)).body;
    const { id, ...schedule } = await makeSchedule(plane, { agent_config: { environment_id: uid } });
    expect(schedule.environment).toEqual({ ...environment, github_repos: [] });
    expect((await call().get("/agent/schedules")).body.schedules).toMatchObject([{ environment }]);
    await call().delete(`/agent/environments/${uid}`);
    expect(await readSchedule(plane, id)).not.toHaveProperty("environment");
  });

  it("reads the environment once", async () => {
    const { uid } = (await call().post("/agent/environments", { name: "node" })).body;
    const { id } = await makeSchedule(plane, { agent_config: { environment_id: uid } });
    const read: string[] = [];
    const { table } = plane.ports;
    const batchGet: typeof table.batchGet = async (wanted) => {
      read.push(...wanted.map(({ pk }) => pk));
      return table.batchGet(wanted);
    };
    Object.assign(plane.ports, { table: { ...table, batchGet } });
    expect(await readSchedule(plane, id)).toMatchObject({ environment: { name: "node" } });
    expect(read.filter((pk) => pk.endsWith(uid))).toHaveLength(1);
  });

  it("does not return the content of an environment that is no longer shared with its creator", async () => {
    const mia = await plane.person("Mia");
    const owner = createClient(plane, mia.key);
    const { uid } = (await owner.post("/agent/environments", { name: "Mia's", team: false })).body;
    const guest = { user_uid: plane.user };
    expect((await owner.post(`/agent/environments/${uid}/share`, guest)).status).toBe(200);
    const { id } = await makeSchedule(plane, { team: false, agent_config: { environment_id: uid } });
    expect(await readSchedule(plane, id)).toMatchObject({ environment: { name: "Mia's" } });
    expect((await owner.delete(`/agent/environments/${uid}/share`, { body: guest })).status).toBe(200);
    expect(await readSchedule(plane, id)).not.toHaveProperty("environment");
  });

  // @contract schedules.body.enabled
  it("shows a next run after now while firings wait for their outcomes, alone and in the list", async () => {
    const { id } = await makeSchedule(plane, { cron_schedule: "30 2 * * *", time_zone: "Europe/Berlin" });
    plane.clock.now = Date.parse("2026-05-21T00:30:00.000Z");
    const history = { last_ran: null, next_run: "2026-05-22T00:30:00.000Z" };
    const user = createClient(plane);
    expect((await user.get(`/agent/schedules/${id}`)).body).toMatchObject({ history });
    expect((await user.get("/agent/schedules")).body.schedules).toMatchObject([{ id, history }]);
  });

  // @contract schedules.next-run.paused: A paused or disabled schedule's next_run is null.
  it("creates a disabled schedule without a timer and without a next run", async () => {
    const schedule = await makeSchedule(plane, { enabled: false });
    expect(schedule).toMatchObject({ enabled: false, history: { next_run: null } });
    expect(plane.timers.size).toBe(0);
  });

  // @contract schedules.body.optional
  // @contract schedules.item.scope: scope states the owner.
  it("creates a personal schedule that is visible only to its owner", async () => {
    const schedule = await makeSchedule(plane, { team: false });
    expect(schedule.scope).toEqual({ type: "User", uid: plane.user });
    const { key } = await plane.person("Mia");
    expect((await createClient(plane, key).get(`/agent/schedules/${schedule.id}`)).status).toBe(404);
    expect((await createClient(plane, key).get("/agent/schedules")).body).toEqual({ schedules: [] });
  });

  // @contract schedules.item.scope
  it("creates the team's schedules with an agent's key", async () => {
    const agent = await plane.agent();
    const schedule = await makeSchedule(plane, {}, agent.key);
    expect(schedule).toMatchObject({
      created_by: { type: "service_account", uid: agent.uid },
      scope: { type: "Team" },
    });
    const refused = await createClient(plane, agent.key).post("/agent/schedules", { ...nightly, team: false });
    expect(refused).toMatchObject(invalid("team"));
  });

  it("keeps a prompt of 256 KiB whole", async () => {
    const prompt = "é".repeat(131_072);
    const schedule = await makeSchedule(plane, { prompt });
    expect(schedule.prompt).toBe(prompt);
    expect((await readSchedule(plane, schedule.id)).prompt).toBe(prompt);
    expect((await call().post("/agent/schedules", { ...nightly, prompt: `${prompt}x` })).status).toBe(400);
  });

  it("creates one schedule for a repeated request", async () => {
    const headers = { "idempotency-key": "one" };
    const first = await call().post("/agent/schedules", nightly, { headers });
    const again = await call().post("/agent/schedules", nightly, { headers });
    expect(again).toMatchObject({ status: 201, body: first.body, headers: { "idempotent-replay": "true" } });
    expect(plane.timers.size).toBe(1);
    const other = await call().post("/agent/schedules", { ...nightly, name: "Other" }, { headers });
    expect(other).toMatchObject({ status: 409, body: { error_code: "conflict", retryable: false } });
  });

  const refused: [string, Record<string, unknown>, string][] = [
    ["no name", { name: undefined }, "name"],
    ["an empty name", { name: "" }, "name"],
    ["a name of 257 characters", { name: "x".repeat(257) }, "name"],
    ["no cron", { cron_schedule: undefined }, "cron_schedule"],
    ["a cron of six fields", { cron_schedule: "0 30 2 * * *" }, "cron_schedule"],
    ["a cron with L", { cron_schedule: "0 0 L * *" }, "cron_schedule"],
    ["a cron with W", { cron_schedule: "0 0 15W * *" }, "cron_schedule"],
    ["a cron with #", { cron_schedule: "0 0 * * 5#2" }, "cron_schedule"],
    ["a cron with ?", { cron_schedule: "0 0 ? * 1" }, "cron_schedule"],
    ["a cron that never fires", { cron_schedule: "0 0 31 2 *" }, "cron_schedule"],
    ["a minute of 60", { cron_schedule: "60 * * * *" }, "cron_schedule"],
    ["a range that runs backwards", { cron_schedule: "0 0 * * FRI-MON" }, "cron_schedule"],
    ["a macro", { cron_schedule: "@reboot" }, "cron_schedule"],
    ["a date instead of a cron expression", { cron_schedule: "2027-01-01T00:00:00Z" }, "cron_schedule"],
    ["an unknown time zone", { time_zone: "Mars/Olympus" }, "time_zone"],
    ["an offset instead of a time zone", { time_zone: "+02:00" }, "time_zone"],
    ["neither prompt nor skill", { prompt: undefined }, "prompt"],
    ["a blank prompt", { prompt: " \n" }, "prompt"],
    ["an unknown model", { agent_config: { model_id: "none" } }, "agent_config.model_id"],
    ["an unknown agent", { agent_uid: "0199a3c4-7d20-7c3b-8a11-5e0f9b2c6d48" }, "agent_uid"],
    ["an agent for a personal schedule", { agent_uid: "x", team: false }, "agent_uid"],
    ["an unknown overlap", { overlap: "queue" }, "overlap"],
    ["text instead of a boolean", { enabled: "yes" }, "enabled"],
    ["a prompt of another type", { prompt: 7 }, "prompt"],
  ];
  // @contract schedules.body.name: name has 1 to 256 characters.
  // @contract schedules.body.cron: cron_schedule is required.
  // @contract schedules.body.prompt: prompt is required unless agent_config names a skill.
  // @contract schedules.cron.fields: A cron has five fields: minute, hour, day of month, month, day of week.
  // @contract schedules.cron.refused: An unsupported expression is 400 and names the field.
  it.each(refused)("returns 400 naming the field, and stores nothing, for %s", async (_, change, path) => {
    const before = structuredClone(plane.table.all());
    const response = await call().post("/agent/schedules", { ...nightly, ...change });
    expect(response).toMatchObject(invalid(path));
    expect(response.body.detail).toContain(path);
    expect(plane.table.all()).toEqual(before);
    expect(plane.timers.size).toBe(0);
  });

  it("rejects an agent beyond the plan's limit", async () => {
    const agent = await plane.agent();
    await plane.table.write({ kind: "update", key: keys.identities(plane.team), set: { identity_limit: 1 } });
    const response = await call().post("/agent/schedules", { ...nightly, agent_uid: agent.uid });
    expect(response).toMatchObject({
      status: 403,
      body: {
        error_code: "feature_not_available",
        detail: "agent_uid: the identity builder is beyond the limit of the team's plan",
      },
    });
  });

  it("rejects an agent for a personal schedule, whose runs its creator executes without any defaults", async () => {
    const created_by = { type: "user", uid: plane.user } as const;
    const owner = { type: "User", uid: plane.user } as const;
    const unread = { ...plane.table, batchGet: () => Promise.reject(new Error("unexpected read")) };
    expect(await findExecutor({ owner, created_by }, unread)).toStrictEqual({
      executor: created_by,
      identity: undefined,
      team: undefined,
    });
    await expect(findExecutor({ owner, created_by, agent_uid: plane.user }, unread)).rejects.toMatchObject({
      errors: [{ path: "agent_uid", message: "is for team schedules only" }],
    });
  });

  it("renames only members in errors about its runs to those of the schedule", () => {
    const rename = (detail: string, path: string) => {
      try {
        withScheduleNames(() => {
          throw new RunyardError("invalid_request", { detail, errors: [{ path, message: "m" }], retryable: true });
        });
      } catch (error) {
        return error;
      }
      return undefined;
    };
    expect(rename("config.name: is a config", "config.name")).toMatchObject({
      code: "invalid_request",
      status: 400,
      retryable: true,
      detail: "agent_config.name: is a config",
      errors: [{ path: "agent_config.name", message: "m" }],
    });
    expect(rename("- config", "[0].config")).toMatchObject({ detail: "- config", errors: [{ path: "[0].config" }] });
    expect(() =>
      withScheduleNames(() => {
        throw new TypeError("other");
      }),
    ).toThrow(TypeError);
  });

  it("returns a conflict for a repeated request whose schedule is deleted", async () => {
    const headers = { "idempotency-key": "one" };
    const create = () => call().post("/agent/schedules", nightly, { headers });
    const { body } = await create();
    await call().delete(`/agent/schedules/${body.id}`);
    expect(await create()).toMatchObject({
      status: 409,
      body: { error_code: "conflict", detail: expect.stringContaining("the created resource is deleted") },
    });
  });
});

describe("GET /agent/schedules", () => {
  // @contract general.lists.schedules
  // @contract schedules.list: GET /agent/schedules lists by name.
  it("lists personal and team schedules by name, regardless of case", async () => {
    await makeSchedule(plane, { name: "b" });
    await makeSchedule(plane, { name: "A b", team: false });
    await makeSchedule(plane, { name: "a" });
    await makeSchedule(plane, { name: "C" });
    // By their bytes in UTF-8, like the table, not by their code units in UTF-16.
    await makeSchedule(plane, { name: "\u{1f600}" });
    await makeSchedule(plane, { name: "\uff5e", team: false });
    await makeSchedule(plane, { name: "theirs" }, plane.otherKey);
    const { status, body } = await call().get("/agent/schedules");
    expect(status).toBe(200);
    expect(body.schedules.map(({ name }: { name: string }) => name)).toEqual([
      ...["a", "A b", "b", "C", "\uff5e", "\u{1f600}"],
    ]);
    expect(body).not.toHaveProperty("page_info");
  });

  // @contract general.lists.schedules
  it("returns each schedule once with pages of any size", async () => {
    for (const name of ["e", "b", "d", "a", "c"]) await makeSchedule(plane, { name });
    const names: string[] = [];
    let cursor = "";
    do {
      const { body } = await call().get(`/agent/schedules?limit=2&cursor=${cursor}`);
      expect(body.schedules.length).toBeGreaterThan(0);
      names.push(...body.schedules.map(({ name }: { name: string }) => name));
      cursor = body.page_info.next_cursor ?? "";
      expect(body.page_info.has_next_page).toBe(cursor !== "");
    } while (cursor !== "");
    expect(names).toEqual(["a", "b", "c", "d", "e"]);
    const { body } = await call().get("/agent/schedules?limit=5");
    expect(body.schedules).toHaveLength(5);
    expect(body.page_info).toEqual({ has_next_page: false });
  });

  it("returns 400 for an invalid limit or cursor", async () => {
    expect(await call().get("/agent/schedules?limit=0")).toMatchObject(invalid("limit"));
    expect(await call().get("/agent/schedules?cursor=none")).toMatchObject(invalid("cursor"));
  });

  // @contract general.lists.4mib
  it("limits a response to 4 MiB and continues on the next page", async () => {
    for (let count = 0; count < 20; count++)
      await makeSchedule(plane, { name: `${count}`, prompt: "x".repeat(262_144) });
    const { body } = await call().get("/agent/schedules");
    expect(body.schedules.length).toBe(15);
    const { body: rest } = await call().get(`/agent/schedules?cursor=${body.page_info.next_cursor}`);
    expect(rest.schedules.length).toBe(5);
    expect(rest.page_info).toEqual({ has_next_page: false });
  });
});

describe("GET /agent/schedules/{scheduleId}", () => {
  // @contract schedules.get: GET of a schedule returns 200.
  // @contract schedules.item.history
  // @contract schedules.item.recent: GET of a schedule has the ten latest runs with run_id, state and created_at.
  it("returns its last run time and its ten latest runs with their states", async () => {
    const { id } = await makeSchedule(plane, { cron_schedule: "* * * * *" });
    for (let minute = 1; minute <= 11; minute++) {
      await fireAt(plane, id, new Date(Date.parse("2026-05-18T19:00:00Z") + minute * 60_000).toISOString());
    }
    const [latest] = await listRuns(plane, id);
    await plane.dispatch(latest.run_id);
    const schedule = await readSchedule(plane, id);
    expect(schedule.recent_runs).toHaveLength(10);
    expect(schedule.recent_runs[0]).toEqual({ run_id: latest.run_id, state: "PENDING", created_at: latest.created_at });
    expect(schedule.recent_runs[9]).toMatchObject({ state: "QUEUED", created_at: "2026-05-18T19:02:05.000Z" });
    expect(schedule.history).toEqual({ last_ran: "2026-05-18T19:11:05.000Z", next_run: "2026-05-18T19:12:00.000Z" });
  });
});

describe("PUT /agent/schedules/{scheduleId}", () => {
  const changed = { name: "Weekly", cron_schedule: "0 6 * * 1", enabled: true, prompt: "bye" };

  // @contract schedules.put: PUT of a schedule returns 200 with the schedule.
  // @contract schedules.update.optional: Absent optional members stay unchanged.
  // @contract schedules.item.people
  it("replaces members in the body and keeps absent ones", async () => {
    const kept = { metadata: { a: "b" }, overlap: "skip", time_zone: "Asia/Tokyo", agent_config: { name: "n" } };
    const { id } = await makeSchedule(plane, kept);
    const { key, uid } = await plane.person("Mia");
    plane.clock.now += 60_000;
    const { status, body } = await createClient(plane, key).put(`/agent/schedules/${id}`, changed);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      ...changed,
      ...kept,
      created_by: { uid: plane.user },
      updated_by: { uid },
      created_at: "2026-05-18T19:00:00.000Z",
      updated_at: "2026-05-18T19:01:00.000Z",
      history: { next_run: "2026-05-24T21:00:00.000Z" },
    });
    expect(await readSchedule(plane, id)).toMatchObject(body);
    expect(plane.timers.get(id)).toMatchObject({ expression: "cron(0 6 ? * 2 *)", timeZone: "Asia/Tokyo" });
    expect((await call().get("/agent/schedules")).body.schedules).toMatchObject([{ id, name: "Weekly" }]);
  });

  it("updates the timer and the next run if only the time zone changes", async () => {
    const { id, ...before } = await makeSchedule(plane);
    const { name, cron_schedule, prompt } = before;
    const same = { name, cron_schedule, prompt, enabled: true };
    const { body } = await call().put(`/agent/schedules/${id}`, { ...same, time_zone: "Asia/Tokyo" });
    expect(before).toMatchObject({ time_zone: "UTC", history: { next_run: "2026-05-19T02:30:00.000Z" } });
    expect(body).toMatchObject({ time_zone: "Asia/Tokyo", history: { next_run: "2026-05-19T17:30:00.000Z" } });
    expect(plane.timers.get(id)).toMatchObject({ expression: "cron(30 2 * * ? *)", timeZone: "Asia/Tokyo" });
  });

  // @contract schedules.update.optional
  it("changes the optional members in the body", async () => {
    const { id } = await makeSchedule(plane, { metadata: { a: "b" } });
    const agent = await plane.agent();
    const given = {
      metadata: {},
      overlap: "cancel_previous",
      time_zone: "Asia/Tokyo",
      mode: "plan",
      agent_uid: agent.uid,
    };
    const { body } = await call().put(`/agent/schedules/${id}`, { ...changed, ...given });
    expect(body).toMatchObject(given);
  });

  it.each([
    ["an unknown agent", { agent_uid: "0199a3c4-7d20-7c3b-8a11-5e0f9b2c6d48" }, "agent_uid"],
    [
      "an unknown environment",
      { agent_config: { environment_id: "0199a3c4-7d20-7c3b-8a11-5e0f9b2c6d48" } },
      "agent_config.environment_id",
    ],
  ])("refuses %s, and changes nothing", async (_, given, path) => {
    const { id } = await makeSchedule(plane);
    const before = structuredClone(plane.table.all());
    const { status, body } = await call().put(`/agent/schedules/${id}`, { ...changed, ...given });
    expect({ status, paths: body.errors?.map((error: { path: string }) => error.path) }).toEqual({
      status: 400,
      paths: [path],
    });
    expect(plane.table.all()).toEqual(before);
  });

  // @contract schedules.pause.enabled
  it("pauses with enabled false, and resumes with true", async () => {
    const { id } = await makeSchedule(plane);
    const paused = await call().put(`/agent/schedules/${id}`, { ...changed, enabled: false });
    expect(paused.body).toMatchObject({ enabled: false, history: { next_run: null } });
    expect(plane.timers.size).toBe(0);
    const resumed = await call().put(`/agent/schedules/${id}`, changed);
    expect(resumed.body).toMatchObject({ enabled: true, history: { next_run: "2026-05-25T06:00:00.000Z" } });
    expect(plane.timers.size).toBe(1);
  });

  it("keeps secrets whose masks are sent back", async () => {
    const mcp_servers = {
      db: { url: "https://db.test", headers: { authorization: "secret", other: "old" } },
      local: { command: "serve", env: { TOKEN: "hush" } },
    };
    const { id, agent_config } = await makeSchedule(plane, { agent_config: { mcp_servers } });
    agent_config.mcp_servers.db.headers.other = "new";
    agent_config.mcp_servers.added = { command: "other", env: { TOKEN: "***" } };
    await call().put(`/agent/schedules/${id}`, { ...changed, agent_config });
    const stored = await plane.ports.schedules.get(id);
    expect(stored?.agent_config?.mcp_servers).toEqual({
      db: { url: "https://db.test", headers: { authorization: "secret", other: "new" } },
      local: { command: "serve", env: { TOKEN: "hush" } },
      added: { command: "other", env: { TOKEN: "***" } },
    });
  });

  it("stores the secrets of servers that it adds to a schedule without any", async () => {
    const { id } = await makeSchedule(plane, { agent_config: { name: "n" } });
    const { id: bare } = await makeSchedule(plane);
    const agent_config = { mcp_servers: { local: { command: "serve", env: { TOKEN: "hush" } } } };
    for (const one of [id, bare]) {
      expect((await call().put(`/agent/schedules/${one}`, { ...changed, agent_config })).status).toBe(200);
      expect((await plane.ports.schedules.get(one))?.agent_config).toEqual(agent_config);
    }
  });

  it("replaces a long prompt by a short one, and a short one by a long one", async () => {
    const long = "😀".repeat(8_193);
    const { id } = await makeSchedule(plane, { prompt: long });
    const replace = async (prompt: string) => {
      expect((await call().put(`/agent/schedules/${id}`, { ...changed, prompt })).body.prompt).toBe(prompt);
      expect((await readSchedule(plane, id)).prompt).toBe(prompt);
      return plane.ports.schedules.get(id);
    };
    // A prompt of up to 32 KB is stored with the schedule, and only the first 1,000 characters of a longer one.
    const inline = "😀".repeat(8_192);
    const short = await replace(inline);
    expect([short?.prompt, short?.prompt_file]).toEqual([inline, undefined]);
    expect(await replace(long)).toMatchObject({ prompt: "😀".repeat(1_000), prompt_file: expect.any(String) });
  });

  // @contract schedules.update.required
  it("requires no prompt with a skill, and keeps the existing one", async () => {
    const { id } = await makeSchedule(plane, { agent_config: { skill_spec: "acme/tools:check" } });
    const { prompt: _, ...rest } = changed;
    const { status, body } = await call().put(`/agent/schedules/${id}`, rest);
    expect({ status, prompt: body.prompt }).toEqual({ status: 200, prompt: "hello" });
  });

  // @contract schedules.update.required: An update needs name, cron_schedule, enabled and, without a skill, prompt.
  it.each(["name", "cron_schedule", "enabled", "prompt"])(
    "returns 400 without %s, and changes nothing",
    async (field) => {
      const { id } = await makeSchedule(plane);
      const before = await readSchedule(plane, id);
      const response = await call().put(`/agent/schedules/${id}`, { ...changed, [field]: undefined });
      expect(response).toMatchObject(invalid(field));
      expect(await readSchedule(plane, id)).toEqual(before);
    },
  );

  it("returns 400 for a cron expression that never fires, and keeps the timer", async () => {
    const { id } = await makeSchedule(plane);
    const response = await call().put(`/agent/schedules/${id}`, { ...changed, cron_schedule: "0 0 30 2 *" });
    expect(response).toMatchObject(invalid("cron_schedule"));
    expect(plane.timers.get(id)).toMatchObject({ expression: "cron(30 2 * * ? *)" });
  });
});

describe("POST /agent/schedules/{scheduleId}/pause and …/resume", () => {
  // @contract schedules.pause: pause and resume return 200 with the schedule, however often they are sent.
  // @contract schedules.pause.enabled: Pausing sets enabled to false.
  // @contract schedules.next-run.paused
  it("pause it and resume it at its next time, also when repeated", async () => {
    const { id } = await makeSchedule(plane);
    let paused: unknown;
    for (let time = 0; time < 2; time++) {
      const { status, body } = await call().post(`/agent/schedules/${id}/pause`);
      expect(status).toBe(200);
      expect(body).toMatchObject({ id, enabled: false, history: { next_run: null } });
      expect(plane.timers.size).toBe(0);
      paused ??= await plane.ports.schedules.get(id);
      expect(await plane.ports.schedules.get(id), "the second has no effect").toEqual(paused);
      plane.clock.now += 1;
    }
    plane.clock.now += 24 * 3_600_000;
    for (let time = 0; time < 2; time++) {
      const { status, body } = await call().post(`/agent/schedules/${id}/resume`);
      expect(status).toBe(200);
      expect(body).toMatchObject({ id, enabled: true, history: { next_run: "2026-05-20T02:30:00.000Z" } });
      expect(plane.timers.size).toBe(1);
    }
  });
});

describe("a pause or a resumption with an Idempotency-Key", () => {
  it("takes effect once, even if the schedule changed meanwhile", async () => {
    const { id } = await makeSchedule(plane);
    const headers = { "idempotency-key": "one" };
    const first = await call().post(`/agent/schedules/${id}/pause`, undefined, { headers });
    expect(first.headers).not.toHaveProperty("idempotent-replay");
    await call().post(`/agent/schedules/${id}/resume`);
    const again = await call().post(`/agent/schedules/${id}/pause`, undefined, { headers });
    expect(again).toMatchObject({ status: 200, body: { enabled: true }, headers: { "idempotent-replay": "true" } });
    const already = { headers: { "idempotency-key": "two" } };
    await call().post(`/agent/schedules/${id}/resume`, undefined, already);
    const repeated = await call().post(`/agent/schedules/${id}/resume`, undefined, already);
    expect(repeated.headers).toMatchObject({ "idempotent-replay": "true" });
  });
});

describe("a pause without an Idempotency-Key that a client repeats", () => {
  it("takes effect where another request has resumed the schedule since", async () => {
    const { id } = await makeSchedule(plane);
    const pause = (count: string) =>
      call().post(`/agent/schedules/${id}/pause`, undefined, { headers: { "x-stainless-retry-count": count } });
    expect(await pause("0")).toMatchObject({ status: 200, body: { enabled: false } });
    expect(await pause("1")).toMatchObject({ body: { enabled: false }, headers: { "idempotent-replay": "true" } });
    await call().post(`/agent/schedules/${id}/resume`);
    const again = await pause("1");
    expect(again).toMatchObject({ status: 200, body: { enabled: false } });
    expect(again.headers).not.toHaveProperty("idempotent-replay");
    expect(plane.timers.size).toBe(0);
  });
});

describe("DELETE /agent/schedules/{scheduleId}", () => {
  // @contract runs.list.schedule: schedule_id finds the runs of a schedule.
  // @contract schedules.delete: DELETE returns 200 with success.
  // @contract schedules.delete.twice: The second DELETE is 404.
  // @contract schedules.delete.runs: A schedule's runs still exist after its deletion, and its id finds them.
  it("returns success once and then 404, removes the timer, and keeps its runs and their filter", async () => {
    const { id } = await makeSchedule(plane);
    await fireAt(plane, id, "2026-05-19T02:30:00Z");
    expect(await call().delete(`/agent/schedules/${id}`)).toMatchObject({ status: 200, body: { success: true } });
    expect((await call().delete(`/agent/schedules/${id}`)).status).toBe(404);
    expect(await call().get(`/agent/schedules/${id}`)).toMatchObject({
      status: 404,
      body: { detail: "there is no such schedule" },
    });
    expect((await call().get(`/agent/schedules/${id}/ticks`)).status).toBe(404);
    expect((await call().get("/agent/schedules")).body).toEqual({ schedules: [] });
    expect(plane.timers.size).toBe(0);
    expect(await listRuns(plane, id)).toMatchObject([{ schedule: { schedule_id: id } }]);
    expect(await plane.ports.schedules.get(id)).toBeUndefined();
  });
});

describe("POST /agent/schedules/{scheduleId}/run", () => {
  it("reports that a run waits for capacity", async () => {
    await call().put(`/agent/teams/${plane.team}`, { settings: { concurrency_limit: 1 } });
    const { id } = await makeSchedule(plane);
    const first = await call().post(`/agent/schedules/${id}/run`);
    await plane.dispatch(first.body.run_id);
    const second = await call().post(`/agent/schedules/${id}/run`);
    expect(first.body).not.toHaveProperty("at_capacity");
    expect(second.body).toMatchObject({ state: "QUEUED", at_capacity: true });
  });

  it("titles the run by the prompt if the schedule's name is blank, and its environment shows it", async () => {
    const { uid } = (await call().post("/agent/environments", { name: "Shop" })).body;
    const { id } = await makeSchedule(plane, { name: "  ", agent_config: { environment_id: uid } });
    plane.clock.now += 60_000;
    const { run_id } = (await call().post(`/agent/schedules/${id}/run`)).body;
    expect((await call().get(`/agent/runs/${run_id}`)).body.title).toBe("hello");
    expect((await call().get(`/agent/environments/${uid}`)).body).toMatchObject({
      last_task_run_timestamp: "2026-05-18T19:01:00.000Z",
      last_task_created: { id: run_id, title: "hello", state: "QUEUED" },
    });
  });

  // @contract general.creator.schedule: The creator of a schedule's run is the creator of the schedule.
  // @contract runs.item.schedule: schedule has id, name and cron of the schedule that created the run.
  // @contract runs.source.own
  // @contract schedules.body.optional
  // @contract schedule-run.response: POST /agent/schedules/{id}/run returns 200 with the run, source SCHEDULED_AGENT.
  // @contract schedule-run.no-tick: It is not a planned firing.
  it("creates a run immediately that is not a planned firing", async () => {
    const { id } = await makeSchedule(plane, { metadata: { a: "b" }, agent_config: { name: "n" } });
    const { status, body } = await call().post(`/agent/schedules/${id}/run`);
    expect(status).toBe(200);
    expect(body).toEqual({ run_id: expect.any(String), task_id: body.run_id, state: "QUEUED" });
    expect((await call().get(`/agent/runs/${body.run_id}`)).body).toMatchObject({
      title: "Nightly",
      prompt: "hello",
      source: "SCHEDULED_AGENT",
      schedule: { schedule_id: id, schedule_name: "Nightly", cron_schedule: "30 2 * * *" },
      creator: { uid: plane.user },
      executor: { uid: plane.user },
      metadata: { a: "b" },
      agent_config: { name: "n" },
      scope: { type: "Team", uid: plane.team },
    });
    expect(plane.sent).toEqual([{ queue: "runs", runId: body.run_id }]);
    expect((await call().get(`/agent/schedules/${id}/ticks`)).body).toEqual({ ticks: [] });
    expect(await readSchedule(plane, id)).toMatchObject({
      history: { last_ran: "2026-05-18T19:00:00.000Z", next_run: "2026-05-19T02:30:00.000Z" },
      recent_runs: [{ run_id: body.run_id }],
    });
  });

  it("creates a run while the schedule is paused, and one for a repeated request", async () => {
    const { id } = await makeSchedule(plane, { enabled: false });
    const headers = { "idempotency-key": "one" };
    const first = await call().post(`/agent/schedules/${id}/run`, undefined, { headers });
    const again = await call().post(`/agent/schedules/${id}/run`, undefined, { headers });
    expect(again).toMatchObject({ status: 200, body: first.body, headers: { "idempotent-replay": "true" } });
    expect(await listRuns(plane, id)).toHaveLength(1);
  });

  it("passes a long prompt to the agent whole", async () => {
    const prompt = "long ".repeat(10_000);
    const { id } = await makeSchedule(plane, { prompt });
    const { body } = await call().post(`/agent/schedules/${id}/run`);
    const harness = createHarness(plane, await plane.dispatch(body.run_id));
    expect((await harness.resolve()).body.prompt).toBe(prompt);
  });
});

describe("GET /agent/schedules/{scheduleId}/ticks", () => {
  // @contract schedules.ticks: GET …/ticks lists each planned firing with one outcome.
  it("lists the outcome of each planned firing, the latest first, in pages", async () => {
    const { id } = await makeSchedule(plane, { cron_schedule: "* * * * *" });
    for (const minute of ["01", "02", "03"]) await fireAt(plane, id, `2026-05-18T19:${minute}:00Z`);
    const { body } = await call().get(`/agent/schedules/${id}/ticks?limit=2`);
    const runs = await listRuns(plane, id);
    expect(body.ticks).toEqual([
      {
        scheduled_at: "2026-05-18T19:03:00.000Z",
        outcome: "fired",
        recorded_at: "2026-05-18T19:03:05.000Z",
        run_id: runs[0].run_id,
      },
      expect.objectContaining({ scheduled_at: "2026-05-18T19:02:00.000Z", run_id: runs[1].run_id }),
    ]);
    const rest = await call().get(`/agent/schedules/${id}/ticks?limit=2&cursor=${body.page_info.next_cursor}`);
    expect(rest.body).toEqual({
      ticks: [expect.objectContaining({ run_id: runs[2].run_id })],
      page_info: { has_next_page: false },
    });
    const whole = await call().get(`/agent/schedules/${id}/ticks?limit=3`);
    expect(whole.body.ticks).toHaveLength(3);
    expect(whole.body.page_info).toEqual({ has_next_page: false });
    const stored = plane.table.all().filter(({ sk }) => sk.startsWith("TICK#"));
    const times = stored.map(({ recorded_at, expires_at }) => Number(expires_at) - Number(recorded_at) / 1000);
    expect(times, "kept for 90 days").toEqual([90, 90, 90].map((days) => days * 86_400));
  });
});
