import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { useWebApp } from "./support/web-app.ts";

const app = useWebApp();

/** Opens a page, and waits until it has its style. */
async function openHeld(page: Page, path: string): Promise<void> {
  await page.goto(new URL(path, page.url()).href, { waitUntil: "commit" });
  await page.locator(".place").first().waitFor({ state: "attached" });
  const style = () => page.evaluate(`getComputedStyle(document.querySelector(".brand")).display`);
  await expect.poll(style, { interval: 20 }).toBe("flex");
}

/** Keeps all scripts of the app from arriving, except the one that runs before the first paint. Returns a function that lets them. */
async function holdScripts(page: Page): Promise<() => void> {
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  await page.route(/\/assets\/(?!start-).*\.js$/, async (route) => {
    await released;
    await route.continue();
  });
  return release;
}

const colorOf = (page: Page): Promise<unknown> =>
  page.evaluate("getComputedStyle(document.documentElement).backgroundColor");
const rectOf = (page: Page): Promise<unknown> =>
  page.evaluate(
    `JSON.stringify([...document.querySelectorAll(".sidebar, .place")].map((one) => one.getBoundingClientRect()))`,
  );

describe("a page whose scripts have not arrived", () => {
  it.each([360, 1440])("has its navigation in a window of %i pixels, which stays in its place", async (width) => {
    const { page, complaints } = await app.open("/icon.svg", { width });
    const release = await holdScripts(page);
    await openHeld(page, "/schedules");
    await page.locator(".place.active", { hasText: "Schedules" }).waitFor();
    expect(await page.locator(".frame-row").count()).toBeGreaterThan(3);
    expect(await page.locator("h1").count(), "the app has not arrived").toBe(0);
    await page.evaluate("document.fonts.ready.then(() => true)");
    const before = await rectOf(page);
    release();
    await page.getByRole("heading", { name: "Schedules", level: 1 }).waitFor();
    expect(await page.locator(".frame-row").count()).toBe(0);
    expect(await rectOf(page)).toBe(before);
    expect(await page.locator(".place.active").count()).toBe(1);
    expect(complaints).toEqual([]);
  });

  it("has the theme that was chosen, and not the one of the system", async () => {
    const { page } = await app.open("/runs", { colorScheme: "light" });
    await page.getByRole("heading", { name: "Runs", level: 1 }).waitFor();
    await page.evaluate(`localStorage.setItem("runyard.theme", "dark")`);
    await holdScripts(page);
    await openHeld(page, "/runs");
    expect(await colorOf(page)).toBe("rgb(14, 17, 16)");
  });

  it.each(["/sign-in", "/shared/0199a0c4-0000-7000-8000-000000000001", "/invitations/token"])(
    "has no navigation at %s, where the app has none",
    async (path) => {
      const { page, complaints } = await app.openSignedOut("/icon.svg");
      const release = await holdScripts(page);
      await openHeld(page, path);
      expect(await page.locator(".sidebar").isVisible()).toBe(false);
      release();
      await page.locator(".frame-row").first().waitFor({ state: "detached" });
      expect(complaints).toEqual([]);
    },
  );
});

it("an address without a page returns the app with status 404, which says so within the navigation", async () => {
  const { page } = await app.open("/icon.svg");
  const response = await page.goto(new URL("/no/such/page", page.url()).href);
  expect(response?.status()).toBe(404);
  await page.getByRole("heading", { name: "Page not found", level: 1 }).waitFor();
  await page.getByRole("navigation", { name: "Main" }).waitFor();
});
