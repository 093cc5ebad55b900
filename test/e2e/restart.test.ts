import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { client, commands, dropState, makeState, startCloud } from "./cloud.ts";

let state: string;

beforeAll(async () => {
  state = await makeState();
});

afterAll(() => dropState(state));

test("a clean stop keeps runs and key; after kill -9 of everything it starts too, and says from when its state is", async () => {
  const first = await startCloud(state);
  const before = client(first);
  const kept = await before.create(commands("echo kept"));
  await before.ended(kept);
  expect(await first.stop()).toBe(0);

  const second = await startCloud(state);
  expect(second.apiKey).toBe(first.apiKey);
  const again = client(second);
  expect(await again.ended(kept)).toMatchObject({ run_id: kept, state: "SUCCEEDED" });
  expect(await again.outputs(kept)).toEqual(["kept\n"]);
  const { emulator } = JSON.parse(await readFile(`${state}/pids.json`, "utf8"));
  second.process.kill("SIGKILL");
  process.kill(emulator.pid, "SIGKILL");

  const third = await startCloud(state);
  expect(third.printed()).toMatch(/killed: what is there is from the last clean stop, \d{4}-\d{2}-\d{2} \d{2}:\d{2}/);
  expect(await client(third).ended(kept)).toMatchObject({ state: "SUCCEEDED" });
  expect(await third.stop()).toBe(0);
}, 400_000);
