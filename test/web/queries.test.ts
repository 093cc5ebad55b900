import * as v from "valibot";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";

const API = "https://app.example/api/v1";

/** The requests so far, and the response of the service. */
let requests: URL[] = [];
let respond: (url: URL) => unknown;

/** The tested exports of the modules, whose types need a browser. */
type Read = (context: { signal: AbortSignal }) => Promise<unknown>;
interface Query {
  readonly queryFn: Read;
  readonly refetchInterval?: number | false;
}
const isFunction = (value: unknown) => typeof value === "function";
const Modules = v.object({
  environmentsQuery: v.custom<Query>((value) => typeof value === "object"),
  peopleQuery: v.custom<(teams: readonly string[]) => Query>(isFunction),
  descendantsQuery: v.custom<(runId: string, isLive: boolean) => Query>(isFunction),
  ticksQuery: v.custom<(id: string) => Query>(isFunction),
  readUsage: v.custom<(group: string, days: number, signal: AbortSignal) => Promise<unknown>>(isFunction),
  readBeforeFirstRender: v.custom<(read: () => Promise<unknown>) => Promise<void>>(isFunction),
  endFirstRender: v.custom<() => void>(isFunction),
});
const load = (name: string): Promise<object> => import(`../../web/api/${name}.ts`);
let app: v.InferOutput<typeof Modules>;

beforeAll(async () => {
  vi.stubGlobal("location", { origin: "https://app.example" });
  vi.stubGlobal("window", {});
  vi.stubGlobal("fetch", async (address: string) => {
    const url = new URL(address.replace(API, "https://api"));
    requests.push(url);
    const body = respond(url);
    return body === undefined ? Response.json({ title: "No" }, { status: 403 }) : Response.json(body);
  });
  const names = ["queries", "usage", "first-render"];
  app = v.parse(Modules, Object.assign({}, ...(await Promise.all(names.map(load)))));
});
afterAll(() => vi.unstubAllGlobals());
beforeEach(() => {
  requests = [];
});
afterEach(() => void vi.useRealTimers());

const { signal } = new AbortController();
const read = ({ queryFn }: Query) => queryFn({ signal });

describe("a list of the app", () => {
  it("has all pages, up to 2,000 items", async () => {
    respond = ({ searchParams }) => {
      const first = Number(searchParams.get("cursor") ?? 0);
      const environments = Array.from({ length: 900 }, (_, index) => first + index);
      return { environments, page_info: { has_next_page: true, next_cursor: String(first + 900) } };
    };
    expect(await read(app.environmentsQuery)).toEqual(Array.from({ length: 2_000 }, (_, index) => index));
    expect(requests.map(({ searchParams }) => searchParams.get("cursor"))).toEqual([null, "900", "1800"]);
  });

  it("has the people of all teams that the viewer may list, by name or address, and then the agents", async () => {
    const user = { uid: "u1", display_name: "Ada", email: "ada@example.com" };
    const bob = { uid: "u2", display_name: "", email: "bob@example.com" };
    const bodies: Record<string, unknown> = {
      "/teams/t1/members": { members: [user, bob] },
      "/identities": { agents: [{ uid: "a1", name: "bot" }] },
    };
    const people = [
      { uid: "u1", name: "Ada" },
      { uid: "u2", name: "bob@example.com" },
    ];
    const find = ({ pathname }: URL) => Object.entries(bodies).find(([end]) => pathname.endsWith(end))?.[1];
    respond = find;
    expect(await read(app.peopleQuery(["t1", "t2"]))).toEqual([...people, { uid: "a1", name: "bot" }]);
    respond = (url) => (url.pathname.endsWith("/identities") ? undefined : find(url));
    expect(await read(app.peopleQuery(["t1"]))).toEqual(people);
  });

  it.each([
    [true, 5_000],
    [false, false],
  ])("has the descendants of a run, oldest first; live: %j", async (isLive, interval) => {
    respond = () => ({ runs: [{ run_id: "r2" }], page_info: { has_next_page: false } });
    const query = app.descendantsQuery("r1", isLive);
    expect([await read(query), query.refetchInterval]).toEqual([[{ run_id: "r2" }], interval]);
    expect(Object.fromEntries(requests[0]?.searchParams ?? [])).toEqual({
      ancestor_run_id: "r1",
      limit: "500",
      sort_by: "created_at",
      sort_order: "asc",
    });
  });

  it("has the latest 50 firings of a schedule", async () => {
    respond = () => ({ ticks: [{ outcome: "fired" }], page_info: { has_next_page: true, next_cursor: "c" } });
    expect(await read(app.ticksQuery("s1"))).toEqual([{ outcome: "fired" }]);
    expect(requests.map(({ pathname, search }) => pathname + search)).toEqual(["/agent/schedules/s1/ticks?limit=50"]);
  });
});

describe("readUsage", () => {
  const bucket = { key: null, runs: 1, succeeded: 1, failed: 0, total_tokens: 2, cost_usd: 0.5, run_seconds: 3 };

  it.each([
    [1, "2026-03-01"],
    [7, "2026-02-23"],
    [30, "2026-01-31"],
  ])("requests the last %i days of UTC, today included", async (days, from) => {
    vi.useFakeTimers({ toFake: ["Date"], now: Date.parse("2026-03-01T00:00:01Z") });
    respond = () => ({ buckets: [bucket] });
    expect(await app.readUsage("model", days, signal)).toEqual([bucket]);
    expect(requests.map(({ pathname, search }) => pathname + search)).toEqual([
      `/agent/usage?from=${from}&to=2026-03-01&group_by=model`,
    ]);
  });
});

describe("readBeforeFirstRender", () => {
  it("waits for what is read, but no longer than half a second, and not at all after the first render", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    let isOver = false;
    const waiting = app
      .readBeforeFirstRender(() => new Promise(() => {}))
      .then(() => {
        isOver = true;
      });
    await vi.advanceTimersByTimeAsync(499);
    expect(isOver).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    await waiting;
    await app.readBeforeFirstRender(async () => "read");
    app.endFirstRender();
    const reads: string[] = [];
    await app.readBeforeFirstRender(async () => reads.push("again"));
    expect(reads).toEqual([]);
  });
});
