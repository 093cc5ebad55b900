import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, it } from "vitest";
import { routes } from "#infra/routes.ts";
import { hashKey, newKey, newRunKey } from "#shared/principals/api-key.ts";
import { keys } from "#shared/table/keys.ts";
import { request } from "../../support/client.ts";
import type { ResponseBody } from "../../support/control-plane.ts";
import { makeStage, type Stage } from "../../support/principals.ts";
import { bodies, prepare, toTarget } from "../../support/valid-requests.ts";

/** Routes that also accept requests without a credential have their own tests for those requests. */
const keyOptional = routes.filter((route) => route.keyOptional).map(({ method, path }) => `${method} ${path}`);

const withKey = routes.filter(({ who }) => who !== "public").map(({ method, path }) => `${method} ${path}`);

/** Behavior that all routes with a required key have in common. */
describe.each(withKey)("%s", (route) => {
  const [method = ""] = route.split(" ");
  let stage: Stage;
  beforeAll(async () => {
    stage = await makeStage();
    await prepare(route, stage);
  });
  const send = (key: string | undefined) => sendTo(stage, route, key);

  describe("returns 401 with WWW-Authenticate and stores nothing for", () => {
    const cases: Record<string, () => Promise<string | undefined>> = {
      "no key": async () => undefined,
      "a malformed key": async () => "hello",
      "an unknown key": async () => newKey("personal"),
      "an unknown run key": async () => newRunKey(stage.runId),
      "a key with one character changed": async () => changed(stage.plane.key),
      "an expired key": async () => personalKey(stage, { expires_at_ms: stage.plane.clock.now }),
      "a deleted key": async () => {
        const key = await personalKey(stage, {});
        await stage.plane.table.write({ kind: "delete", key: keys.apiKey(hashKey(key)) });
        return key;
      },
      "the key of a deleted person": async () => personalKey(stage, { user_uid: randomUUID() }),
      "the key of a deleted identity": async () => {
        const { uid, key } = await stage.plane.agent("gone");
        await stage.plane.table.write({ kind: "delete", key: keys.identity(stage.plane.team, uid) });
        return key;
      },
      "the key of an ended execution": async () => stage.key("the run's dead execution"),
    };
    const named = Object.keys(cases).filter((name) => name !== "no key" || !keyOptional.includes(route));
    // @contract general.auth.bearer
    // @contract general.order.credential: A missing or wrong credential is 401 with WWW-Authenticate: Bearer.
    // @contract general.responses.no-store
    // @contract general.run-key.dead: A revoked run key is 401.
    it.each(named)("%s", async (name) => {
      const key = await cases[name]?.();
      const before = structuredClone(stage.plane.table.all());
      const response = await send(key);
      expect(response.status).toBe(401);
      expect(response.headers).toMatchObject({
        "www-authenticate": "Bearer",
        "content-type": "application/problem+json",
        "cache-control": "no-store",
        "x-should-retry": "false",
      });
      expect(response.body).toMatchObject({ error_code: "authentication_required", retryable: false });
      expect(stage.plane.table.all()).toEqual(before);
    });
  });

  // @contract general.auth.bearer: Each request carries its key as a Bearer credential.
  it("returns 401 for a key of another scheme or with spaces in it", async () => {
    for (const authorization of [
      stage.plane.key,
      `Basic ${stage.plane.key}`,
      "Bearer",
      `Bearer ${stage.plane.key} x`,
    ]) {
      const body = bodies[route]?.(stage);
      const options = { key: undefined, headers: { authorization }, ...(body === undefined ? {} : { body }) };
      expect((await request(stage.plane, method, toTarget(route, stage), options)).status).toBe(401);
    }
  });

  // @contract general.team.foreign: A header that names a team of others is 403.
  it("returns 403 to a caller who names a team that they do not belong to", async () => {
    const body = bodies[route]?.(stage);
    const headers = { "x-team-uid": stage.plane.otherTeam };
    const response = await request(stage.plane, method, toTarget(route, stage), {
      headers,
      ...(body === undefined ? {} : { body }),
    });
    expect(response).toMatchObject({ status: 403, body: { error_code: "not_authorized" } });
  });

  // @contract general.responses.request-id: Every response has x-request-id, which an error repeats as trace_id.
  // @contract general.responses.no-store: Every response except the OpenAPI document is no-store.
  // @contract general.responses.etag: No response has an ETag.
  it("returns the common headers to a valid request", async () => {
    const response = await send(
      listCallers(route).includes("personal") ? stage.plane.key : stage.key("the run itself"),
    );
    expect(response.status).toBeLessThan(400);
    expect(response.headers).toMatchObject({ "cache-control": "no-store", "x-request-id": "request-1" });
    expect(response.headers).not.toHaveProperty("etag");
  });
});

/** Routes with an invitation token are excluded: any caller with the token may accept the invitation. */
const routesOfOneResource = routes.filter(
  ({ path, who }) => path.includes("{") && !path.includes("{token}") && who.includes("personal"),
);

describe.each(routesOfOneResource.map(({ method, path }) => `${method} ${path}`))("%s", (route) => {
  // @contract general.path.malformed-id: A malformed id is 404, like the id of a missing resource.
  // @contract errors.foreign: A resource of another team returns 404, like a missing one.
  it("returns the same bytes for another team's object as for a missing one", async () => {
    const stage = await makeStage();
    await prepare(route, stage);
    const strangers = ["another team's member", "removed member", "another team's agent"] as const;
    const callers = strangers.slice(0, listCallers(route).includes("agent") ? 3 : 2);
    for (const key of callers.map(stage.key)) {
      const foreign = await sendTo(stage, route, key);
      expect(foreign).toMatchObject({ status: 404, body: { error_code: "resource_not_found" } });
      for (const id of [randomUUID(), "none", stage.runId.toUpperCase(), "%00"]) {
        const missing = await sendTo(stage, route, key, id);
        expect(comparable(missing)).toEqual(comparable(foreign));
      }
    }
  });
});

const listCallers = (route: string): readonly string[] =>
  routes
    .filter(({ method, path }) => `${method} ${path}` === route)
    .flatMap(({ who }) => (who === "public" ? [] : who));

function sendTo(stage: Stage, route: string, key: string | undefined, other?: string): Promise<ResponseBody> {
  const [method = ""] = route.split(" ");
  const body = bodies[route]?.(stage);
  return request(stage.plane, method, toTarget(route, stage, other), { key, ...(body === undefined ? {} : { body }) });
}

function comparable({ status, headers, body }: ResponseBody) {
  const { instance: _, ...rest } = body;
  return { status, headers, text: JSON.stringify(rest) };
}

const changed = (key: string): string => key.slice(0, 10) + (key[10] === "a" ? "b" : "a") + key.slice(11);

async function personalKey(stage: Stage, fields: Record<string, string | number>): Promise<string> {
  const key = newKey("personal");
  const item = { ...keys.apiKey(hashKey(key)), v: 1, kind: "personal", user_uid: stage.plane.user, ...fields };
  await stage.plane.table.write({ kind: "put", item });
  return key;
}
