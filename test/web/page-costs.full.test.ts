import { beforeAll, describe, expect, it } from "vitest";
import { commands } from "../support/api-client.ts";
import { startPageCosts } from "./support/page-cost.ts";
import { PAGES } from "./support/pages.ts";
import { RUNBOOK, useWebApp } from "./support/web-app.ts";

const app = useWebApp();

/** As many as a team has after some months. */
const RUNS = 5000;
const CALLERS = 16;
/** Long, for a machine that is busy with other work. */
const CREATION_MS = 900_000;
const MAX_FIRST_BYTES = 200_000;
const MAX_RUN_BYTES = 350_000;
const MAX_SHIFT = 0.02;

let run: string;

beforeAll(async () => {
  const { call, create, ended, until } = app.api();
  const output = Array.from(
    { length: 60 },
    (_, index) => `for i in $(seq 200); do echo "shard ${index}: test $i passed"; done`,
  );
  run = await create(`Test **all** of it.\n\n${commands(...output)}`, { title: "Test the shop", ...RUNBOOK });
  await ended(run, 400);
  // The others wait for the first one, so that they cost nothing.
  const [team] = (await call("GET", "/agent/me")).body.teams;
  await call("PUT", `/agent/teams/${team.uid}`, { settings: { concurrency_limit: 1, queue_limit: RUNS + 1 } });
  const first = await create(commands("sleep 600"), { title: "Wait", ...RUNBOOK });
  await until(first, ({ state }) => state === "INPROGRESS", 400);
  let count = 0;
  const createMore = async () => {
    while (count < RUNS) {
      count++;
      await create(commands(`echo ${count}`), { title: `Update the dependencies of package ${count}`, ...RUNBOOK });
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, createMore));
}, CREATION_MS);

describe("what is transferred for a page, with an empty cache", () => {
  it("is at most 200 kB in all for the list of 5,000 runs", async () => {
    const { page } = await app.open("/icon.svg");
    const measure = await startPageCosts(page);
    expect((await measure("/runs", ".run-row")).bytes).toBeLessThanOrEqual(MAX_FIRST_BYTES);
  });

  it("is at most 350 kB in all for the page of a run with 60 commands and 12,000 lines of output", async () => {
    const { page } = await app.open("/icon.svg");
    const measure = await startPageCosts(page);
    expect((await measure(`/runs/${run}`, ".terminal")).bytes).toBeLessThanOrEqual(MAX_RUN_BYTES);
  });
});

describe("the content of each page", () => {
  it.each([360, 1440])("stays in its place while it is loaded, in a window of %i pixels", async (width) => {
    const { page } = await app.open("/icon.svg", { width });
    const measure = await startPageCosts(page);
    for (const path of [...PAGES.map((one) => one.path), `/runs/${run}`, "/sign-in", "/no/such/page"]) {
      const { shift, moved } = await measure(path, "h1");
      expect(shift, `${path}: ${moved.join(", ")}`).toBeLessThanOrEqual(MAX_SHIFT);
    }
  });
});
