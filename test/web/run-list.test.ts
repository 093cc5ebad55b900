import type { Browser } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { openBrowser, visit } from "./support/browser.ts";
import { FakeRun } from "./support/fake-run.ts";
import { KEY, problem, Site } from "./support/site.ts";

describe("the list of runs", () => {
  const site = new Site();
  let browser: Browser;

  beforeAll(async () => {
    await site.start();
    browser = await openBrowser();
  });
  beforeEach(() => site.reset());
  afterEach(() => Promise.all(browser.contexts().map((context) => context.close())));
  afterAll(async () => {
    await browser?.close();
    await site.stop();
  });

  it("shows the latest runs with state, time and a link, and more of them on demand", async () => {
    site.runs = Array.from({ length: 5 }, (_, index) => new FakeRun({ run_id: `run-${index}`, title: `Run ${index}` }));
    site.pageSize = 2;
    const { page, complaints } = await visit(browser, { ...site, key: KEY });
    await page.getByRole("link", { name: "Run 0" }).waitFor();
    expect(await page.getByRole("listitem").count()).toBe(2);
    expect(await page.getByRole("listitem").first().innerText()).toMatch(/Run 0\s+Queued\s+18 May 2026, 19:00/);
    const more = page.getByRole("button", { name: "Show more" });
    await more.focus();
    await page.keyboard.press("Enter");
    await page.getByRole("link", { name: "Run 3" }).waitFor();
    expect(await page.evaluate("document.activeElement.textContent")).toBe("Run 2");
    await more.click();
    await page.getByRole("link", { name: "Run 4" }).waitFor();
    expect(await more.isVisible()).toBe(false);
    expect(await page.getByRole("listitem").count()).toBe(5);
    expect(site.asked.map((path) => new URL(path, site.origin).searchParams.get("cursor"))).toEqual([null, "2", "4"]);
    await page.getByRole("link", { name: "Run 4" }).click();
    await page.waitForURL(`${site.origin}/runs/run-4`);
    expect(complaints).toEqual([]);
  });

  it("keeps what it has when the next page fails, and tries again", async () => {
    site.runs = Array.from({ length: 2 }, (_, index) => new FakeRun({ run_id: `run-${index}`, title: `Run ${index}` }));
    site.pageSize = 1;
    const { page } = await visit(browser, { ...site, key: KEY });
    await page.getByRole("link", { name: "Run 0" }).waitFor();
    site.fail("/agent/runs", problem(503, "Resource unavailable", "resource_unavailable"));
    await page.getByRole("button", { name: "Show more" }).click();
    await page.getByRole("alert").getByText("Resource unavailable. Trace id: 1-trace").waitFor();
    await page.getByRole("button", { name: "Show more" }).click();
    await page.getByRole("link", { name: "Run 1" }).waitFor();
    expect(await page.getByRole("link", { name: "Run 0" }).isVisible()).toBe(true);
  });

  it("without any run shows the command that starts one", async () => {
    const { page, complaints } = await visit(browser, { ...site, key: KEY });
    await page.getByText("There are no runs yet").waitFor();
    const command = await page.locator("pre").innerText();
    expect(command).toContain(`curl -sS ${site.origin}/api/v1/agent/runs`);
    expect(command).not.toContain(KEY);
    const body = /-d '(.*)'$/.exec(command)?.[1] ?? "";
    expect(JSON.parse(body)).toEqual({ title: "Hello", prompt: "```sh\necho hello\n```" });
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.getByRole("button", { name: "Copy" }).click();
    await page.getByRole("status").getByText("Copied").waitFor();
    expect(await page.evaluate("navigator.clipboard.readText()")).toBe(command);
    expect(complaints).toEqual([]);
  });

  it("says what went wrong, with the trace id, and tries again", async () => {
    site.fail("/agent/runs", problem(500, "Internal error", "internal_error"));
    const { page } = await visit(browser, { ...site, key: KEY });
    await page.getByRole("heading", { name: "That did not work" }).waitFor();
    await page.getByText("Internal error. Trace id: 1-trace").waitFor();
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByText("There are no runs yet").waitFor();
  });

  it("says so when the service cannot be reached, or answers what is no JSON", async () => {
    const { page } = await visit(browser, site);
    await page.route("**/api/v1/**", (route) => route.abort());
    await page.getByLabel("API key").fill(KEY);
    await page.keyboard.press("Enter");
    await page.getByText("The service cannot be reached.").waitFor();
    await page.unroute("**/api/v1/**");
    await page.route("**/api/v1/**", (route) => route.fulfill({ status: 200, body: "<html>" }));
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByText("answer could not be read").waitFor();
  });

  it("is there for the address of no page too, which is said to be none", async () => {
    const { page } = await visit(browser, { ...site, path: "/nowhere", key: KEY });
    await page.getByRole("heading", { name: "Nothing here" }).waitFor();
    await page.getByRole("link", { name: "All runs" }).click();
    await page.getByText("There are no runs yet").waitFor();
  });
});
