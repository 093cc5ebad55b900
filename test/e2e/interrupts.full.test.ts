import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { client, commands } from "../support/api-client.ts";
import { startService, type TestService } from "../support/service.ts";

let service: TestService;
let api: ReturnType<typeof client>;

beforeAll(async () => {
  service = await startService();
  api = client(service);
});

afterAll(() => service[Symbol.asyncDispose]());

describe("an interrupted run", () => {
  test("waits for a follow-up, which continues it in the same sandbox", async () => {
    const id = await api.create(commands("echo kept > kept.txt", "sleep 300"));
    await api.until(id, ({ state }) => state === "INPROGRESS");
    await expect.poll(() => api.outputs(id)).toHaveLength(1);
    const response = await api.call("POST", `/agent/runs/${id}/interrupt`);
    expect([response.status, response.body]).toEqual([202, { run_id: id }]);
    await api.until(id, ({ waiting_for }) => waiting_for === "followup", 60);
    // Longer than an execution has to exit after the end of its run.
    await sleep(11_000);
    const { body } = await api.call("GET", `/agent/runs/${id}/conversation`);
    expect(JSON.stringify(body)).toContain(". Send a follow-up to continue.");
    const followup = await api.call("POST", `/agent/runs/${id}/followups`, { message: commands("cat kept.txt") });
    expect(followup.body).toMatchObject({ outcome: "live_session" });
    expect(await api.ended(id)).toMatchObject({ state: "SUCCEEDED" });
    expect((await api.outputs(id)).at(-1)).toBe("kept\n");
    expect((await api.timeline(id)).filter(({ event_type }) => event_type === "run_pending")).toHaveLength(1);
  }, 240_000);
});
