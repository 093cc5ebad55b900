import { beforeEach, describe, expect, it } from "vitest";
import { hashKey } from "#shared/principals/api-key.ts";
import { keys } from "#shared/table/keys.ts";
import { createClient, request } from "../../support/client.ts";
import { createTestControlPlane, type TestControlPlane } from "../../support/control-plane.ts";
import { createHarness, createRun } from "../../support/execution.ts";
import { startSession, WEB_ORIGIN } from "../../support/web-sessions.ts";

const HOUR = 3_600_000;
const FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";

let plane: TestControlPlane;
beforeEach(async () => {
  plane = await createTestControlPlane();
});

const signIn = (body: unknown, headers: Record<string, string> = {}) =>
  request(plane, "POST", "/session", { key: undefined, body, headers });
/** Sends a request of the web app with its cookie, or without one. */
const browse = (method: string, target: string, headers: Readonly<Record<string, string>>, body?: unknown) =>
  request(plane, method, target, { key: undefined, headers, ...(body === undefined ? {} : { body }) });
const read = async (headers: Readonly<Record<string, string>>) => (await browse("GET", "/session", headers)).status;

describe("POST /session", () => {
  // @contract session.cookie: POST /session returns 204 with an HttpOnly cookie, __Host-runyard with Secure, or runyard on plain HTTP.
  it("sets a cookie that scripts cannot read, and stores its hash only", async () => {
    const response = await signIn({ key: plane.key }, { origin: WEB_ORIGIN });
    expect(response).toMatchObject({ status: 204, body: "", headers: { "cache-control": "no-store" } });
    const cookie = response.headers["set-cookie"] ?? "";
    expect(cookie).toMatch(/^__Host-runyard=rys_[\w-]{80}; Path=\/; Max-Age=604800; HttpOnly; Secure; SameSite=Lax$/);
    const [, token = ""] = /=([^;]+);/.exec(cookie) ?? [];
    expect(JSON.stringify(plane.table.all())).not.toContain(token);
  });

  // @contract session.cookie
  it("sets a cookie without Secure for a page on plain HTTP", async () => {
    const host = "localhost:4500";
    const response = await signIn({ key: plane.key }, { origin: `http://${host}`, host });
    expect(response.headers["set-cookie"]).toMatch(
      /^runyard=rys_[^;]+; Path=\/; Max-Age=604800; HttpOnly; SameSite=Lax$/,
    );
    const [cookie = ""] = response.headers["set-cookie"]?.split(";") ?? [];
    expect(await read({ cookie, host })).toBe(200);
    // Another host name of the same site could have set it.
    expect(await read({ cookie })).toBe(401);
  });

  it.each([
    ["an unknown key", { key: "ryp_0" }, 401],
    ["an unknown token", { token: "ryl_0" }, 401],
    ["neither a key nor a token", {}, 400],
    ["both a key and a token", { key: "ryp_0", token: "ryl_0" }, 400],
    ["a key that is not a string", { key: 1 }, 400],
  ])("refuses %s", async (_, body, status) => {
    const before = structuredClone(plane.table.all());
    expect((await signIn(body)).status).toBe(status);
    expect(plane.table.all()).toEqual(before);
  });

  it("returns 403 for keys of agents and of runs", async () => {
    const agent = await plane.agent();
    const run = createHarness(plane, await plane.dispatch(await createRun(plane)));
    for (const key of [agent.key, run.key]) {
      expect(await signIn({ key })).toMatchObject({ status: 403, body: { error_code: "not_authorized" } });
    }
  });

  it("returns 403 to a page of another origin", async () => {
    for (const origin of ["https://evil.test", "null", "http://runyard.test", "https://runyard.test.evil.test"]) {
      expect((await signIn({ key: plane.key }, { origin })).status).toBe(403);
    }
  });

  it("always starts a new session, and ends the one that the browser had", async () => {
    const first = await startSession(plane);
    const response = await signIn({ key: plane.key }, first.headers);
    const [second] = response.headers["set-cookie"]?.split(";") ?? [];
    expect(second).not.toBe(first.cookie);
    expect(await read(first.headers)).toBe(401);
    // A cookie that an attacker chose is not adopted.
    const chosen = `__Host-runyard=rys_${plane.user}_${"A".repeat(43)}`;
    const fixed = await signIn({ key: plane.key }, { cookie: chosen, origin: WEB_ORIGIN });
    expect(fixed.headers["set-cookie"]).not.toContain("AAAA");
    expect(await read({ cookie: chosen })).toBe(401);
  });

  it("returns 429 above the limit of a minute", async () => {
    plane.rates.session = 1;
    expect((await signIn({ key: plane.key })).status).toBe(204);
    expect(await signIn({ key: plane.key })).toMatchObject({ status: 429, headers: { "x-should-retry": "true" } });
  });

  it("keeps at most 50 sessions of a person, and ends the least recently used one", async () => {
    const first = await startSession(plane);
    const second = await startSession(plane);
    plane.clock.now += 5 * 60_000;
    expect((await browse("PUT", "/session", first.headers)).status).toBe(204);
    for (let started = 2; started < 50; started++) {
      plane.clock.now += 1;
      await startSession(plane);
    }
    expect(await read(second.headers)).toBe(200);
    await startSession(plane);
    expect([await read(first.headers), await read(second.headers)]).toEqual([200, 401]);
    expect((await createClient(plane).get("/sessions")).body.sessions).toHaveLength(50);
  });

  it("stores the person, their key, one of their teams, and the session's expiry time", async () => {
    await startSession(plane);
    const [{ v: _, pk: __, sk: ___, ...stored } = { pk: "", sk: "" }] = plane.table
      .all()
      .filter(({ sk }) => sk.startsWith("SESSION#"));
    expect(stored).toEqual({
      uid: expect.any(String),
      user_uid: plane.user,
      team_uid: plane.team,
      hash: expect.any(String),
      key_hash: hashKey(plane.key),
      created_at: plane.clock.now,
      last_used_at: plane.clock.now,
      ends_at: plane.clock.now + 7 * 24 * HOUR,
      expires_at: (plane.clock.now + 12 * HOUR) / 1000,
    });
  });

  it("counts as use of the key", async () => {
    const user = createClient(plane);
    const { uid, key } = (await user.post("/agent/keys", { name: "laptop" })).body;
    plane.clock.now += HOUR;
    await startSession(plane, { key });
    const listed = (await user.get("/agent/keys")).body.keys.find((one: { uid: string }) => one.uid === uid);
    expect(listed.last_used_at).toBe("2026-05-18T20:00:00.000Z");
  });

  it("signs in a person without a team", async () => {
    const { key } = await plane.person("Zoe", []);
    const { headers } = await startSession(plane, { key });
    expect((await browse("GET", "/session", headers)).body).toMatchObject({ teams: [] });
    const { body } = await browse("POST", "/session/link", headers);
    const other = await startSession(plane, { token: body.token });
    expect(await read(other.headers)).toBe(200);
  });
});

