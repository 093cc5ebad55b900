import { randomUUID } from "node:crypto";
import { beforeEach, describe, expect, it } from "vitest";
import { type Client, createClient } from "../../support/client.ts";
import { createTestControlPlane, type TestControlPlane } from "../../support/control-plane.ts";
import { createRun } from "../../support/execution.ts";

let plane: TestControlPlane;
let user: Client;
beforeEach(async () => {
  plane = await createTestControlPlane();
  user = createClient(plane);
});

const OPTIONS: readonly (readonly [string, unknown])[] = [
  ["runner_id", "r1"],
  ["default_runner_uid", "r1"],
  ["memory_stores", [{ uid: "m1" }]],
  ["memory.attached_stores", ["m1"]],
  ["memory.auto_memory.enabled", true],
  ["inference_providers", { aws: {} }],
  ["computer_use_model_id", "m"],
  ["experimental", { a: 1 }],
  ["factory_uid", "f1"],
  ["agent_type", "FACTORY"],
];
const EMPTY = {
  runner_id: "",
  default_runner_uid: null,
  memory_stores: [],
  memory: { attached_stores: [], auto_memory: { enabled: false } },
  inference_providers: {},
  computer_use_model_id: "",
  experimental: {},
  factory_uid: "",
  agent_type: "CUSTOM",
};
/** `a.b` as an object in an object. */
const nest = (path: string, value: unknown): Record<string, unknown> => {
  const [name = "", ...rest] = path.split(".");
  return { [name]: rest.length === 0 ? value : nest(rest.join("."), value) };
};

const SCHEDULE = { name: "nightly", cron_schedule: "0 3 * * *", prompt: "hello", enabled: true };

/** Requests that configure runs, with the member that their configuration is in. */
const REQUESTS: readonly (readonly [string, string, (more: Record<string, unknown>) => Promise<Response>])[] = [
  ["POST /agent/runs", "config", (more) => user.post("/agent/runs", { prompt: "hello", ...more })],
  ["POST /agent/run", "config", (more) => user.post("/agent/run", { prompt: "hello", ...more })],
  ["POST /agent/schedules", "agent_config", (more) => user.post("/agent/schedules", { ...SCHEDULE, ...more })],
  [
    "PUT /agent/schedules/{scheduleId}",
    "agent_config",
    async (more) => {
      const { body } = await user.post("/agent/schedules", SCHEDULE);
      return user.put(`/agent/schedules/${body.id}`, { ...SCHEDULE, ...more });
    },
  ],
  ["POST /agent/identities", "config", (more) => user.post("/agent/identities", { name: "bot", ...more })],
  [
    "PUT /agent/identities/{identityUid}",
    "config",
    async (more) => {
      const { body } = await user.post("/agent/identities", { name: randomUUID() });
      return user.put(`/agent/identities/${body.uid}`, more);
    },
  ],
  ["POST /agent/environments", "config", (more) => user.post("/agent/environments", { name: "env", ...more })],
  [
    "PUT /agent/environments/{environmentUid}",
    "config",
    async (more) => {
      const { body } = await user.post("/agent/environments", { name: randomUUID() });
      return user.put(`/agent/environments/${body.uid}`, more);
    },
  ],
];
type Response = Awaited<ReturnType<Client["post"]>>;

describe.each(REQUESTS)("%s with options that are not carried out", (_, config, send) => {
  // @contract options.refused: Options that this service does not carry out are 422, naming the option, unless they are empty.
  it.each(OPTIONS)("returns 422 naming %s, also in the configuration", async (path, value) => {
    for (const [at, more] of [
      [path, nest(path, value)],
      [`${config}.${path}`, { [config]: nest(path, value) }],
    ] as const) {
      expect(await send(more)).toMatchObject({
        status: 422,
        body: {
          error_code: "operation_not_supported",
          detail: expect.stringContaining(`${at}: is not supported by`),
          errors: [{ path: at, message: expect.any(String) }],
        },
      });
    }
  });

  // @contract options.custom: agent_type CUSTOM is accepted.
  it("ignores empty ones", async () => {
    expect((await send({ ...EMPTY, [config]: EMPTY })).status).toBeLessThan(300);
  });
});

