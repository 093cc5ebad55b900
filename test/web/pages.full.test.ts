import type { Page } from "playwright-core";
import { beforeAll, describe, expect, it } from "vitest";
import { commands } from "../support/api-client.ts";
import { findViolations } from "./support/axe.ts";
import { PAGES } from "./support/pages.ts";
import { pageWidth, RUNBOOK, useWebApp } from "./support/web-app.ts";

const app = useWebApp();

/** The addresses of all pages, by what is visible when they are loaded. */
const pages = [
  ...PAGES,
  { path: "/sign-in", heading: "Sign in to Runyard" },
  { path: "/invitations/unknown", heading: "Join a team" },
  { path: "/no/such/page", heading: "Page not found" },
];

beforeAll(async () => {
  const { call, create, ended } = app.api();
  const text = "Read **this**:\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n";
  const run = await create(text + commands("printf '\\033[33mwarning\\033[0m\\n'", "exit 3"), {
    title: "Fail",
    ...RUNBOOK,
  });
  await ended(run);
  const schedule = await call("POST", "/agent/schedules", {
    name: "Weekly",
    cron_schedule: "0 9 * * 1",
    prompt: "Go.",
  });
  const agent = await call("POST", "/agent/identities", { name: "Helper" });
  await call("POST", `/agent/identities/${agent.body.uid}/keys`, { name: "ci" });
  await call("POST", `/agent/identities/${agent.body.uid}/trust-rules`, {
    issuer: "https://token.actions.githubusercontent.com",
    audience: "https://runyard.example.com",
    subject_pattern: "repo:acme/a-repository-with-a-very-long-name:environment:production",
  });
  await call("POST", "/agent/secrets", {
    name: "A_SECRET_WITH_A_VERY_LONG_NAME_THAT_NO_LINE_OF_A_PHONE_HAS_ROOM_FOR",
    value: "x",
  });
  const environment = await call("POST", "/agent/environments", {
    name: "Shop",
    description: "All that the shop needs",
    repositories: [{ url: "https://github.com/acme/a-repository-with-a-very-long-name", ref: "main", path: "shop" }],
    setup_commands: ["npm ci --no-audit --no-fund --prefer-offline --a-long-option-without-end", "npm run build"],
    secrets: [{ name: "A_SECRET_WITH_A_VERY_LONG_NAME_THAT_NO_LINE_OF_A_PHONE_HAS_ROOM_FOR" }],
    worker_host: "rack-7",
  });
  await call("POST", "/agent/webhooks", {
    url: "https://hooks.example.com/a-path-with-a-very-long-name-that-no-line-of-a-phone-has-room-for",
    filter: { metadata: { deploy: "yes" } },
    enabled: false,
  });
  const trigger = await call("POST", "/agent/triggers", {
    name: "Failed builds",
    kind: "webhook",
    verification: { scheme: "bearer" },
    prompt: "Find out why {{ event.payload.build }} of a-repository-with-a-very-long-name failed.",
    filter: 'event.payload.branch == "main"',
  });
  await fetch(trigger.body.ingress_url, {
    method: "POST",
    headers: { authorization: `Bearer ${trigger.body.secret}`, "content-type": "application/json" },
    body: JSON.stringify({
      type: "an-event-with-a-very-long-name-that-no-line-of-a-phone-has-room-for",
      branch: "dev",
    }),
  });
  const shared = { session_sharing: { public_access: "VIEWER" } };
  const open = await create(commands("echo shared"), { title: "Shared", config: { ...RUNBOOK.config, ...shared } });
  const { session_id } = await ended(open);
  pages.push(
    { path: `/runs/${run}`, heading: "Fail" },
    { path: `/shared/${session_id}`, heading: "Shared" },
    { path: `/schedules/${schedule.body.id}`, heading: "Weekly" },
    { path: `/environments/${environment.body.uid}`, heading: "Shop" },
    { path: `/agents/${agent.body.uid}`, heading: "Helper" },
    { path: `/triggers/${trigger.body.uid}`, heading: "Failed builds" },
  );
});