describe("a web session", () => {
  // @contract teams.who.web: All of it is open to the web session too.
  // @contract session.rights: A session may do what its user's personal key may.
  it("has the permissions of the person's key; an Authorization header takes precedence", async () => {
    const { headers } = await startSession(plane);
    const created = await browse("POST", "/agent/runs", headers, { prompt: "hello" });
    expect(created.status).toBe(200);
    const { body } = await browse("GET", `/agent/runs/${created.body.run_id}`, headers);
    expect(body.creator).toMatchObject({ type: "user", uid: plane.user });
    const other = await request(plane, "GET", "/session", { key: plane.otherKey, headers });
    expect(other.body.user.email).toBe("bo@runyard.test");
    expect((await request(plane, "GET", "/session", { key: "ryp_wrong", headers })).status).toBe(401);
  });

  it("is read from the cookies member of an event, as API Gateway sends it", async () => {
    const { cookie } = await startSession(plane);
    const { getSession } = await import("#functions/web-sessions/get-session.ts");
    const { httpEvent } = await import("../../support/control-plane.ts");
    const event = { ...httpEvent({ rawPath: "/api/v1/session" }), cookies: ["theme=dark", cookie] };
    expect((await getSession.handle(event, { ...plane.ports, who: ["personal"] })).statusCode).toBe(200);
  });

  // @contract session.info: GET /session returns the user, the teams and the time at which the session ends.
  it("shows the person, the teams and the time at which it ends", async () => {
    const { headers } = await startSession(plane);
    const { body } = await browse("GET", "/session", headers);
    expect(body).toEqual({
      user: { uid: plane.user, display_name: "Ada", email: "ada@runyard.test" },
      teams: [{ uid: plane.team, name: "Alpha", role: "admin" }],
      expires_at: new Date(plane.clock.now + 12 * HOUR).toISOString(),
    });
  });

  // @contract session.life: A session ends after 12 hours without use and 7 days at most.
  it("ends after 12 hours without use, and removes its cookie", async () => {
    const { headers } = await startSession(plane);
    plane.clock.now += 12 * HOUR - 1;
    expect(await read(headers)).toBe(200);
    plane.clock.now += 1;
    const response = await browse("GET", "/session", headers);
    expect(response).toMatchObject({ status: 401, body: { error_code: "authentication_required" } });
    expect(response.headers["set-cookie"]).toBe("__Host-runyard=; Path=/; Max-Age=0; HttpOnly; Secure; SameSite=Lax");
  });

  // @contract session.life
  it("is extended by use, with a write every five minutes at most, up to 7 days", async () => {
    const { headers } = await startSession(plane);
    const before = structuredClone(plane.table.all());
    plane.clock.now += 299_000;
    expect((await browse("PUT", "/session", headers)).status).toBe(204);
    expect(plane.table.all()).toEqual(before);
    let hours = 0;
    while ((await browse("PUT", "/session", headers)).status === 204) {
      plane.clock.now += 11 * HOUR;
      hours += 11;
    }
    expect(hours).toBe(176);
  });

  it("ends by the next request after the deletion of its API key", async () => {
    const { uid, key } = (await createClient(plane).post("/agent/keys", { name: "laptop" })).body;
    const { headers } = await startSession(plane, { key });
    const other = await startSession(plane);
    await createClient(plane).delete(`/agent/keys/${uid}`);
    expect(await read(headers)).toBe(401);
    expect(await read(other.headers)).toBe(200);
  });

  it("ends when its API key expires", async () => {
    const expires_at = new Date(plane.clock.now + HOUR).toISOString();
    const { key } = (await createClient(plane).post("/agent/keys", { name: "short", expires_at })).body;
    const { headers } = await startSession(plane, { key });
    expect(await read(headers)).toBe(200);
    plane.clock.now += HOUR;
    expect(await read(headers)).toBe(401);
  });

  it("has no access to a team from which the person was removed", async () => {
    const mia = await plane.person("Mia");
    const { headers } = await startSession(plane, { key: mia.key });
    const target = `/agent/runs/${await createRun(plane)}`;
    expect((await browse("GET", target, headers)).status).toBe(200);
    await plane.removeMember(mia.uid);
    expect((await browse("GET", target, headers)).status).toBe(404);
  });

  it("ends when its person is deleted", async () => {
    const { headers } = await startSession(plane);
    await plane.table.write({ kind: "delete", key: keys.user(plane.user) });
    expect(await read(headers)).toBe(401);
  });
});

