import * as v from "valibot";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import type { Runyard } from "../../clients/typescript/src/index.ts";
import { keepDraft, readDrafts } from "../../web/api/drafts.ts";

const ORIGIN = "https://app.example";
const API = `${ORIGIN}/api/v1`;

/** What the browser has stored, what it has sent, and the requests that were sent before the app was loaded. */
const stored = new Map<string, string>();
let sent: { url: string; init: RequestInit; headers: Record<string, string> }[] = [];
let early: Map<string, { response: Promise<Response>; abort: () => void }>;
/** The addresses of early requests that were aborted. */
let aborted: string[] = [];
let status = 200;
/** Further headers of responses. */
let headers: Record<string, string> = {};
/** The address of a file in the storage. */
let download = "";
/** The teams of the person who is signed in. */
let teams: { uid: string }[] = [];

/** The tested exports of the modules, whose types need a browser. */
const App = v.object({
  readSession: v.custom<() => Promise<unknown>>((value) => typeof value === "function"),
  client: v.custom<Runyard>((value) => typeof value === "object"),
  signIn: v.custom<(credential: { readonly key: string }) => Promise<void>>((value) => typeof value === "function"),
  signOut: v.custom<(everywhere?: boolean) => Promise<void>>((value) => typeof value === "function"),
});
const Queries = v.object({
  queryClient: v.custom<{ fetchQuery: (query: object) => Promise<unknown> }>((value) => typeof value === "object"),
  sessionQuery: v.custom<object>((value) => typeof value === "object"),
});
const load = (name: string): Promise<object> => import(`../../web/api/${name}.ts`);
let app: v.InferOutput<typeof App>;
beforeAll(async () => {
  vi.stubGlobal("location", { origin: ORIGIN });
  vi.stubGlobal("window", {
    get earlyResponses() {
      return early;
    },
  });
  vi.stubGlobal("localStorage", {
    getItem: (name: string) => stored.get(name) ?? null,
    setItem: (name: string, value: string) => void stored.set(name, value),
    removeItem: (name: string) => void stored.delete(name),
  });
  vi.stubGlobal("fetch", async (url: string, init: RequestInit) => {
    sent.push({ url, init, headers: Object.fromEntries(new Headers(init.headers)) });
    return Response.json({ prompt: "sent now", download_url: download, teams }, { status, headers });
  });
  const [client, session, queryClient] = await Promise.all(["client", "session", "query-client"].map(load));
  const { queryClient: queries, sessionQuery } = v.parse(Queries, { ...session, ...queryClient });
  const readSession = () => queries.fetchQuery({ ...sessionQuery, staleTime: 0 });
  app = v.parse(App, { ...client, ...session, readSession });
});
afterAll(() => vi.unstubAllGlobals());
beforeEach(() => {
  stored.clear();
  [sent, aborted, early, status, headers, teams] = [[], [], new Map(), 200, {}, []];
});

/** Notes a request as sent before the app was loaded. */
function sendEarly(path: string): void {
  const response = Promise.resolve(Response.json({ prompt: `sent early: ${path}` }));
  early.set(`${API}${path}`, { response, abort: () => void aborted.push(path) });
}
const get = (path: string, signal?: AbortSignal) =>
  app.client.request({ method: "GET", path, ...(signal === undefined ? {} : { options: { signal } }) });

