import { describe, expect, it } from "vitest";
import { routes } from "#infra/routes.ts";
import { request } from "../support/client.ts";
import { makeStage } from "../support/principals.ts";
import { bodies, prepare, toTarget } from "../support/valid-requests.ts";
import { startSession } from "../support/web-sessions.ts";

const changing = routes
  .filter(({ method, who }) => method !== "GET" && who !== "public" && who.includes("personal"))
  .map(({ method, path }) => `${method} ${path}`);

/** Headers that a page of another origin can send if a browser attaches the person's cookie. */
const FORGED = [{}, { origin: "https://evil.test" }, { origin: "null" }, { origin: "http://runyard.test" }] as const;

/** Routes that ignore cookies: a request without an Origin is one without a key. */
const KEYS_ONLY = ["POST /mcp"];

describe.each(changing)("%s with a session cookie", (route) => {
  // @contract session.origin: With a cookie, requests that change something need a same-origin Origin header, else 403.
  it("is refused and changes nothing without an Origin header of the deployment", async () => {
    const stage = await makeStage();
    await prepare(route, stage);
    const { cookie } = await startSession(stage.plane);
    const before = structuredClone(stage.plane.table.all());
    const [method = ""] = route.split(" ");
    const body = bodies[route]?.(stage);
    for (const forged of FORGED) {
      const options = { key: undefined, headers: { cookie, ...forged }, ...(body === undefined ? {} : { body }) };
      const response = await request(stage.plane, method, toTarget(route, stage), options);
      const refusal =
        KEYS_ONLY.includes(route) && !("origin" in forged)
          ? { status: 401, body: { error_code: "authentication_required" } }
          : { status: 403, body: { error_code: "not_authorized" } };
      expect(response).toMatchObject(refusal);
    }
    expect(stage.plane.table.all()).toEqual(before);
  });
});