describe("signing out", () => {
  // @contract session.out: DELETE /session signs out, DELETE /session?all=true everywhere.
  it("ends only the session of the request, or all of the person's sessions with all=true", async () => {
    const [first, second, third] = [await startSession(plane), await startSession(plane), await startSession(plane)];
    const other = await startSession(plane, { key: plane.otherKey });
    const response = await browse("DELETE", "/session", first.headers);
    expect(response.headers["set-cookie"]).toContain("__Host-runyard=; Path=/; Max-Age=0;");
    const statuses = () => Promise.all([first, second, third, other].map(({ headers }) => read(headers)));
    expect(await statuses()).toEqual([401, 200, 200, 200]);
    expect((await browse("DELETE", "/session?all=true", second.headers)).status).toBe(204);
    expect(await statuses()).toEqual([401, 401, 401, 200]);
  });

  it("ends the session of another browser", async () => {
    const own = await startSession(plane);
    plane.clock.now += 1;
    await signIn({ key: plane.key }, { "user-agent": FIREFOX });
    const { sessions } = (await browse("GET", "/sessions", own.headers)).body;
    const times = (at: string) => ({ created_at: at, last_used_at: at });
    expect(sessions).toEqual([
      {
        uid: expect.any(String),
        ...times("2026-05-18T19:00:00.000Z"),
        expires_at: "2026-05-19T07:00:00.000Z",
        current: true,
      },
      {
        uid: expect.any(String),
        ...times("2026-05-18T19:00:00.001Z"),
        expires_at: "2026-05-19T07:00:00.001Z",
        browser: "Firefox on Linux",
        current: false,
      },
    ]);
    expect((await browse("DELETE", `/sessions/${sessions[1].uid}`, own.headers)).status).toBe(204);
    expect((await browse("GET", "/sessions", own.headers)).body.sessions).toEqual([sessions[0]]);
    expect((await browse("DELETE", `/sessions/${sessions[1].uid}`, own.headers)).status).toBe(404);
  });

  it("returns 404 for a session that another request ends concurrently", async () => {
    const own = await startSession(plane);
    await startSession(plane);
    const { sessions } = (await browse("GET", "/sessions", own.headers)).body;
    const { uid } = sessions.find(({ current }: { current: boolean }) => !current);
    const responses = await Promise.all([1, 2].map(() => browse("DELETE", `/sessions/${uid}`, own.headers)));
    expect(responses.map(({ status }) => status).toSorted()).toEqual([204, 404]);
  });

  it("returns 404 for another person's session, and does not end it", async () => {
    const own = await startSession(plane);
    const theirs = await startSession(plane, { key: plane.otherKey });
    const [{ uid }] = (await browse("GET", "/sessions", theirs.headers)).body.sessions;
    const refused = await browse("DELETE", `/sessions/${uid}`, own.headers);
    expect(refused).toMatchObject({ status: 404, body: { detail: "there is no such session" } });
    expect(await read(theirs.headers)).toBe(200);
  });

  it("ends all of 50 sessions and lists none that has ended already", async () => {
    const started = [];
    for (let count = 0; count < 50; count++) started.push(await startSession(plane));
    const { body } = await createClient(plane).get("/sessions");
    const uids = body.sessions.map(({ uid }: { uid: string }) => uid);
    expect(uids).toEqual(uids.toSorted());
    const last = started.at(-1)?.headers ?? {};
    expect((await browse("DELETE", "/session?all=true", last)).status).toBe(204);
    expect(plane.table.all().filter(({ sk }) => sk.startsWith("SESSION#"))).toEqual([]);
    await startSession(plane);
    plane.clock.now += 12 * HOUR - 1;
    expect((await createClient(plane).get("/sessions")).body.sessions).toHaveLength(1);
    plane.clock.now += 1;
    expect((await createClient(plane).get("/sessions")).body.sessions).toEqual([]);
  });
});