describe("options that are not carried out", () => {
  it("store nothing", async () => {
    const before = plane.table.all().length;
    await user.post("/agent/runs", { prompt: "hello", runner_id: "r1" });
    await user.post("/agent/schedules", { ...SCHEDULE, agent_config: { runner_id: "r1" } });
    await user.post("/agent/identities", { name: "bot", runner_id: "r1" });
    expect(plane.table.all()).toHaveLength(before);
  });

  it("come after 400 and 404", async () => {
    const uid = "01900000-0000-7000-8000-000000000000";
    expect(await user.post("/agent/runs", { prompt: 7, runner_id: "r1" })).toMatchObject({ status: 400 });
    expect(await user.put(`/agent/identities/${uid}`, { runner_id: "r1" })).toMatchObject({ status: 404 });
    expect(await user.put(`/agent/schedules/${uid}`, { ...SCHEDULE, runner_id: "r1" })).toMatchObject({ status: 404 });
    expect(await user.put(`/agent/environments/${uid}`, { runner_id: "r1" })).toMatchObject({ status: 404 });
  });

  it("are an error of a dry run", async () => {
    expect(await user.post("/agent/runs?dry_run=true", { prompt: "hello", factory_uid: "f1" })).toMatchObject({
      status: 200,
      body: {
        would_start: false,
        findings: expect.arrayContaining([
          expect.objectContaining({ code: "operation_not_supported", severity: "error" }),
        ]),
      },
    });
  });

  // @contract options.retention: failure_session_retention_minutes of an environment is 422.
  it.each([
    ["POST", 15],
    ["PUT", 60],
  ])("refuse failure_session_retention_minutes of an environment: %s", async (method, minutes) => {
    const more = { failure_session_retention_minutes: minutes };
    const { body } = await user.post("/agent/environments", { name: "env" });
    const response =
      method === "POST"
        ? await user.post("/agent/environments", { name: "other", ...more })
        : await user.put(`/agent/environments/${body.uid}`, more);
    expect(response).toMatchObject({ status: 422, body: { errors: [{ path: "failure_session_retention_minutes" }] } });
  });
});

describe("GET /agent/runs by factory", () => {
  // @contract runs.list.factory: factory_uid and factory_only=true match nothing.
  it.each(["factory_uid=f1", "factory_only=true", "factory_only=false&factory_uid=f1"])(
    "matches nothing with %s",
    async (query) => {
      await createRun(plane, { prompt: "hello" });
      expect(await user.get(`/agent/runs?${query}`)).toMatchObject({
        status: 200,
        body: { runs: [], page_info: { has_next_page: false } },
      });
    },
  );

  // @contract runs.list.factory-false: factory_only=false is as absent.
  it("ignores factory_only=false and refuses another value", async () => {
    const run = await createRun(plane, { prompt: "hello" });
    expect((await user.get("/agent/runs?factory_only=false")).body.runs).toMatchObject([{ run_id: run }]);
    expect((await user.get("/agent/runs?factory_only=yes")).status).toBe(400);
  });
});

describe("notify_url", () => {
  it.each(REQUESTS.slice(2))("is no member of %s, which returns 422", async (_, config, send) => {
    for (const [path, more] of [
      ["notify_url", { notify_url: "https://hooks.test/end" }],
      [`${config}.notify_url`, { [config]: { notify_url: "https://hooks.test/end" } }],
    ] as const) {
      expect(await send(more)).toMatchObject({
        status: 422,
        body: { error_code: "operation_not_supported", errors: [{ path }] },
      });
    }
  });

  it("is no member of a run's configuration, which returns 422", async () => {
    const config = { notify_url: "https://hooks.test/end" };
    expect(await user.post("/agent/runs", { prompt: "hello", config })).toMatchObject({
      status: 422,
      body: { errors: [{ path: "config.notify_url" }] },
    });
    expect((await user.get("/agent/runs")).body.runs).toEqual([]);
  });
});
