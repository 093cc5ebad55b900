import fc from "fast-check";
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { ERRORS, RunyardError } from "#shared/errors.ts";
import { endpoint } from "#shared/http/endpoint.ts";
import { problem } from "#shared/http/problem.ts";
import { many, map, one, parseQuery, readQuery } from "#shared/http/request.ts";
import { TableBusy } from "#shared/table/table.ts";
import { createClient } from "../../support/client.ts";
import { createTestControlPlane } from "../../support/control-plane.ts";
import { createRun } from "../../support/execution.ts";

const parameters = {
  a: one(v.string()),
  list: many(v.picklist(["x", "y"])),
  map: map(v.record(v.string(), v.string())),
};
const read = (raw: string) => readQuery(parameters, parseQuery(raw));
const refusal = (raw: string): unknown => {
  try {
    return read(raw);
  } catch (error) {
    return error instanceof RunyardError ? error.errors : error;
  }
};

describe("a query string", () => {
  // @contract general.format.unknown-parameters
  // @contract general.clients.repeated-arrays: An array in a query is sent by repeating its parameter.
  // @contract general.clients.encoded-brackets: The brackets of metadata[key] may be percent-encoded.
  // @contract general.clients.space: A space in a query may be written as + or as %20.
  // @contract general.query.empty: An empty value counts as absent.
  it.each([
    ["", {}],
    ["a=1", { a: "1" }],
    ["a=1+2", { a: "1 2" }],
    ["a=1%202", { a: "1 2" }],
    ["a=1%2B2", { a: "1+2" }],
    ["a=%F0%9F%98%80", { a: "😀" }],
    ["a=%EF%BF%BD", { a: "\ufffd" }],
    ["a=", {}],
    ["a", {}],
    ["a=&a=1", { a: "1" }],
    ["a=x=y", { a: "x=y" }],
    ["list=x", { list: ["x"] }],
    ["list=x&list=y&list=x", { list: ["x", "y", "x"] }],
    ["list=&list=y", { list: ["y"] }],
    ["list=", {}],
    ["map[k]=v", { map: { k: "v" } }],
    ["map%5Bk%5D=v&map%5bl%5d=w", { map: { k: "v", l: "w" } }],
    ["map[a][b]=v", { map: { "a][b": "v" } }],
    ["map[k]=", {}],
    ["map=v", {}],
    ["map[k=v", {}],
    ["unknown=1&unknown=2&A=1", {}],
    ["&&a=1&", { a: "1" }],
  ])("%j parses as %j", (raw, expected) => expect(read(raw)).toEqual(expected));

  // @contract general.query.twice
  // @contract general.query.comma
  it.each([
    ["a=1&a=2", "a"],
    ["a=1&b=2&a=1", "a"],
    ["list=z", "list"],
    ["list=x,y", "list"],
    ["map[k]=1&map[k]=2", "map[k]"],
    ["map[k]=1&map%5Bk%5D=2", "map[k]"],
    ["a=%00", "a"],
    ["a=%ED%A0%80", "a"],
    ["a=%FF", "a"],
    ["unknown=%00", "unknown"],
    ["a%00=1", "query"],
    ["map[%00]=1", "query"],
    ["%FF=1", "\ufffd"],
  ])("%j is rejected, naming %j", (raw, path) => expect(refusal(raw)).toMatchObject([{ path }]));

  // @contract errors.member.errors
  it("is rejected with all of its errors", () => {
    expect(refusal("a=1&a=2&list=z&map[k]=1&map[k]=2")).toMatchObject([
      { path: "a" },
      { path: "list" },
      { path: "map[k]" },
    ]);
  });

  it("restores every value that a client encodes", () => {
    const value = fc
      .string({ unit: "grapheme", minLength: 1 })
      .filter((text) => !text.includes("\u0000") && text.isWellFormed());
    fc.assert(
      fc.property(value, value, (a, b) => {
        expect(read(`a=${encodeURIComponent(a)}`)).toEqual({ a });
        expect(read(new URLSearchParams({ a, [`map[${"k"}]`]: b }).toString())).toEqual({ a, map: { k: b } });
      }),
    );
  });
});

