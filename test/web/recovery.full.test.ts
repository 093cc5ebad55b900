import { describe, expect, it } from "vitest";
import { commands } from "../support/api-client.ts";
import { findViolations } from "./support/axe.ts";
import { PAGES } from "./support/pages.ts";
import { RUNBOOK, useWebApp } from "./support/web-app.ts";

const app = useWebApp();

const navigation = "navigation";

describe("the frame of all pages", () => {
  it("stays where a page cannot be loaded, and the page comes by itself when the service is back", async () => {
    const { page } = await app.open("/runs");
    await page.getByRole("heading", { name: "Runs", level: 1 }).waitFor();
    // The parts of the pages, and what tells whether the service can be reached.
    await page.route("**/assets/usage-page*", (route) => route.abort());
    await page.route("**/", (route) => (route.request().method() === "HEAD" ? route.abort() : route.fallback()));
    await page.getByRole(navigation, { name: "Main" }).getByRole("link", { name: "Usage" }).click();
    await page.getByText("It is loaded again as soon as the service can be reached.").waitFor();
    expect(await page.getByRole(navigation, { name: "Main" }).isVisible()).toBe(true);
    expect(await findViolations(page)).toEqual([]);
    await page.unrouteAll();
    await page.getByRole("heading", { name: "Usage", level: 1 }).waitFor();
    expect(new URL(page.url()).pathname).toBe("/usage");
  });

  it("stays where a part of a page cannot be loaded, and the part comes by itself when the service is back", async () => {
    const run = await app.api().create(commands("echo visible"), { title: "Echo", ...RUNBOOK });
    await app.api().ended(run);
    const { page } = await app.open(`/runs/${run}`);
    await page.route("**/assets/run-menu*", (route) => route.abort());
    await page.route("**/", (route) => (route.request().method() === "HEAD" ? route.abort() : route.fallback()));
    const refused = page.waitForEvent("requestfailed", (request) => request.url().includes("/assets/run-menu"));
    await page.getByRole("button", { name: "More" }).click();
    await refused;
    expect(await page.getByRole("heading", { name: "Echo", level: 1 }).isVisible()).toBe(true);
    await page.unrouteAll();
    await page.getByRole("menuitem").first().waitFor();
  });

  it("reads by itself what could not be read for lack of a connection", async () => {
    const { page } = await app.open("/icon.svg");
    await page.route("**/api/v1/agent/models", (route) => route.abort());
    await page.goto(new URL("/resources", page.url()).href);
    await page.getByRole("button", { name: "Try again" }).first().waitFor();
    await page.unrouteAll();
    await page.getByText("compatible/test").first().waitFor();
  });

  it("is around the page of an unknown address", async () => {
    const { page } = await app.open("/nothing/at-all");
    await page.getByRole("heading", { name: "Page not found" }).waitFor();
    expect(await page.getByRole(navigation, { name: "Main" }).isVisible()).toBe(true);
    expect(await findViolations(page)).toEqual([]);
  });

  it("is not printed", async () => {
    const { page } = await app.open("/runs");
    await page.getByRole("heading", { name: "Runs", level: 1 }).waitFor();
    await page.emulateMedia({ media: "print" });
    expect(await page.getByRole(navigation, { name: "Main" }).isVisible()).toBe(false);
    expect(await page.getByRole("heading", { name: "Runs", level: 1 }).isVisible()).toBe(true);
  });
});

/** Controls that are smaller than 24 pixels, or have no name. Links within a text are as high as its lines. */
const FAULTS = `[...document.querySelectorAll("a, button, input, select, textarea, summary, [role=button]")]
  .filter((one) => one.checkVisibility() && !one.matches(".skip-link, .visually-hidden"))
  .flatMap((one) => {
    const box = (one.closest("label") ?? one).getBoundingClientRect();
    const isInText = one.tagName === "A" && getComputedStyle(one).display === "inline";
    const name = one.ariaLabel || one.innerText || one.title || one.labels?.[0]?.innerText || one.querySelector("img")?.alt ||
      one.textContent;
    return [
      ...(!isInText && (box.width < 23.9 || box.height < 23.9) ? ["small: " + one.outerHTML.slice(0, 140)] : []),
      ...(name?.trim() ? [] : ["no name: " + one.outerHTML.slice(0, 140)]),
    ];
  })`;

it.each([360, 1440])("every control has a name and at least 24 pixels in a window of %i pixels", async (width) => {
  const { page } = await app.open("/runs", { width });
  const faults: unknown[] = [];
  for (const { path, heading } of PAGES) {
    await page.goto(new URL(path, page.url()).href);
    await page.getByRole("heading", { name: heading, level: 1 }).waitFor();
    // What follows a part that is being loaded is hidden meanwhile, with its labels.
    await expect.poll(() => page.locator(".skeleton-rows").count()).toBe(0);
    const found: unknown = await page.evaluate(FAULTS);
    if (Array.isArray(found)) faults.push(...found.map((fault) => `${path} ${fault}`));
  }
  expect(faults).toEqual([]);
});
