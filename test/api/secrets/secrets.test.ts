import { beforeEach, describe, expect, it } from "vitest";
import { secretStore } from "#shared/secrets/secret-store.ts";
import { memoryTable } from "#shared/table/memory-table.ts";
import { ConditionFailed } from "#shared/table/table.ts";
import { type Client, createClient } from "../../support/client.ts";
import { createTestControlPlane, type TestControlPlane } from "../../support/control-plane.ts";
import { Faults } from "../../support/faults.ts";

let plane: TestControlPlane;
let user: Client;
let bo: Client;
beforeEach(async () => {
  plane = await createTestControlPlane();
  user = createClient(plane);
  bo = createClient(plane, plane.otherKey);
});

const VALUE = "correct horse battery staple";
const keep = (name: string, value = VALUE, headers = {}) => user.post("/agent/secrets", { name, value }, { headers });

describe("POST /agent/secrets", () => {
  // @contract teams.shapes.created
  // @contract secrets.routes: Admins create, read and delete secrets.
  // @contract secrets.values: No response has a secret's value.
  it("stores a value that no response and no item of the table contains", async () => {
    const made = await keep("TRACKER_TOKEN");
    const shown = {
      name: "TRACKER_TOKEN",
      created_at: "2026-05-18T19:00:00.000Z",
      scope: { type: "Team", uid: plane.team },
    };
    expect(made).toMatchObject({ status: 201, body: shown });
    expect((await user.get("/agent/secrets")).body).toEqual({ secrets: [shown] });
    expect((await user.get("/agent/secrets/TRACKER_TOKEN")).body).toEqual(shown);
    expect([...plane.vault.values.values()]).toEqual([VALUE]);
    expect(JSON.stringify(plane.table.all())).not.toContain(VALUE);
  });

  it("returns 409 for a name that the team already has, and keeps the first value", async () => {
    await keep("TOKEN");
    expect(await keep("TOKEN", "other")).toMatchObject({
      status: 409,
      body: { error_code: "conflict", retryable: false },
    });
    const responses = await Promise.all(Array.from({ length: 20 }, (_, index) => keep("SECOND", `value ${index}`)));
    expect(responses.filter(({ status }) => status === 201)).toHaveLength(1);
    for (const { status, body } of responses.filter(({ status }) => status !== 201)) {
      expect([status, body.retryable, body.detail]).toEqual([409, false, expect.stringMatching(/^name: /)]);
    }
    expect(plane.vault.values.size).toBe(2);
    expect((await bo.post("/agent/secrets", { name: "TOKEN", value: "theirs" })).status).toBe(201);
  });

  it("returns the first response to a repeated Idempotency-Key, and 409 if the value differs", async () => {
    const headers = { "idempotency-key": "key-1" };
    const first = await keep("TOKEN", VALUE, headers);
    expect(await keep("TOKEN", VALUE, headers)).toMatchObject({
      status: 201,
      headers: { "idempotent-replay": "true" },
      body: first.body,
    });
    expect((await keep("TOKEN", "other", headers)).status).toBe(409);
    expect(plane.vault.values.size).toBe(1);
  });

  it.each([
    ["the response of the table is lost", new Error("the response was lost"), 500],
    ["the table refuses the repeated transaction", new ConditionFailed([1]), 201],
  ])("keeps the value of a name that was stored, although %s", async (_, failure, status) => {
    const table = memoryTable();
    plane = await createTestControlPlane({
      ...table,
      async transact(writes) {
        await table.transact(writes);
        if (writes.some((write) => write.kind === "put" && write.item.sk.startsWith("SECRET#"))) throw failure;
      },
    });
    user = createClient(plane);
    const headers = { "idempotency-key": "key-1" };
    expect((await keep("TOKEN", VALUE, headers)).status).toBe(status);
    expect(await keep("TOKEN", VALUE, headers)).toMatchObject({ status: 201, body: { name: "TOKEN" } });
    const [stored] = await secretStore(plane.table).list([plane.team]);
    expect([...plane.vault.values]).toEqual([[`${plane.team}/${stored?.id}`, VALUE]]);
  });

  it.each([
    ["no name", { value: "a" }, "name"],
    ["a name with a slash", { name: "a/b", value: "a" }, "name"],
    ["a name of 129 characters", { name: "x".repeat(129), value: "a" }, "name"],
    ["no value", { name: "a" }, "value"],
    ["an empty value", { name: "a", value: "" }, "value"],
    ["a value over 4 KB", { name: "a", value: "x".repeat(4097) }, "value"],
  ])("returns 400 with the field and stores nothing for %s", async (_, body, field) => {
    expect((await user.post("/agent/secrets", body)).body.errors).toMatchObject([{ path: field }]);
    expect(plane.vault.values.size).toBe(0);
  });

  it.each([
    ...["PATH", "HOME", "LD_PRELOAD", "LD_LIBRARY_PATH", "DYLD_INSERT_LIBRARIES", "BASH_ENV", "ENV", "IFS", "PS4"],
    ...[
      "NODE_OPTIONS",
      "PYTHONPATH",
      "PERL5OPT",
      "RUBYOPT",
      "JAVA_TOOL_OPTIONS",
      "GIT_SSH_COMMAND",
      "GIT_CONFIG_COUNT",
    ],
    ...["RUNYARD_OUTPUT", "RUNYARD_ANYTHING", "PROMPT_COMMAND", "_"],
  ])("returns 400 and stores nothing for %s, a variable that programs interpret", async (name) => {
    const { status, body } = await keep(name);
    expect(status).toBe(400);
    expect(body.errors).toEqual([{ path: "name", message: `${name} is a reserved variable: choose another name` }]);
    expect(body.detail).toContain(name);
    expect(plane.vault.values.size).toBe(0);
  });

  it.each([
    "GIT_TOKEN",
    "AWS_SECRET_ACCESS_KEY",
    "DATABASE_URL",
    "MY_PATH",
    "PATH_TO_KEY",
    "npm-token",
    "a.b",
    "9lives",
    "LDAP_PASSWORD",
  ])("accepts %s, a variable that programs do not interpret", async (name) => {
    expect((await keep(name)).status).toBe(201);
  });

  it("stores at most 100 secrets per team", async () => {
    const { create } = secretStore(plane.table);
    // Stored directly, because each request computes a deliberately slow digest.
    for (let index = 1; index < 100; index++) {
      const secret = { team_uid: plane.team, name: `S${index}`, id: `${index}`, created_at: plane.clock.now };
      await create(secret, { kind: "put", item: { pk: `REQUEST#${index}`, sk: "REQUEST" } });
    }
    expect((await keep("THE_HUNDREDTH")).status).toBe(201);
    expect(await keep("ONE_MORE")).toMatchObject({
      status: 409,
      body: { detail: "a team has at most 100 secrets", retryable: false },
    });
    expect((await user.get("/agent/secrets")).body.secrets).toHaveLength(100);
  });
});

