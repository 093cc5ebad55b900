import { beforeEach, describe, expect, it } from "vitest";
import { keys } from "#shared/table/keys.ts";
import { type Client, createClient } from "../../support/client.ts";
import { createTestControlPlane, type TestControlPlane } from "../../support/control-plane.ts";
import { createHarness, createRun } from "../../support/execution.ts";

let plane: TestControlPlane;
let user: Client;
beforeEach(async () => {
  plane = await createTestControlPlane();
  user = createClient(plane);
});

const send = async (run: string, message: string) => {
  const { status } = await user.post(`/agent/runs/${run}/followups`, { message });
  expect(status).toBe(200);
};
const start = async (run: string) => createHarness(plane, await plane.dispatch(run)).resolve();
const read = async (run: string) => (await user.get(`/agent/runs/${run}`)).body.submitted_prompt;
const readListed = async () => (await user.get("/agent/runs")).body.runs[0].submitted_prompt;

describe("submitted_prompt of a run", () => {
  // @contract runs.item.submitted: submitted_prompt has the follow-ups before the start.
  it("is its prompt with the follow-ups that were sent before it started", async () => {
    const run = await createRun(plane, { prompt: "first" });
    expect([await read(run), await readListed()]).toEqual(["first", "first"]);
    await send(run, "second");
    await send(run, "x".repeat(40_000));
    const whole = `first\n\nsecond\n\n${"x".repeat(40_000)}`;
    expect(await read(run)).toBe(whole);
    expect(await readListed()).toBe(whole.slice(0, 1_000));
    await start(run);
    await send(run, "later");
    expect(await read(run)).toBe(whole);
    expect((await user.get(`/agent/runs/${run}`)).body.prompt).toBe("first");
  });

  it("has none of the follow-ups of a run that had started, and none that was deleted, in the edited form", async () => {
    const run = await createRun(plane, { prompt: "first" });
    for (const message of ["second", "third"]) await send(run, message);
    await user.delete(`/agent/runs/${run}/followups/followup-1`);
    await user.put(`/agent/runs/${run}/followups/followup-2`, { message: "edited" });
    expect(await read(run)).toBe("first\n\nedited");
    const started = await createRun(plane, { prompt: "hello" });
    await start(started);
    await send(started, "later");
    expect(await read(started)).toBe("hello");
  });

  it("is told by times for a run of an earlier version", async () => {
    const run = await createRun(plane, { prompt: "first" });
    await send(run, "second");
    plane.clock.now += 1_000;
    await start(run);
    plane.clock.now += 1_000;
    await send(run, "later");
    await plane.table.write({ kind: "update", key: keys.head(run), remove: ["early_followups"] });
    expect(await read(run)).toBe("first\n\nsecond");
  });
});
