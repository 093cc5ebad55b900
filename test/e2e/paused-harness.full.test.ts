import { readFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { client, commands } from "../support/api-client.ts";
import { isAlive, waitForHarness } from "../support/execution-processes.ts";
import { startService, type TestService } from "../support/service.ts";

let service: TestService;
let api: ReturnType<typeof client>;

beforeAll(async () => {
  service = await startService();
  api = client(service);
});

afterAll(() => service[Symbol.asyncDispose]());

describe("a harness that is paused past its lease", () => {
  test("writes nothing once it continues: the run ends once, and has nothing from it after its expiry", async () => {
    const id = await api.create(commands("echo begun", "sleep 6; echo done | tee $RUNYARD_OUTPUT/done.txt"));
    await expect.poll(async () => (await api.outputs(id)).length).toBe(1);
    const paused = await waitForHarness(api, id);
    process.kill(paused, "SIGSTOP");
    const types = async () => (await api.timeline(id)).map(({ event_type }) => event_type);
    try {
      await expect.poll(types, { timeout: 150_000, interval: 500 }).toContain("execution_lost");
    } finally {
      process.kill(paused, "SIGCONT");
    }
    expect(await api.ended(id)).toMatchObject({ state: "SUCCEEDED" });
    await expect.poll(() => isAlive(paused)).toBe(false);
    expect((await types()).filter((type) => /^run_(succeeded|failed|errored|cancelled)$/.test(type))).toEqual([
      "run_succeeded",
    ]);
    const timeline = await api.timeline(id);
    const lost = timeline.findIndex(({ event_type }) => event_type === "execution_lost");
    const old = timeline[lost].execution_id;
    expect(timeline.slice(lost + 1).filter(({ execution_id }) => execution_id === old)).toEqual([]);
    expect(await api.outputs(id)).toEqual(["begun\n", "done\n"]);
    expect((await api.call("GET", `/agent/runs/${id}`)).body.artifacts).toHaveLength(1);
    // It sent one more request, whose response said that its execution is over.
    const stale = async () => {
      const log = await readFile(path.join(service.directory, "logs/server.log"), "utf8");
      return log.split("\n").filter((line) => line.includes(old) && line.includes('"stale"')).length;
    };
    await expect.poll(stale).toBe(1);
  }, 300_000);
});
