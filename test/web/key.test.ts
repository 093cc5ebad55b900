import type { Browser } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { openBrowser, visit } from "./support/browser.ts";
import { FakeRun } from "./support/fake-run.ts";
import { KEY, Site } from "./support/site.ts";

describe("the key", () => {
  const site = new Site();
  let browser: Browser;

  beforeAll(async () => {
    await site.start();
    browser = await openBrowser();
  });
  beforeEach(() => {
    site.reset();
    site.runs = [new FakeRun()];
  });
  afterEach(() => Promise.all(browser.contexts().map((context) => context.close())));
  afterAll(async () => {
    await browser?.close();
    await site.stop();
  });

  it("is asked for before anything else, in a labelled field that hides it and that the browser does not fill", async () => {
    const { page, complaints } = await visit(browser, site);
    const field = page.getByLabel("API key");
    await field.waitFor();
    expect(await field.getAttribute("type")).toBe("password");
    expect(await field.getAttribute("autocomplete")).toBe("off");
    expect(await page.evaluate("document.activeElement.id")).toBe("key");
    expect(await page.getByRole("button", { name: "Forget key" }).isVisible()).toBe(false);
    expect(site.asked).toEqual([]);
    expect(complaints).toEqual([]);
  });

  it("is asked for again after a wrong one, and says so", async () => {
    const { page } = await visit(browser, site);
    await page.getByLabel("API key").fill("ryp_wrong");
    await page.keyboard.press("Enter");
    await page.getByRole("alert").getByText("This key is not accepted").waitFor();
    expect(await page.getByLabel("API key").getAttribute("aria-invalid")).toBe("true");
    expect(await page.evaluate("sessionStorage.getItem('runyard.key')")).toBeNull();
    await page.getByLabel("API key").fill(`  ${KEY}\n`);
    await page.getByRole("button", { name: "Show runs" }).click();
    await page.getByRole("link", { name: "Inspect the repository" }).waitFor();
  });

  it("is refused before it is sent where it cannot be a key", async () => {
    const { page } = await visit(browser, site);
    await page.getByRole("button", { name: "Show runs" }).click();
    await page.getByText("Paste a key first.").waitFor();
    await page.getByLabel("API key").fill("clé à molette");
    await page.keyboard.press("Enter");
    await page.getByText("This is not a key").waitFor();
    expect(site.asked).toEqual([]);
  });

  it("opens the page that was asked for, lasts while the tab does, and is never part of an address", async () => {
    const { page } = await visit(browser, { ...site, path: `/runs/${site.runs[0]?.item.run_id}` });
    await page.getByLabel("API key").fill(KEY);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Inspect the repository", level: 1 }).waitFor();
    await page.reload();
    await page.getByRole("heading", { name: "Inspect the repository", level: 1 }).waitFor();
    await page.getByRole("link", { name: "All runs" }).click();
    await page.getByRole("heading", { name: "Runs", level: 1 }).waitFor();
    expect(page.url()).toBe(`${site.origin}/`);
    expect(site.asked.join(" ")).not.toContain(KEY);
    expect(await page.evaluate("localStorage.length + document.cookie.length")).toBe(0);
  });

  it("is forgotten on demand, with all that it showed", async () => {
    const { page } = await visit(browser, { ...site, key: KEY });
    await page.getByRole("link", { name: "Inspect the repository" }).waitFor();
    await page.getByRole("button", { name: "Forget key" }).click();
    await page.getByLabel("API key").waitFor();
    expect(await page.evaluate("sessionStorage.getItem('runyard.key')")).toBeNull();
    expect(await page.getByText("Inspect the repository").count()).toBe(0);
  });

  it("that is revoked while a run is watched is asked for again", async () => {
    const { page } = await visit(browser, { ...site, path: `/runs/${site.runs[0]?.item.run_id}`, key: KEY });
    await page.getByText("Live", { exact: true }).waitFor();
    site.acceptedKey = "another";
    site.runs[0]?.begin();
    await page.getByRole("alert").getByText("This key is not accepted").waitFor();
  });
});