describe("POST /session/link", () => {
  it("creates a link that signs in once, within ten minutes", async () => {
    const { status, body } = await createClient(plane).post("/session/link");
    expect(status).toBe(201);
    expect(body).toEqual({
      token: expect.stringMatching(/^ryl_[\w-]{43}$/),
      url: `https://runyard.test/sign-in?token=${body.token}`,
      expires_at: "2026-05-18T19:10:00.000Z",
    });
    expect(JSON.stringify(plane.table.all())).not.toContain(body.token);
    // The table deletes it when it expires.
    expect(plane.table.all().filter(({ pk }) => pk.startsWith("SIGN_IN#"))).toMatchObject([
      { expires_at: Date.parse(body.expires_at) / 1000 },
    ]);
    const late = (await createClient(plane).post("/session/link")).body;
    plane.clock.now = Date.parse(late.expires_at) - 1;
    const { headers } = await startSession(plane, { token: body.token });
    expect(await read(headers)).toBe(200);
    const [session] = plane.table.all().filter(({ sk }) => sk.startsWith("SESSION#"));
    expect(session).toMatchObject({ user_uid: plane.user, team_uid: plane.team, key_hash: hashKey(plane.key) });
    expect((await signIn({ token: body.token })).status).toBe(401);
    plane.clock.now += 1;
    expect((await signIn({ token: late.token })).status).toBe(401);
  });

  it("creates a token without a URL if the deployment has no web app", async () => {
    plane.ports.webUrl = undefined;
    expect((await createClient(plane).post("/session/link")).body).toEqual({
      token: expect.any(String),
      expires_at: "2026-05-18T19:10:00.000Z",
    });
  });

  it("creates a link that signs in no one after the person's account is deleted", async () => {
    const { token } = (await createClient(plane).post("/session/link")).body;
    await plane.table.write({ kind: "delete", key: keys.user(plane.user) });
    const before = structuredClone(plane.table.all());
    expect((await signIn({ token })).status).toBe(401);
    expect(plane.table.all()).toEqual(before);
  });

  it("starts one session if it is used twice concurrently", async () => {
    const { token } = (await createClient(plane).post("/session/link")).body;
    const responses = await Promise.all([1, 2, 3].map(() => signIn({ token })));
    expect(responses.map(({ status }) => status).toSorted()).toEqual([204, 401, 401]);
  });

  it("creates sessions that end with the request's API key, also if the request uses a session", async () => {
    const { cookie } = await startSession(plane);
    const { token } = (await createClient(plane).post("/session/link")).body;
    const { headers } = await startSession(plane, { token });
    const link = await browse("POST", "/session/link", { cookie, origin: WEB_ORIGIN });
    const second = await startSession(plane, { token: link.body.token });
    expect(await read(second.headers)).toBe(200);
    await plane.table.write({ kind: "delete", key: keys.apiKey(hashKey(plane.key)) });
    expect([await read(headers), await read(second.headers)]).toEqual([401, 401]);
  });
});