describe("broken text in a body", () => {
  // @contract general.text.broken
  it("is rejected in any place, with its path, and other text is accepted", async () => {
    const plane = await createTestControlPlane();
    const user = createClient(plane);
    const id = await createRun(plane);
    const broken = fc.constantFrom("\u0000", "\ud800", "\udfff", "a\ud83d", "\ude00b");
    const place = fc.array(fc.oneof(fc.constantFrom("m", "n"), fc.nat({ max: 2 })), { maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(broken, place, async (text, path) => {
        const nested = path.reduceRight<unknown>(
          (inner, part) => (typeof part === "number" ? [...Array(part).fill(0), inner] : { [part]: inner }),
          text,
        );
        const response = await user.post(`/agent/runs/${id}/followups`, { message: "m", other: nested });
        const shown = path.map((part) => (typeof part === "number" ? `[${part}]` : `.${part}`)).join("");
        expect(response).toMatchObject({ status: 400, body: { errors: [{ path: `other${shown}` }] } });
      }),
    );
    const names = await user.post(`/agent/runs/${id}/followups`, '{"message":"m","a\\ud800":1}');
    expect(names.status).toBe(400);
    const well = fc.string({ unit: "grapheme" }).filter((text) => text.isWellFormed() && !text.includes("\u0000"));
    await fc.assert(
      fc.asyncProperty(fc.dictionary(well, well), async (other) => {
        const { status } = await user.post(`/agent/runs/${id}/cancel`, { other });
        expect([200, 400]).toContain(status);
      }),
      { numRuns: 20 },
    );
  });
});

describe("problem+json", () => {
  const context = { baseUrl: "https://runyard.test/api/v1", instance: "/api/v1/x", traceId: "trace-1" };
  const contract = {
    invalid_request: [400, false, "FAILED"],
    authentication_required: [401, false, "ERROR"],
    not_authorized: [403, false, "FAILED"],
    feature_not_available: [403, false, "FAILED"],
    insufficient_credits: [403, false, "FAILED"],
    budget_exceeded: [403, false, "FAILED"],
    external_authentication_required: [403, false, "FAILED"],
    integration_disabled: [403, false, "FAILED"],
    integration_not_configured: [403, false, "FAILED"],
    content_policy_violation: [403, false, "FAILED"],
    resource_not_found: [404, false, "FAILED"],
    conflict: [409, false, "FAILED"],
    operation_not_supported: [422, false, "FAILED"],
    environment_setup_failed: [422, false, "FAILED"],
    resource_unavailable: [503, true, "ERROR"],
    internal_error: [500, true, "ERROR"],
  } as const satisfies Record<keyof typeof ERRORS, unknown>;

  // @contract general.errors.should-retry: Each error has x-should-retry, which equals its member retryable.
  // @contract errors.member.type: type is a URI below docs_base with the code's underscores as dashes, and the page exists.
  // @contract errors.member.title: title summarizes the kind of problem.
  // @contract errors.member.error: error is the title, with the detail in brackets if there is one.
  // @contract errors.member.error-code: error_code is one of the closed list.
  // @contract errors.member.retryable: retryable is true if the same request may succeed later.
  // @contract errors.code.invalid_request: invalid_request is 400, not retryable, and ends a run in FAILED.
  // @contract errors.code.authentication_required: authentication_required is 401, not retryable, and ends a run in ERROR.
  // @contract errors.code.not_authorized: not_authorized is 403, not retryable, and ends a run in FAILED.
  // @contract errors.code.feature_not_available: feature_not_available is 403, not retryable, and ends a run in FAILED.
  // @contract errors.code.insufficient_credits: insufficient_credits is 403, not retryable, and ends a run in FAILED.
  // @contract errors.code.budget_exceeded: budget_exceeded is 403, not retryable, and ends a run in FAILED.
  // @contract errors.code.external_authentication_required: external_authentication_required is 403, not retryable, and ends a run in FAILED.
  // @contract errors.code.integration_disabled: integration_disabled is 403, not retryable, and ends a run in FAILED.
  // @contract errors.code.integration_not_configured: integration_not_configured is 403, not retryable, and ends a run in FAILED.
  // @contract errors.code.content_policy_violation: content_policy_violation is 403, not retryable, and ends a run in FAILED.
  // @contract errors.code.resource_not_found: resource_not_found is 404, not retryable, and ends a run in FAILED.
  // @contract errors.code.conflict: conflict is 409, retryable only if stated, and ends a run in FAILED.
  // @contract errors.code.operation_not_supported: operation_not_supported is 422, not retryable, and ends a run in FAILED.
  // @contract errors.code.environment_setup_failed: environment_setup_failed is 422, not retryable, and ends a run in FAILED.
  // @contract errors.code.resource_unavailable: resource_unavailable is 429 (the caller's limits) or 503, retryable, and ends a run in ERROR.
  // @contract errors.code.internal_error: internal_error is 500, retryable, and ends a run in ERROR.
  // @contract errors.retry-after.503
  it.each(Object.entries(contract))("maps %s as the contract defines", (name, [status, retryable, endsIn]) => {
    const code = Object.keys(ERRORS).find((known): known is keyof typeof ERRORS => known === name);
    if (code === undefined) throw new Error(`${name} is no code`);
    expect(ERRORS[code].endsIn).toBe(endsIn);
    for (const detail of [undefined, "what is wrong"]) {
      const { statusCode, headers, body } = problem(
        new RunyardError(code, detail === undefined ? {} : { detail }),
        context,
      );
      const { title } = ERRORS[code];
      expect(statusCode).toBe(status);
      expect(headers).toMatchObject({
        "content-type": "application/problem+json",
        "x-should-retry": String(retryable),
        "x-request-id": "trace-1",
        "cache-control": "no-store",
      });
      if (retryable) expect(Number(headers["retry-after"])).toBeGreaterThanOrEqual(1);
      expect(JSON.parse(body)).toEqual({
        type: `https://runyard.test/api/v1/docs/errors/${name.replaceAll("_", "-")}`,
        title,
        status,
        ...(detail === undefined ? {} : { detail }),
        instance: "/api/v1/x",
        error: detail === undefined ? title : `${title} (${detail})`,
        error_code: name,
        retryable,
        trace_id: "trace-1",
      });
    }
  });

  it.each([
    new TableBusy(new Error("Transaction is ongoing for the item")),
    Object.assign(new Error("Rate exceeded"), { name: "ThrottlingException" }),
    Object.assign(new Error("Rate exceeded"), { name: "ProvisionedThroughputExceededException" }),
    Object.assign(new Error("[AbortError]: The operation was aborted."), { name: "TimeoutError" }),
  ])("is retryable when the service is overloaded: $name", (error) => {
    const { statusCode, headers, body } = problem(error, context);
    expect(statusCode).toBe(503);
    expect(headers).toMatchObject({ "x-should-retry": "true", "retry-after": "1" });
    expect(JSON.parse(body)).toMatchObject({ error_code: "resource_unavailable", retryable: true });
    expect(body).not.toContain(error.message);
  });

  it("contains nothing but the trace id for an unknown error", () => {
    const { statusCode, headers, body } = problem(new Error("password=hunter2 at /srv/x.ts:3"), context);
    expect(statusCode).toBe(500);
    expect(headers["x-should-retry"]).toBe("true");
    expect(body).not.toMatch(/hunter2|srv|Error/);
    expect(JSON.parse(body)).toMatchObject({ error_code: "internal_error", retryable: true, trace_id: "trace-1" });
  });
});

describe("an endpoint", () => {
  it("returns only the members of its reply", async () => {
    const plane = await createTestControlPlane();
    const leaking = endpoint({
      request: {},
      reply: { 200: v.object({ shown: v.string() }) },
      run: async () => ({ status: 200, body: { shown: "a", secret: "b" } }) as const,
    });
    expect((await plane.call(leaking)).body).toEqual({ shown: "a" });
  });

  it("returns 500 without details if its response does not match its schema", async () => {
    const plane = await createTestControlPlane();
    const wrong = endpoint({
      request: {},
      reply: { 200: v.object({ shown: v.pipe(v.string(), v.maxLength(1)) }) },
      run: async () => ({ status: 200, body: { shown: "secret" } }) as const,
    });
    const response = await plane.call(wrong);
    expect(response.status).toBe(500);
    expect(JSON.stringify(response.body)).not.toContain("secret");
  });
});
