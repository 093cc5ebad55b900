import { expect, it } from "vitest";
import type { Fault } from "../support/faults.ts";
import { Stage } from "./scenario.ts";

const FAULTS: readonly Fault[] = ["before", "after", "unheard"];
const LONG = "All of this has to be kept. ".repeat(1_500);
const REQUEST = {
  prompt: LONG,
  attachments: [{ file_name: "a.txt", mime_type: "text/plain", data: Buffer.from("hello").toString("base64") }],
};

/** Creates a run with files, and repeats the request until it gets a response. */
async function createWithFiles(plan?: Stage["faults"]["plan"]): Promise<Stage> {
  const stage = await Stage.set();
  stage.faults.plan = plan;
  await stage.sendOrThrow("create-run", () =>
    stage.user.post("/agent/runs", REQUEST, { headers: { "idempotency-key": "create" } }),
  );
  return stage;
}

/** Lists the files in the bucket that no run of the table names. */
function listOrphans({ plane }: Stage): string[] {
  const bodies = JSON.stringify(plane.table.all().filter(({ sk }) => sk === "BODY"));
  return [...plane.files.files.keys()].filter((file) => !bodies.includes(JSON.stringify(file)));
}

it.each(FAULTS)("create-run leaves no file without its run wherever it dies: %s the call", async (fault) => {
  const { faults } = await createWithFiles();
  const left: string[] = [];
  for (const at of faults.calls.keys()) {
    const stage = await createWithFiles({ at, fault });
    expect(stage.plane.files.files.size).toBe(2);
    left.push(...listOrphans(stage).map((file) => `${at} ${faults.calls[at]}: ${file}`));
  }
  expect(left).toEqual([]);
});

it("create-run with an Idempotency-Key finds the files of an attempt that failed hours before", async () => {
  const { faults } = await createWithFiles();
  const at = faults.calls.findIndex((call) => call.includes("transact"));
  const stage = await Stage.set();
  const send = () =>
    stage.faults.invoke("create-run", () =>
      stage.user.post("/agent/runs", REQUEST, { headers: { "idempotency-key": "create" } }),
    );
  stage.faults.plan = { at, fault: "before" };
  expect(await send()).toBeUndefined();
  expect(stage.plane.files.files.size).toBe(2);
  stage.plane.clock.now += 4 * 3_600_000;
  expect(await send()).toMatchObject({ status: 200 });
  expect([stage.plane.files.files.size, listOrphans(stage)]).toEqual([2, []]);
});
