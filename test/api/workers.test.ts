import { beforeEach, describe, expect, it } from "vitest";
import { ConditionFailed } from "#shared/table/table.ts";
import { type ConnectionKey, forgetConnection, noteSeen, registerConnection } from "#shared/workers/worker-store.ts";
import { type Client, clientOf } from "../support/client.ts";
import { createTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";

let plane: TestControlPlane;
let ada: Client;
beforeEach(async () => {
  plane = await createTestControlPlane();
  ada = clientOf(plane);
});

const path = "/agent/connected-self-hosted-workers";
const connection = (workerHost: string, connectionId: string, team = plane.team): ConnectionKey => ({
  team,
  workerHost,
  connectionId,
});
const connect = async (key: ConnectionKey) => {
  await registerConnection(key, plane.ports);
  plane.clock.now += 1000;
  return key;
};

describe("GET /agent/connected-self-hosted-workers", () => {
  it("is empty while none is connected", async () => {
    expect(await ada.get(path)).toMatchObject({ status: 200, body: { workers: [] } });
  });

  it("shows each worker once, with its connections, by its id", async () => {
    await connect(connection("builder", "one"));
    const second = await connect(connection("builder", "two"));
    await connect(connection("attic", "three"));
    plane.clock.now += 60_000;
    await noteSeen(second, plane.ports);
    expect((await ada.get(path)).body).toEqual({
      workers: [
        {
          worker_host: "attic",
          connection_count: 1,
          connected_at: "2026-05-18T19:00:02.000Z",
          last_seen_at: "2026-05-18T19:00:02.000Z",
        },
        {
          worker_host: "builder",
          connection_count: 2,
          connected_at: "2026-05-18T19:00:00.000Z",
          last_seen_at: "2026-05-18T19:01:03.000Z",
        },
      ],
    });
  });

  it("forgets a connection that has ended, and one that API Gateway must have ended", async () => {
    const first = await connect(connection("builder", "one"));
    await connect(connection("builder", "two"));
    await forgetConnection(first, plane.ports);
    await forgetConnection(first, plane.ports);
    expect((await ada.get(path)).body.workers).toMatchObject([{ worker_host: "builder", connection_count: 1 }]);
    await expect(noteSeen(first, plane.ports)).rejects.toThrow(ConditionFailed);
    plane.clock.now += 3 * 3600_000;
    expect((await ada.get(path)).body).toEqual({ workers: [] });
  });

  it("shows a team's to its members and agents, and to nobody else", async () => {
    await connect(connection("builder", "one"));
    await connect(connection("builder", "elsewhere", plane.otherTeam));
    const agent = clientOf(plane, (await plane.agent()).key);
    expect((await agent.get(path)).body.workers).toMatchObject([{ worker_host: "builder", connection_count: 1 }]);
    const both = clientOf(plane, (await plane.person("Mia", [plane.team, plane.otherTeam])).key);
    expect((await both.get(path)).body.workers).toMatchObject([{ worker_host: "builder", connection_count: 2 }]);
    const headers = { "x-team-uid": plane.otherTeam };
    expect((await both.get(path, { headers })).body.workers).toMatchObject([{ connection_count: 1 }]);
  });

  it("goes page by page", async () => {
    for (const host of ["a#b", "a", "c"]) await connect(connection(host, "one"));
    const first = (await ada.get(`${path}?limit=2`)).body;
    expect(first.workers.map((one: { worker_host: string }) => one.worker_host)).toEqual(["a", "a#b"]);
    const second = (await ada.get(`${path}?limit=2&cursor=${first.page_info.next_cursor}`)).body;
    expect(second.workers).toMatchObject([{ worker_host: "c" }]);
    expect((await ada.get(`${path}?limit=0`)).status).toBe(400);
  });
});
