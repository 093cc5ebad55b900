import { deflateRawSync } from "node:zlib";
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { RunyardError } from "#shared/errors.ts";
import { problem } from "#shared/http/problem.ts";
import { HTML, NO_CONTENT, REDIRECT, type Replies, readTraceId, renderResponse } from "#shared/http/response.ts";
import { RouteTable, routeNotFoundError } from "#shared/http/route-not-found.ts";
import { httpEvent } from "../../support/control-plane.ts";

describe("renderResponse", () => {
  const common = { "cache-control": "no-store", "x-request-id": "trace-1" };
  const replies = { 200: v.object({ a: v.string() }), 201: HTML, 204: NO_CONTENT, 302: REDIRECT } as const;
  const extra = { headers: { "x-more": "1" } };

  it("renders JSON, pages, redirects and empty responses with their headers", () => {
    expect(renderResponse({ status: 200, body: { a: "x" }, ...extra }, replies, "trace-1")).toEqual({
      statusCode: 200,
      headers: { ...common, "content-type": "application/json", "x-more": "1" },
      body: '{"a":"x"}',
    });
    expect(renderResponse({ status: 201, html: "<p>", ...extra }, replies, "trace-1")).toEqual({
      statusCode: 201,
      headers: { ...common, "content-type": "text/html; charset=utf-8", "x-more": "1" },
      body: "<p>",
    });
    expect(renderResponse({ status: 204, ...extra }, replies, "trace-1")).toEqual({
      statusCode: 204,
      headers: { ...common, "x-more": "1" },
      body: "",
    });
    expect(renderResponse({ status: 302, location: "https://x.test", ...extra }, replies, "trace-1")).toEqual({
      statusCode: 302,
      headers: { ...common, "x-more": "1", location: "https://x.test" },
      body: "",
    });
  });

  it("renders responses without headers of their own", () => {
    expect(renderResponse({ status: 204 }, replies, "trace-1").headers).toEqual(common);
    expect(renderResponse({ status: 200, body: { a: "x" } }, replies, "trace-1").headers).toEqual({
      ...common,
      "content-type": "application/json",
    });
  });

  it("removes members that the schema does not name, and refuses a body that it does not describe", () => {
    const wrong: { a: string } = { a: "x", ...{ secret: "y" } };
    expect(renderResponse({ status: 200, body: wrong }, replies, "trace-1").body).toBe('{"a":"x"}');
    const declared: Replies = replies;
    expect(() => renderResponse({ status: 200 }, declared, "trace-1")).toThrow(v.ValiError);
  });

  it("refuses a response of a kind that is not declared for its status", () => {
    const declared: Replies = replies;
    for (const status of [500, 302, 201]) {
      expect(() => renderResponse({ status }, declared, "trace-1")).toThrow(
        `no reply is declared for status ${status}`,
      );
    }
  });

  it("renders a stream of events, which proxies must not buffer", () => {
    async function* stream() {
      yield "data: 1\n\n";
    }
    const made = stream();
    expect(renderResponse({ status: 200, stream: made }, replies, "trace-1")).toEqual({
      statusCode: 200,
      headers: { ...common, "content-type": "text/event-stream; charset=utf-8", "x-accel-buffering": "no" },
      body: "",
      stream: made,
    });
  });
});

describe("readTraceId", () => {
  it("prefers the trace of X-Ray to the id of the request", () => {
    expect(readTraceId(httpEvent({ headers: { "x-amzn-trace-id": "Self=1-a;Root=1-6a-b7;Sampled=1" } }))).toBe(
      "1-6a-b7",
    );
    expect(readTraceId(httpEvent({}))).toBe("request-1");
  });
});

