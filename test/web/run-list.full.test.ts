import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { commands } from "../support/api-client.ts";
import { findViolations } from "./support/axe.ts";
import { RUNBOOK, useWebApp } from "./support/web-app.ts";

const app = useWebApp();

interface ListResponse {
  readonly runs: readonly object[];
  readonly page_info: { readonly has_next_page: boolean; readonly next_cursor?: string };
}
const ALL = { has_next_page: false };
const MORE = { has_next_page: true, next_cursor: "c" };

/** Makes runs out of a real one, one for each title. The first one is the newest. */
async function makeRuns(...titles: readonly string[]): Promise<object[]> {
  const { body: run } = await app.api().call("GET", `/agent/runs/${await app.api().create(commands("true"), RUNBOOK)}`);
  return titles.map((title, index) => {
    const at = new Date(Date.now() - index * 60_000).toISOString();
    return { ...run, run_id: `run-${title}`, title, state: "FAILED", created_at: at, updated_at: at };
  });
}

/** Responds to the requests of the list of runs, and with no runs to those of the inbox, which sorts by the latest change. */
const respond = (page: Page, to: (query: URLSearchParams) => ListResponse | number) =>
  page.route("**/agent/runs?*", (route) => {
    const query = new URL(route.request().url()).searchParams;
    const response = query.get("sort_by") === "updated_at" ? { runs: [], page_info: ALL } : to(query);
    return typeof response === "number" ? route.fulfill({ status: response }) : route.fulfill({ json: response });
  });

const titles = (page: Page) => page.locator(".run-row-title").allInnerTexts();

describe("the list of runs", () => {
  it("adds a run that enters the filter, between the others, and says that it could not be read again", async () => {
    const [first, second, third] = await makeRuns("one", "two", "three");
    let isFailing = false;
    const { page, complaints } = await app.open("/icon.svg");
    await respond(page, (query) => {
      if (isFailing) return 503;
      if (query.has("updated_after"))
        return { runs: [{ ...second, updated_at: new Date().toISOString() }], page_info: ALL };
      return { runs: [first, third].flatMap((run) => run ?? []), page_info: ALL };
    });
    await page.goto(new URL("/runs?view=failed", page.url()).href);
    await expect.poll(() => titles(page)).toEqual(["one", "three"]);
    await expect.poll(() => titles(page)).toEqual(["one", "two", "three"]);
    isFailing = true;
    const notice = page.getByRole("status").getByText("What is shown may be out of date");
    await notice.waitFor();
    expect([await titles(page), await findViolations(page)]).toEqual([["one", "two", "three"], []]);
    // Until the click, because the list that is read again by itself would take the button away before a slow click.
    await page.exposeFunction("endFailure", () => {
      isFailing = false;
    });
    await page.evaluate('document.addEventListener("click", () => endFailure(), true)');
    await page.getByRole("button", { name: "Try again" }).click();
    await notice.waitFor({ state: "detached" });
    expect(complaints).toEqual([]);
  });

  it("is read again, once, where more has changed than a response has room for", async () => {
    const runs = await makeRuns("one", "two");
    let isChanged = false;
    const after: string[] = [];
    const { page, complaints } = await app.open("/icon.svg");
    await respond(page, (query) => {
      const since = query.get("updated_after");
      if (since === null) return { runs: isChanged ? runs : runs.slice(1), page_info: ALL };
      isChanged = true;
      after.push(since);
      return after.length === 1 ? { runs: runs.slice(1), page_info: MORE } : { runs: [], page_info: ALL };
    });
    await page.goto(new URL("/runs", page.url()).href);
    await expect.poll(() => titles(page)).toEqual(["two"]);
    await expect.poll(() => titles(page)).toEqual(["one", "two"]);
    await expect.poll(() => after.length).toBe(2);
    // The second request leaves out what the list was read again for.
    expect(Date.parse(after[1] ?? "")).toBe(Date.parse(after[0] ?? "") + 999);
    expect(complaints).toEqual([]);
  });

  it("shows that the next page cannot be read, and reads it where the viewer tries again", async () => {
    const runs = await makeRuns("one", "two", "three");
    let requests = 0;
    let status: number | undefined = 422;
    const { page, complaints } = await app.open("/icon.svg");
    await respond(page, (query) => {
      if (query.has("updated_after"))
        return { runs: [{ ...runs[0], updated_at: new Date().toISOString() }], page_info: ALL };
      if (!query.has("cursor")) return { runs: runs.slice(0, 2), page_info: MORE };
      requests++;
      return status ?? { runs: runs.slice(2), page_info: ALL };
    });
    await page.goto(new URL("/runs", page.url()).href);
    const retry = page.getByRole("button", { name: "Try again" });
    await retry.waitFor();
    // Changes are read meanwhile, and the list is still there.
    await page.waitForResponse(/updated_after/);
    await page.waitForResponse(/updated_after/);
    expect([requests, await titles(page), await retry.count()]).toEqual([1, ["one", "two"], 1]);
    status = undefined;
    await retry.click();
    await expect.poll(() => titles(page)).toEqual(["one", "two", "three"]);
    expect([requests, await retry.count()]).toEqual([2, 0]);
    expect(complaints).toEqual([]);
  });

  it("keeps a space at the end of the search while the viewer pauses", async () => {
    const { page } = await app.open("/runs");
    const search = page.getByRole("searchbox", { name: "Search runs" });
    await search.pressSequentially("one ");
    await page.waitForURL(/q=one/);
    await search.pressSequentially("two");
    await page.waitForURL(/q=one(\+|%20)two/);
    await page.getByRole("button", { name: "Show all runs" }).click();
    await expect.poll(() => search.inputValue()).toBe("");
  });
});

it("a page whose session cannot be read is read again where the viewer tries again", async () => {
  const { page } = await app.open("/icon.svg");
  await page.route("**/api/v1/session", (route) => route.fulfill({ status: 422 }));
  await page.goto(new URL("/runs", page.url()).href);
  const retry = page.getByRole("button", { name: "Try again" });
  await retry.waitFor();
  await page.unroute("**/api/v1/session");
  await retry.click();
  await page.getByRole("heading", { name: "Runs", level: 1 }).waitFor();
});
