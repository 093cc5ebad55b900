import { beforeEach, describe, expect, it } from "vitest";
import { type Client, createClient } from "../../support/client.ts";
import { createTestControlPlane, type TestControlPlane } from "../../support/control-plane.ts";
import { BEARER_SECRET, createHooks } from "../../support/hooks.ts";
import { streamEvents } from "../../support/webhooks.ts";

let plane: TestControlPlane;
let admin: Client;
let member: Client;
let memberUid: string;
let uid: string;
beforeEach(async () => {
  plane = await createTestControlPlane();
  admin = createClient(plane);
  const person = await plane.person("Cy");
  member = createClient(plane, person.key);
  const created = await create();
  expect(created.status, JSON.stringify(created.body)).toBe(201);
  ({ uid } = created.body);
  memberUid = created.body.created_by.uid;
});

const create = (body: object = {}, client = member) =>
  client.post("/agent/triggers", {
    ...{ name: "mine", kind: "webhook", verification: { scheme: "bearer" }, secret: BEARER_SECRET },
    ...{ prompt: "Look into it.", team: false, ...body },
  });
const send = (payload: object) => createHooks(plane).sendPlain(uid, payload);
const deliveries = async () => (await member.get(`/agent/triggers/${uid}/deliveries`)).body.deliveries;

describe("a personal trigger", () => {
  it("starts personal runs in the name of its creator", async () => {
    await send({ type: "build" });
    const [delivery] = await deliveries();
    expect(delivery).toMatchObject({ outcome: "started" });
    const { body: run } = await member.get(`/agent/runs/${delivery.run_id}`);
    expect(run).toMatchObject({ scope: { type: "User", uid: memberUid }, creator: { uid: memberUid } });
    expect((await admin.get(`/agent/runs/${delivery.run_id}`)).status).toBe(404);
  });

  it("is read, changed, tested and deleted by its creator only, no admin either", async () => {
    const path = `/agent/triggers/${uid}`;
    expect((await member.get("/agent/triggers")).body.triggers).toMatchObject([{ uid, scope: { type: "User" } }]);
    expect((await admin.get("/agent/triggers")).body.triggers).toEqual([]);
    await send({ type: "build" });
    const [{ delivery_id }] = await deliveries();
    const requests = [
      (client: Client) => client.get(path),
      (client: Client) => client.put(path, { prompt: "Look again." }),
      (client: Client) => client.post(`${path}/pause`),
      (client: Client) => client.post(`${path}/resume`),
      (client: Client) => client.post(`${path}/test`, { payload: {} }),
      (client: Client) => client.get(`${path}/deliveries`),
      (client: Client) => client.get(`${path}/deliveries/${delivery_id}`),
      (client: Client) => client.post(`${path}/deliveries/${delivery_id}/redeliver`),
      (client: Client) => client.post(`${path}/rotate-secret`, {}),
    ];
    for (const request of requests) {
      expect((await request(admin)).status).toBe(404);
      expect((await request(member)).status).toBe(200);
    }
    expect((await admin.delete(path)).status).toBe(404);
    expect((await member.delete(path)).status).toBe(204);
    // Without one of their own, a member sees no triggers at all.
    expect((await member.get("/agent/triggers")).status).toBe(403);
    expect((await member.get(path)).status).toBe(403);
  });

  it.each([
    ["agent_uid", async () => ({ agent_uid: (await plane.agent()).uid })],
    ["credential", async () => ({ kind: "github", verification: undefined, credential: "github" })],
    ["reply", async () => ({ kind: "github", verification: undefined, reply: { to: "thread" } })],
    ["agent_config", async () => ({ agent_config: { secrets: [{ name: "npm" }] } })],
  ])("has no %s of a team", async (name, members) => {
    await admin.post("/agent/secrets", { name: "npm", value: "a-value-of-the-team" });
    const { status, body } = await create(await members());
    expect([status, JSON.stringify(body.errors)]).toEqual([400, expect.stringContaining(name)]);
  });

  it("stays when its creator leaves the team, and is what a person without a team creates", async () => {
    expect((await admin.delete(`/agent/teams/${plane.team}/members/${memberUid}`)).status).toBe(200);
    await send({ type: "build" });
    expect(await deliveries()).toMatchObject([{ outcome: "started" }]);
    const { body } = await create({ team: undefined });
    expect(body.scope).toEqual({ type: "User", uid: memberUid });
    expect((await create({ team: true })).status).toBe(400);
  });

  it("reports a failed event in its deliveries only", async () => {
    await admin.post("/agent/webhooks", { url: "https://hooks.runyard.test/events" });
    const { body: environment } = await member.post("/agent/environments", { name: "Mine", team: false });
    await member.put(`/agent/triggers/${uid}`, { agent_config: { environment_id: environment.uid } });
    await member.delete(`/agent/environments/${environment.uid}`);
    await send({ type: "build" });
    expect(await deliveries()).toMatchObject([{ outcome: "failed" }]);
    await streamEvents(plane);
    expect(plane.webhooks.requested).toEqual([]);
    expect((await admin.get("/agent/audit")).body.events.map(({ action }: { action: string }) => action)).not.toContain(
      "triggers.create",
    );
  });
});