describe("problem", () => {
  const context = { baseUrl: "https://x.test", instance: "/", traceId: "t" };
  it.each([
    ["ProvisionedThroughputExceededException", "DynamoDB"],
    ["RequestLimitExceeded", "DynamoDB"],
    ["RequestThrottled", "SQS"],
    ["ServiceQuotaExceededException", "AWS"],
    ["SlowDown", "S3"],
    ["ThrottlingException", "AWS"],
    ["TooManyRequestsException", "Lambda"],
  ])("returns 503 with the remedy for an error of AWS that is called %s", (name, service) => {
    const { statusCode, headers, body } = problem(Object.assign(new Error("secret"), { name }), context);
    expect({ statusCode, ...headers }).toMatchObject({ statusCode: 503, "retry-after": "1", "x-should-retry": "true" });
    const detail = `${service} limits the calls of this account: send the request again later, or have the operator ask AWS to raise the quota (Service Quotas)`;
    expect(JSON.parse(body)).toMatchObject({ detail, error_code: "resource_unavailable" });
    expect(body).not.toContain("secret");
    expect(problem({ name }, context).statusCode).toBe(500);
  });

  it("returns 503 without details for a call that takes too long", () => {
    const { statusCode, body } = problem(Object.assign(new Error(), { name: "TimeoutError" }), context);
    expect([statusCode, JSON.parse(body).detail]).toEqual([503, undefined]);
  });

  it("has only the members and headers that the error sets", () => {
    const { statusCode, headers, body } = problem(new RunyardError("not_authorized"), {
      baseUrl: "https://x.test",
      instance: "/i",
      traceId: "t",
    });
    expect([statusCode, headers]).toEqual([
      403,
      {
        "content-type": "application/problem+json",
        "cache-control": "no-store",
        "x-request-id": "t",
        "x-should-retry": "false",
      },
    ]);
    expect(JSON.parse(body)).toStrictEqual({
      type: "https://x.test/docs/errors/not-authorized",
      title: expect.any(String),
      status: 403,
      instance: "/i",
      error: JSON.parse(body).title,
      error_code: "not_authorized",
      retryable: false,
      trace_id: "t",
    });
  });

  it("contains the fields, and the headers of the error in place of its own", () => {
    const error = new RunyardError("conflict", {
      errors: [{ path: "a", message: "b" }],
      retryAfterSeconds: 7,
      headers: { "cache-control": "private" },
    });
    const { headers, body } = problem(error, { baseUrl: "https://x.test", instance: "/i", traceId: "t" });
    expect(headers).toEqual({
      "content-type": "application/problem+json",
      "cache-control": "private",
      "x-request-id": "t",
      "x-should-retry": "false",
      "retry-after": "7",
    });
    expect(JSON.parse(body)).toMatchObject({
      errors: [{ path: "a", message: "b" }],
      type: "https://x.test/docs/errors/conflict",
    });
  });
});

describe("routeNotFoundError", () => {
  const packed = deflateRawSync(
    JSON.stringify([
      ["GET", "/runs"],
      ["POST", "/runs"],
      ["GET", "/runs/{runId}"],
      ["POST", "/runs/cancel"],
      ["POST", "/runs/{runId}/a.b"],
      ["POST", "/runs/cancel"],
    ]),
  ).toString("base64");
  const routes = v.parse(RouteTable, packed);
  const find = (path: string) => {
    const { status, headers, detail } = routeNotFoundError(routes, "PUT", `/api/v1${path}`);
    return { status, allow: headers["allow"], detail };
  };

  it.each([
    ["/runs", "GET, POST"],
    ["/runs/1", "GET"],
    ["/runs/cancel", "POST"],
    ["/runs/1/a.b", "POST"],
  ])("is 405 for another method of %s, with those that are allowed", (path, allow) => {
    expect(find(path)).toEqual({ status: 405, allow, detail: `PUT is not allowed here; allowed: ${allow}` });
  });

  it.each(["/run", "/runs/1/2", "/runs/1/aXb", "/xruns", "/", "//"])("is 404 for %s", (path) => {
    expect(find(path)).toEqual({ status: 404, allow: undefined, detail: "there is no such path" });
  });

  it("is 404 for a path that was not routed although its method exists", () => {
    const { status, headers, detail } = routeNotFoundError(routes, "GET", "/api/v1/runs/..");
    expect([status, headers["allow"], detail]).toEqual([404, undefined, "there is no such path"]);
  });

  it("names the path without trailing slashes if it exists", () => {
    expect(find("/runs//")).toEqual({
      status: 404,
      allow: undefined,
      detail: "there is no such path; /api/v1/runs has no slash at its end",
    });
    expect(routeNotFoundError(routes, "GET", "/runs").status, "outside of the API").toBe(404);
  });
});
