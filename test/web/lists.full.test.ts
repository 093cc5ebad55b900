import type { Page, Route } from "playwright-core";
import { beforeAll, describe, expect, it } from "vitest";
import { commands } from "../support/api-client.ts";
import { RUNBOOK, useWebApp } from "./support/web-app.ts";

const app = useWebApp();

interface List {
  readonly path: string;
  /** The request that the list is read by. */
  readonly request: string | RegExp;
  /** A response without items. */
  readonly nothing: unknown;
  /** What is visible if there are no items. */
  readonly empty: string;
}

/** The first page of the list of runs: the inbox, which is in every page, asks for states or for changes. */
const RUNS = /\/agent\/runs\?(?!.*(state|updated_after)=)/;

const lists: List[] = [
  { path: "/runs", request: RUNS, nothing: { runs: [] }, empty: "No runs yet" },
  { path: "/runs?q=none", request: RUNS, nothing: { runs: [] }, empty: "No matching runs" },
  { path: "/schedules", request: "**/agent/schedules", nothing: { schedules: [] }, empty: "No schedules yet" },
  {
    path: "/environments",
    request: "**/agent/environments",
    nothing: { environments: [] },
    empty: "No environments yet",
  },
  { path: "/environments", request: "**/agent/secrets", nothing: { secrets: [] }, empty: "No secrets" },
  { path: "/agents", request: "**/agent/identities", nothing: { agents: [] }, empty: "No agents yet" },
  { path: "/resources", request: "**/agent?include*", nothing: { agents: [] }, empty: "No skills" },
  {
    path: "/resources",
    request: "**/connected-self-hosted-workers",
    nothing: { workers: [] },
    empty: "No connected workers",
  },
  {
    path: "/usage",
    request: "**/agent/usage?*group_by=day*",
    nothing: { buckets: [] },
    empty: "No usage in this period",
  },
  { path: "/settings/keys", request: "**/agent/keys", nothing: { keys: [] }, empty: "No keys" },
  { path: "/settings", request: "**/sessions", nothing: { sessions: [] }, empty: "No sessions" },
  { path: "/settings/team", request: "**/members", nothing: { members: [] }, empty: "No members" },
  { path: "/settings/team", request: "**/invitations", nothing: { invitations: [] }, empty: "No invitation is open." },
  { path: "/settings/audit", request: "**/agent/audit*", nothing: { events: [] }, empty: "No events" },
  { path: "/triggers", request: "**/agent/triggers*", nothing: { triggers: [] }, empty: "No triggers yet" },
  { path: "/settings/webhooks", request: "**/agent/webhooks", nothing: { webhooks: [] }, empty: "No webhooks" },
];

beforeAll(async () => {
  const { call } = app.api();
  const schedule = await call("POST", "/agent/schedules", {
    name: "Weekly",
    cron_schedule: "0 9 * * 1",
    prompt: "Go.",
  });
  const agent = await call("POST", "/agent/identities", { name: "Helper" });
  lists.push(
    {
      path: `/agents/${agent.body.uid}`,
      request: "**/agent/identities/*/keys",
      nothing: { keys: [] },
      empty: "No keys",
    },
    {
      path: `/agents/${agent.body.uid}`,
      request: "**/agent/identities/*/trust-rules",
      nothing: { trust_rules: [] },
      empty: "No trust rules",
    },
    {
      path: `/schedules/${schedule.body.id}`,
      request: "**/agent/schedules/*/ticks*",
      nothing: { ticks: [] },
      empty: "No planned time has passed yet.",
    },
  );
});

const problem = (status: number) => ({
  status,
  contentType: "application/problem+json",
  json: { title: "Refused", detail: "The reason.", status, error: "x", error_code: "x", trace_id: "trace-1" },
});

describe("each list of the web app", () => {
  it("shows that it is loading, that it failed, that the viewer lacks the permission, and that it is empty", async () => {
    const { page, complaints } = await app.open("/icon.svg");
    for (const { path, request, nothing, empty } of lists) {
      const name = `${path}: ${request}`;
      const requests = holdRequests(page, request);
      await page.goto(new URL(path, page.url()).href);
      const first = await requests.next();
      await page.getByRole("status", { name: "Loading" }).first().waitFor();
      await first.fulfill(problem(422));
      await page.getByText("trace-1").waitFor();
      await page.getByRole("button", { name: "Try again" }).click();
      await (await requests.next()).fulfill(problem(403));
      await page.getByRole("heading", { name: "No permission" }).waitFor();
      expect(await page.getByRole("button", { name: "Try again" }).count(), name).toBe(0);
      await page.reload();
      await (await requests.next()).fulfill({ json: { page_info: { has_next_page: false }, ...Object(nothing) } });
      await page.getByText(empty).first().waitFor();
      await page.unroute(request);
    }
    expect(complaints).toEqual([]);
  }, 600_000);

  it("says which resource does not exist, and that the events of a run may not be read", async () => {
    const run = await app.api().create(commands("true"), RUNBOOK);
    const { page } = await app.open("/runs/0199a0c4-0000-7000-8000-000000000001");
    await page.getByRole("heading", { name: "Not found" }).waitFor();
    expect(await page.title()).toBe("Run · Runyard");
    await page.goto(new URL("/schedules/0199a0c4-0000-7000-8000-000000000001", page.url()).href);
    await page.getByRole("heading", { name: "Not found" }).waitFor();
    expect(await page.title()).toBe("Schedule · Runyard");
    await page.goto(new URL("/nothing", page.url()).href);
    await page.getByRole("heading", { name: "Page not found" }).waitFor();
    expect(await page.title()).toBe("Page not found · Runyard");
    await page.route(`**/agent/runs/${run}/events*`, (route) => route.fulfill(problem(403)));
    await page.goto(new URL(`/runs/${run}`, page.url()).href);
    await page.getByRole("heading", { name: "No permission" }).waitFor();
  });
});

/** Leaves requests unanswered until the test takes them, in order. */
function holdRequests(page: Page, pattern: string | RegExp): { next: () => Promise<Route> } {
  const held: Route[] = [];
  let notify = () => {};
  void page.route(pattern, (route) => {
    held.push(route);
    notify();
  });
  const next = async (): Promise<Route> => {
    while (held.length === 0) {
      await new Promise<void>((resolve) => {
        notify = resolve;
      });
    }
    const [route] = held.splice(0, 1);
    if (route === undefined) throw new Error("no request is held");
    return route;
  };
  return { next };
}
