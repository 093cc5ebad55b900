import path from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { fillTable } from "../../lab/bench/fill-table.ts";
import type { ListedRun } from "../../lab/bench/listed-run.ts";
import { ACTIVE_RUNS, runNumber, type Team } from "../../lab/bench/listing-data.ts";
import { openDatabase } from "../../server/database/open-database.ts";
import { sqliteTable } from "../../server/table/sqlite-table.ts";
import { commands } from "../support/api-client.ts";
import { startPageCosts } from "./support/page-cost.ts";
import { PAGES } from "./support/pages.ts";
import { RUNBOOK, useWebApp } from "./support/web-app.ts";

const app = useWebApp();

/** As many as a team has after some months. */
const RUNS = 5000;
const EVERY_MS = 20 * 60_000;
/** Long, for a machine that is busy with other work. */
const MAX_MS = 900_000;
const MAX_FIRST_BYTES = 200_000;
const MAX_RUN_BYTES = 350_000;
const MAX_SHIFT = 0.02;

let run: string;
/** The addresses of pages that show one resource. */
const details: string[] = [];

beforeAll(async () => {
  const { body: me } = await app.api().call("GET", "/agent/me");
  const team = {
    teamUid: me.teams[0].uid,
    userUid: me.uid,
    start: Date.now() - RUNS * EVERY_MS,
    every: EVERY_MS,
  };
  await app.restart(async (directory) => {
    const database = openDatabase(path.join(directory, "runyard.db"));
    await fillTable(sqliteTable(database), endedRuns(team));
    await database.close();
  });
  const { call, create, ended } = app.api();
  const output = Array.from(
    { length: 60 },
    (_, index) => `for i in $(seq 200); do echo "shard ${index}: test $i passed"; done`,
  );
  run = await create(`Test **all** of it.\n\n${commands(...output)}`, { title: "Test the shop", ...RUNBOOK });
  const schedule = await call("POST", "/agent/schedules", {
    name: "Weekly",
    cron_schedule: "0 9 * * 1",
    prompt: "Go.",
  });
  const environment = await call("POST", "/agent/environments", { name: "Shop", setup_commands: ["npm ci"] });
  const agent = await call("POST", "/agent/identities", { name: "Helper" });
  const trigger = await call("POST", "/agent/triggers", {
    name: "Failed builds",
    kind: "github",
    prompt: "Repair it.",
  });
  details.push(
    `/runs/${run}`,
    `/schedules/${schedule.body.id}`,
    `/environments/${environment.body.uid}`,
    `/agents/${agent.body.uid}`,
    `/triggers/${trigger.body.uid}`,
  );
  await ended(run, 400);
}, MAX_MS);

/** The runs of a larger number without its latest ones, which have not ended. */
function* endedRuns(team: Team): Iterable<ListedRun> {
  for (let number = 0; number < RUNS; number++) yield runNumber(number, RUNS + ACTIVE_RUNS, team);
}

describe("what is transferred for a page, with an empty cache", () => {
  it("is at most 200 kB in all for the list of 5,000 runs", async () => {
    const { page } = await app.open("/icon.svg");
    const measure = await startPageCosts(page);
    expect((await measure("/runs", ".run-row")).bytes).toBeLessThanOrEqual(MAX_FIRST_BYTES);
    await page.locator(".run-row").nth(20).waitFor();
  });

  it("is at most 350 kB in all for the page of a run with 60 commands and 12,000 lines of output", async () => {
    const { page } = await app.open("/icon.svg");
    const measure = await startPageCosts(page);
    expect((await measure(`/runs/${run}`, ".terminal-text")).bytes).toBeLessThanOrEqual(MAX_RUN_BYTES);
  });
});

describe("the content of each page", () => {
  it.each([360, 1440])(
    "stays in its place while it is loaded, in a window of %i pixels",
    async (width) => {
      const { page } = await app.open("/icon.svg", { width });
      const measure = await startPageCosts(page);
      for (const address of [...PAGES.map((one) => one.path), ...details, "/sign-in", "/no/such/page"]) {
        const { shift, moved } = await measure(address, "h1");
        expect.soft(shift, `${address}: ${moved.join(", ")}`).toBeLessThanOrEqual(MAX_SHIFT);
      }
    },
    MAX_MS,
  );
});
