import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { commands } from "../support/api-client.ts";
import { findViolations } from "./support/axe.ts";
import { RUNBOOK, useWebApp } from "./support/web-app.ts";

const app = useWebApp();

/** A run of the person, changed into one in another state. */
async function makeRun(title: string, members: object): Promise<object> {
  const { body: run } = await app.api().call("GET", `/agent/runs/${await app.api().create(commands("true"), RUNBOOK)}`);
  const at = new Date().toISOString();
  return { ...run, title, updated_at: at, finished_at: at, ...members };
}

/** Responds to the requests of the inbox, which sorts by the latest change. */
const respond = (page: Page, to: (query: URLSearchParams) => readonly object[]) =>
  page.route("**/agent/runs?*", (route) => {
    const query = new URL(route.request().url()).searchParams;
    if (query.get("sort_by") !== "updated_at") return route.fallback();
    return route.fulfill({ json: { runs: to(query), page_info: { has_next_page: false } } });
  });

const part = (page: Page, name: string) => page.getByRole("region", { name });

describe("the inbox", () => {
  it("counts in the navigation and the title, empties as runs are read, and remembers it", async () => {
    const runs = [
      await makeRun("Which port?", { state: "BLOCKED", finished_at: null }),
      await makeRun("Broken build", { state: "FAILED" }),
      await makeRun("Changelog", { state: "SUCCEEDED" }),
    ];
    const { page, complaints } = await app.open("/icon.svg");
    await respond(page, (query) => (query.has("updated_after") || query.has("state") ? runs : []));
    await page.goto(new URL("/inbox", page.url()).href);
    await part(page, "Needs an answer").getByRole("link", { name: "Which port?" }).waitFor();
    await part(page, "Failed since you looked").getByRole("link", { name: "Broken build" }).waitFor();
    await expect.poll(() => page.title()).toBe("(3) Inbox · Runyard");
    expect(await findViolations(page)).toEqual([]);
    await page.getByRole("button", { name: "Mark Changelog as read" }).click();
    await page.getByRole("link", { name: "Inbox 2 new" }).waitFor();
    await part(page, "Failed since you looked").getByRole("link", { name: "Broken build" }).click();
    await page.waitForURL(/runs\/./);
    await page.getByRole("link", { name: "Inbox 1 new" }).waitFor();
    await page.goto(new URL("/inbox", page.url()).href);
    await page.getByRole("link", { name: "Inbox 1 new" }).waitFor();
    await expect.poll(() => page.getByRole("link", { name: "Broken build" }).count()).toBe(0);
    expect(complaints).toEqual([]);
  });

  it("notifies of what is new where the person has asked for it, and of nothing before", async () => {
    const [first, second] = [
      await makeRun("Old result", { state: "SUCCEEDED" }),
      await makeRun("New failure", { state: "FAILED" }),
    ];
    const runs = [first];
    const { page } = await app.open("/icon.svg");
    await page.addInitScript(`
      window.shown = [];
      window.Notification = class {
        static permission = "granted";
        static requestPermission = async () => "granted";
        constructor(title, { body }) { shown.push(title + ": " + body); }
      };`);
    await respond(page, () => runs);
    await page.goto(new URL("/inbox", page.url()).href);
    await page.getByRole("button", { name: "Notify me" }).click();
    await page.getByRole("link", { name: "Inbox 1 new" }).waitFor();
    runs.push(second);
    await page.getByRole("link", { name: "New failure" }).waitFor();
    expect(await page.evaluate("shown")).toEqual(["New failure: Failed"]);
  });
});