describe("the client of the web app", () => {
  it("authenticates by the session's cookie, and names the chosen team", async () => {
    await get("/agent/runs");
    expect(sent).toMatchObject([
      {
        url: `${API}/agent/runs`,
        init: { credentials: "same-origin", cache: "no-store", referrerPolicy: "no-referrer" },
        headers: { "x-run-source": "WEB_APP" },
      },
    ]);
    for (const name of ["authorization", "x-team-uid"]) expect(sent[0]?.headers).not.toHaveProperty(name);
    stored.set("runyard.team", "team-2");
    await get("/agent/runs");
    expect(sent[1]?.headers).toMatchObject({ "x-team-uid": "team-2" });
    await app.client.request({ method: "GET", path: "/agent/runs", options: { team: "team-3" } });
    expect(sent[2]?.headers).toMatchObject({ "x-team-uid": "team-3" });
  });

  it.each(["/session", "/session/methods", "/session?all=true", "/sessions", "/sessions/session-1"])(
    "names no team to %s, which is about the person",
    async (path) => {
      stored.set("runyard.team", "team-2");
      await get(path);
      expect(sent.map(({ headers }) => headers["x-team-uid"])).toEqual([undefined]);
    },
  );

  it.each(["https://storage.example/file", `${API}0/file`, `${ORIGIN}/file`])(
    "sends neither cookies nor the team to %s",
    async (address) => {
      stored.set("runyard.team", "team-2");
      download = address;
      await app.client.runs.downloadTranscript("run-1");
      expect(sent.map(({ url, init }) => [url, init.credentials])).toEqual([
        [`${API}/agent/runs/run-1/transcript?redirect=false`, "same-origin"],
        [address, "omit"],
      ]);
      expect(sent[1]?.headers).toEqual({});
    },
  );

  it("takes an early response once", async () => {
    sendEarly("/agent/runs");
    expect(await get("/agent/runs")).toEqual({ prompt: "sent early: /agent/runs" });
    expect(await get("/agent/runs")).toMatchObject({ prompt: "sent now" });
    expect(sent).toHaveLength(1);
  });

  it("aborts an early request with the call that has taken it", async () => {
    const controller = new AbortController();
    early.set(`${API}/slow`, {
      response: new Promise<Response>(() => {}),
      abort: () => void aborted.push("/slow"),
    });
    void get("/slow", controller.signal).catch(() => undefined);
    await expect.poll(() => early.size).toBe(0);
    expect(aborted).toEqual([]);
    controller.abort();
    await expect.poll(() => aborted).toEqual(["/slow"]);
  });

  it("drops early responses at a request that may change what they say", async () => {
    sendEarly("/agent/runs");
    sendEarly("/agent/keys");
    await app.client.request({ method: "POST", path: "/agent/runs", body: {} });
    expect([aborted.toSorted(), early.size]).toEqual([["/agent/keys", "/agent/runs"], 0]);
    expect(await get("/agent/runs")).toMatchObject({ prompt: "sent now" });
  });
});

describe("an action that is refused for a time", () => {
  it.each([
    ["30", 1],
    ["0.01", 3],
  ])("is sent again by itself only where the time is short: Retry-After %s, %i requests", async (retryAfter, count) => {
    [status, headers] = [429, { "retry-after": retryAfter }];
    const action = app.client.request({ method: "POST", path: "/agent/runs", body: {} });
    await expect(action).rejects.toMatchObject({ status: 429 });
    expect(sent).toHaveLength(count);
  });
});

describe("sessionQuery", () => {
  it("drops the choice of a team that the person has left, and what was requested for it", async () => {
    stored.set("runyard.team", "team-2");
    sendEarly("/agent/runs");
    teams = [{ uid: "team-1" }, { uid: "team-2" }];
    await app.readSession();
    expect([stored.get("runyard.team"), aborted]).toEqual(["team-2", []]);
    teams = [{ uid: "team-1" }];
    await app.readSession();
    expect([stored.has("runyard.team"), aborted]).toEqual([false, ["/agent/runs"]]);
  });
});

describe("signOut", () => {
  it.each([
    [200, false, ""],
    [200, true, "?all=true"],
    [401, false, ""],
  ])(
    "forgets the team and what was written where the service returns %i (everywhere: %j)",
    async (returned, everywhere, query) => {
      stored.set("runyard.team", "team-2");
      status = returned;
      keepDraft("ada", "new-run", "Go.");
      await app.signOut(everywhere);
      expect(readDrafts("ada")).toEqual({});
      expect(sent.map(({ url, init }) => [init.method, url])).toEqual([["DELETE", `${API}/session${query}`]]);
      expect(stored.has("runyard.team")).toBe(false);
    },
  );

  it("fails where the service refuses, and keeps the team", async () => {
    stored.set("runyard.team", "team-2");
    status = 403;
    await expect(app.signOut()).rejects.toMatchObject({ status: 403 });
    expect(stored.get("runyard.team")).toBe("team-2");
  });
});

describe("signIn", () => {
  it("sends the credential once, even where the service fails", async () => {
    status = 503;
    await expect(app.signIn({ key: "ryp_key" })).rejects.toMatchObject({ status: 503 });
    expect(sent.map(({ init }) => [init.method, init.body])).toEqual([["POST", '{"key":"ryp_key"}']]);
  });
});
