import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { beforeAll, describe, expect, it } from "vitest";
import { commands } from "../support/api-client.ts";
import { PAGES } from "./support/pages.ts";
import { pageWidth, RUNBOOK, useWebApp } from "./support/web-app.ts";

const app = useWebApp();

/** Phones, tablets and windows; 720 is a window of 1440 at twice the size. */
const WIDTHS = [320, 360, 390, 412, 540, 720, 768, 900, 1024, 1440];

const pages = [...PAGES];

beforeAll(async () => {
  const { call, create, ended } = app.api();
  const title = "Find out why the nightly build of the shop's mobile application fails on the second attempt";
  const run = await create(commands("echo done"), { title, ...RUNBOOK });
  await ended(run);
  pages.push({ path: `/runs/${run}`, heading: title });
  const schedule = await call("POST", "/agent/schedules", {
    name: "The nightly build of the shop's mobile application, in all of its languages",
    cron_schedule: "*/5 8-18 * * 1-5",
    time_zone: "America/Argentina/ComodRivadavia",
    prompt: "Go.",
  });
  pages.push({ path: `/schedules/${schedule.body.id}`, heading: "The nightly build" });
  const long = { name: "Everything that the shop's mobile application needs", team: true };
  const environment = await call("POST", "/agent/environments", long);
  pages.push({ path: `/environments/${environment.body.uid}`, heading: long.name });
  const agent = await call("POST", "/agent/identities", { name: long.name });
  pages.push({ path: `/agents/${agent.body.uid}`, heading: long.name });
  const prompt = "Find out why {{ event.payload.build }} failed.";
  const trigger = await call("POST", "/agent/triggers", { name: `${long.name} fails`, kind: "github", prompt });
  pages.push({ path: `/triggers/${trigger.body.uid}`, heading: `${long.name} fails` });
  pages.push({ path: "/no/such/page", heading: "Page not found" });
});

/** The names of elements that reach over the right edge of the window, although the page does not scroll there. */
const cutOff = (page: Page): Promise<unknown> =>
  page.evaluate(`[...document.querySelectorAll("main button, main a, main input, main textarea, main select")]
    .filter((one) => one.checkVisibility() && one.closest(".views, .tabs, .table-scroll, pre, .code, .terminal") === null)
    .filter((one) => one.getBoundingClientRect().right > innerWidth + 1)
    .map((one) => one.outerHTML.slice(0, 120))`);

describe("each page", () => {
  it.each(WIDTHS)("fits into a window of %i pixels, with all of its controls", async (width) => {
    const { page, complaints } = await app.open("/runs", { width });
    for (const { path, heading } of pages) {
      await page.goto(new URL(path, page.url()).href);
      await page.getByRole("heading", { name: heading, level: 1 }).waitFor();
      await expect.poll(() => pageWidth(page), { message: path }).toBeLessThanOrEqual(width);
      expect(await cutOff(page), path).toEqual([]);
    }
    expect(complaints).toEqual([]);
  });
});

/** Pixels from the end of the conversation to the lower edge of what is visible of it. */
const belowWindow = (page: Page): Promise<number> =>
  page.evaluate(`(() => {
    const main = document.querySelector(".run-main");
    return Math.round(main.getBoundingClientRect().bottom + parseFloat(getComputedStyle(main).scrollMarginBottom) - innerHeight);
  })()`);

describe("the page of a run", () => {
  it.each([320, 360, 390, 412, 720, 768, 1024, 1440])(
    "has its composer in view at each place, in a window of %i pixels",
    async (width) => {
      const run = pages.find(({ path }) => /^\/runs\/[^/]{30,}$/.test(path));
      const { page } = await app.open(run?.path ?? "", { width });
      const composer = page.getByLabel("Continue with a follow-up");
      await composer.waitFor();
      await page.getByRole("complementary", { name: "Details" }).getByRole("heading", { name: "Events" }).waitFor();
      for (const place of ["0", "document.documentElement.scrollHeight"]) {
        await page.evaluate(`scrollTo(0, ${place})`);
        await expect
          .poll(async () => {
            const { y = -1, height = 0 } = (await composer.boundingBox()) ?? {};
            return y >= 0 && y + height <= 900;
          })
          .toBe(true);
      }
    },
  );
});

describe("the page of a live run", () => {
  it.each([320, 360, 390, 412, 720, 768, 1024, 1440])(
    "follows its conversation in a window of %i pixels",
    async (width) => {
      const folder = await mkdtemp(join(tmpdir(), "runyard-live-"));
      const waitFor = (name: string) => `while [ ! -e ${join(folder, name)} ]; do sleep 0.2; done`;
      const long = Array.from({ length: 8 }, () => "seq 60");
      const prompt = commands(...long, waitFor("more"), ...long, waitFor("end"));
      const run = await app.api().create(prompt, { title: "Long", ...RUNBOOK });
      const { page, complaints } = await app.open(`/runs/${run}`, { width });
      await page.locator(".terminal", { hasText: "60" }).nth(7).waitFor();
      const latest = page.getByRole("button", { name: "Latest" });
      await latest.waitFor();
      const composer = page.getByLabel("Send a follow-up");
      await composer.waitFor();
      // A click would scroll to the button first.
      await latest.dispatchEvent("click");
      await latest.waitFor({ state: "hidden" });
      await expect.poll(() => belowWindow(page)).toBeLessThanOrEqual(1);
      const { y = 0, height = 0 } = (await composer.boundingBox()) ?? {};
      expect(y + height).toBeLessThan(900);
      await writeFile(join(folder, "more"), "");
      await page.locator(".terminal", { hasText: "60" }).nth(15).waitFor();
      await expect.poll(() => belowWindow(page)).toBeLessThanOrEqual(1);
      expect(await pageWidth(page)).toBeLessThanOrEqual(width);
      await rm(folder, { recursive: true });
      await app.api().call("POST", `/agent/runs/${run}/cancel`, {});
      expect(complaints).toEqual([]);
    },
  );
});
