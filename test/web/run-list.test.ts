import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { commands } from "../support/api-client.ts";
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

/** Responds to the requests of the list of runs. */
const respond = (page: Page, to: (query: URLSearchParams) => ListResponse | number) =>
  page.route("**/agent/runs?*", (route) => {
    const response = to(new URL(route.request().url()).searchParams);
    return typeof response === "number" ? route.fulfill({ status: response }) : route.fulfill({ json: response });
  });

const titles = (page: Page) => page.locator(".run-row-title").allInnerTexts();

describe("the list of runs", () => {
  it("adds a run that enters the filter, between the others", async () => {
    const [first, second, third] = await makeRuns("one", "two", "three");
    const { page, complaints } = await app.open("/icon.svg");
    await respond(page, (query) => {
      if (query.has("updated_after"))
        return { runs: [{ ...second, updated_at: new Date().toISOString() }], page_info: ALL };
      return { runs: [first, third].flatMap((run) => run ?? []), page_info: ALL };
    });
    await page.goto(new URL("/runs?view=failed", page.url()).href);
    await expect.poll(() => titles(page)).toEqual(["one", "three"]);
    await expect.poll(() => titles(page)).toEqual(["one", "two", "three"]);
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
});