describe("the pages of the web app", () => {
  it("have no violation that axe finds in either theme, and fit a window of 320 pixels", async () => {
    const { page, complaints } = await app.open("/runs");
    await page.emulateMedia({ reducedMotion: "reduce" });
    for (const { path, heading } of pages) {
      await page.setViewportSize({ width: 1280, height: 900 });
      await show(page, path, heading);
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme });
        expect(await findViolations(page), `${path} in ${colorScheme}`).toEqual([]);
      }
      await page.setViewportSize({ width: 320, height: 640 });
      expect(await pageWidth(page), path).toBeLessThanOrEqual(320);
    }
    expect(complaints).toEqual([]);
  }, 600_000);

  it("show in the menu of a phone where they are, and lead to every other page", async () => {
    const { page } = await app.open("/settings", { width: 320 });
    const place = (name: string) => page.getByRole("navigation", { name: "Main" }).getByRole("link", { name });
    const isInWindow = async (name: string) => {
      const { x = -1, width = 0 } = (await place(name).boundingBox()) ?? {};
      return x >= 0 && x + width <= 320;
    };
    await expect.poll(() => isInWindow("Settings")).toBe(true);
    await place("Runs").click();
    await page.getByRole("heading", { name: "Runs", level: 1 }).waitFor();
    await expect.poll(() => isInWindow("Runs")).toBe(true);
  });

  it("have accessible dialogs and menus", async () => {
    const { page, complaints } = await app.open("/runs");
    // A dialog that appears slowly is invisible at first, and no modal one for axe.
    await page.emulateMedia({ reducedMotion: "reduce" });
    const openers = [
      () => page.getByRole("button", { name: /^Account of/ }).click(),
      () => page.getByRole("button", { name: "Filter" }).click(),
      () => page.keyboard.press("?"),
    ];
    for (const open of openers) {
      await page.getByRole("heading", { name: "Runs", level: 1 }).click();
      await open();
      await page.locator("[role=dialog], [role=menu]").waitFor();
      expect(await findViolations(page)).toEqual([]);
      await page.keyboard.press("Escape");
      await page.locator("[role=dialog], [role=menu]").waitFor({ state: "detached" });
    }
    expect(complaints).toEqual([]);
  });

  it("animate nothing for people who prefer reduced motion", async () => {
    const run = await app.api().create(commands("sleep 600"), { title: "Wait", ...RUNBOOK });
    const { page } = await app.open(`/runs/${run}`);
    await page.getByRole("status").getByText("In progress").waitFor();
    expect(await page.evaluate("document.getAnimations().length")).toBeGreaterThan(0);
    await page.emulateMedia({ reducedMotion: "reduce" });
    expect(await page.evaluate("document.getAnimations().length")).toBe(0);
    await app.api().call("POST", `/agent/runs/${run}/cancel?force=true`);
  });

  it("find runs by search and quick filter, and open them by keyboard", async () => {
    const run = await app.api().create(commands("seq 3"), { title: "Count the sheep", ...RUNBOOK });
    const { page } = await app.open("/runs");
    await page.getByRole("link", { name: "Count the sheep" }).waitFor();
    await page.keyboard.press("/");
    await page.keyboard.type("sheep");
    await page.waitForURL(/q=sheep/);
    await page.getByRole("link", { name: "Fail" }).waitFor({ state: "detached" });
    // While the search is under way there is no run to select.
    await page.getByRole("link", { name: "Count the sheep" }).waitFor();
    await page.getByRole("heading", { name: "Runs", level: 1 }).click();
    await page.keyboard.press("j");
    await page.locator(".run-row[data-selected]").waitFor();
    await page.keyboard.press("Enter");
    await page.waitForURL(new RegExp(run));
    await page.goBack();
    await page.getByRole("button", { name: "Scheduled" }).click();
    await page.getByText("No matching runs").waitFor();
    await page.getByRole("button", { name: "Show all runs" }).click();
    await page.getByRole("link", { name: "Fail" }).waitFor();
  });

  it("go from item to item and from step to step by keyboard, and to the search from anywhere", async () => {
    const { page } = await app.open("/schedules");
    await page.getByRole("link", { name: "Weekly" }).waitFor();
    await page.keyboard.press("j");
    await page.keyboard.press("Enter");
    await page.locator("main:focus", { hasText: "Weekly" }).waitFor();
    await page.keyboard.press("/");
    await page.locator("input[type=search]:focus").waitFor();
    await page.keyboard.type("Fail");
    await page.waitForURL(/\/runs\?q=Fail/);
    await page.getByRole("link", { name: "Fail" }).click();
    await page.locator(".entry-action").first().waitFor();
    await page.keyboard.press("j");
    await page.keyboard.press("j");
    // Screen readers and Tab continue there.
    await page.locator(".entry-action[data-target]:focus").waitFor();
    const step = page.url();
    await page.keyboard.press("k");
    await page.locator(".entry-text[data-target]:focus").waitFor();
    await page.goto(step);
    await page.reload();
    await page.locator(".entry-action[data-target]").waitFor();
  });

  it("show the exact time in the viewer's zone on hover", async () => {
    const { page } = await app.open("/runs", { timezoneId: "Asia/Tokyo" });
    const time = page.locator(".run-row time").first();
    const at = new Date((await time.getAttribute("datetime")) ?? "");
    await time.hover();
    const hour = at.toLocaleString("en-GB", { timeZone: "Asia/Tokyo", hour: "2-digit", minute: "2-digit" });
    await expect.poll(() => time.getAttribute("title")).toContain(hour);
  });
});

async function show(page: Page, path: string, heading: string): Promise<void> {
  await page.goto(new URL(path, page.url()).href);
  await page.getByRole("heading", { name: heading, level: 1 }).waitFor();
  await expect.poll(() => page.locator(".skeleton-rows").count()).toBe(0);
}