describe("GET /agent/secrets", () => {
  it("lists secrets by name, in pages if the request has a limit", async () => {
    for (const name of ["b", "c", "a"]) await keep(name);
    const { secrets, page_info } = (await user.get("/agent/secrets?limit=2")).body;
    const rest = (await user.get(`/agent/secrets?cursor=${page_info.next_cursor}`)).body;
    expect([...secrets, ...rest.secrets].map(({ name }) => name)).toEqual(["a", "b", "c"]);
  });

  it("covers all teams that the caller administers, and returns 400 for a name that several of them have", async () => {
    await keep("TOKEN");
    await bo.post("/agent/secrets", { name: "TOKEN", value: "theirs" });
    const invitation = { email: "bo@runyard.test", role: "admin" };
    const { link } = (await user.post(`/agent/teams/${plane.team}/invitations`, invitation)).body;
    await bo.post(`/agent/invitations/${link.split("/").at(-1)}/accept`);
    expect((await bo.get("/agent/secrets")).body.secrets).toHaveLength(2);
    expect((await bo.get("/agent/secrets/TOKEN")).body.errors).toMatchObject([{ path: "X-Team-Uid" }]);
    const headers = { "x-team-uid": plane.otherTeam };
    expect((await bo.get("/agent/secrets/TOKEN", { headers })).body.scope.uid).toBe(plane.otherTeam);
    expect((await bo.delete("/agent/secrets/TOKEN", { headers })).status).toBe(204);
    expect([...plane.vault.values.values()]).toEqual([VALUE]);
  });
});

describe("DELETE /agent/secrets/{secret}", () => {
  // @contract teams.shapes.deleted
  // @contract secrets.routes
  it("deletes name and value, and frees the name", async () => {
    await keep("TOKEN");
    expect(await user.delete("/agent/secrets/TOKEN")).toMatchObject({ status: 204, body: "" });
    expect(plane.vault.values.size).toBe(0);
    expect((await user.get("/agent/secrets/TOKEN")).status).toBe(404);
    expect((await user.delete("/agent/secrets/TOKEN")).status).toBe(404);
    expect((await keep("TOKEN", "new")).status).toBe(201);
  });

  it("deletes the value although the response of the table is lost and the SDK repeats its call", async () => {
    const faults = new Faults();
    plane = await createTestControlPlane(memoryTable(), faults.around);
    user = createClient(plane);
    const remove = () => faults.invoke("delete-secret", () => user.delete("/agent/secrets/TOKEN"));
    await keep("TOKEN");
    await remove();
    const { length } = faults.calls;
    expect(length).toBeGreaterThan(1);
    for (let at = 0; at < length; at++) {
      await keep("TOKEN");
      faults.plan = { at: faults.calls.length + at, fault: "unheard" };
      expect((await remove())?.status, faults.calls.at(at)).toBe(204);
      expect(plane.vault.values.size).toBe(0);
    }
  });
});

describe("rights to secrets", () => {
  // @contract teams.who.admin
  // @contract secrets.routes
  it("are limited to admins: other members and agents get 403, other teams 404", async () => {
    await keep("TOKEN");
    const mia = createClient(plane, (await plane.person("Mia")).key);
    const agent = createClient(plane, (await plane.agent()).key);
    for (const client of [mia, agent]) {
      expect((await client.post("/agent/secrets", { name: "a", value: "b" })).status).toBe(403);
      expect((await client.get("/agent/secrets")).status).toBe(403);
      expect((await client.get("/agent/secrets/TOKEN")).status).toBe(403);
      expect((await client.delete("/agent/secrets/TOKEN")).status).toBe(403);
    }
    const readError = async (name: string) => {
      const { status, body } = await bo.get(`/agent/secrets/${name}`);
      return [status, body.detail];
    };
    expect(await readError("TOKEN")).toEqual([404, "there is no such secret"]);
    expect(await readError("UNKNOWN")).toEqual(await readError("TOKEN"));
    expect(await readError("not a name")).toEqual(await readError("TOKEN"));
    expect((await bo.delete("/agent/secrets/TOKEN")).status).toBe(404);
    expect(plane.vault.values.size).toBe(1);
  });
});
