import { createHash } from "node:crypto";
import type { Context } from "aws-lambda";
import * as v from "valibot";
import { afterEach, describe, expect, it, vi } from "vitest";
import { endpoint, publicEndpoint } from "#shared/http/endpoint.ts";
import { originEndpoint } from "#shared/http/origin-endpoint.ts";
import { streamed } from "#shared/http/streamed.ts";
import { setLogOutput } from "#shared/log/log.ts";
import { createClient } from "../../support/client.ts";
import { createTestControlPlane, httpEvent } from "../../support/control-plane.ts";
import { workingRun } from "../../support/execution.ts";

describe("an endpoint", () => {
  const response = async ({ principal }: { readonly principal: { readonly kind: string } }) =>
    ({ status: 200, body: { kind: principal.kind } }) as const;
  const definition = { request: {}, reply: { 200: v.object({ kind: v.string() }) }, run: response };
  const plain = endpoint(definition);

  it("refuses callers who name a team that they are not in", async () => {
    const plane = await createTestControlPlane();
    for (const name of ["x-team-uid", "x-warp-team-uid"]) {
      expect((await plane.call(plain, { headers: { [name]: plane.team } })).status).toBe(200);
      expect(await plane.call(plain, { headers: { [name]: plane.otherTeam } })).toMatchObject({
        status: 403,
        body: { error_code: "not_authorized", detail: "X-Team-Uid: you are not a member of this team" },
      });
    }
  });

  it("refuses kinds of callers that its route does not name, and names those that it does", async () => {
    const plane = await createTestControlPlane();
    expect(await plane.call(plain, { who: ["agent", "run"] })).toMatchObject({
      status: 403,
      body: { error_code: "not_authorized", detail: "this call is for agent keys and run keys" },
    });
  });

  it("refuses the key of a cancelled run, unless it serves executions that are stopping", async () => {
    const plane = await createTestControlPlane();
    const stopping = endpoint({ ...definition, whileStopping: true });
    const { run_id, key } = await workingRun(plane);
    expect((await plane.call(plain, { key })).status).toBe(200);
    await createClient(plane).post(`/agent/runs/${run_id}/cancel`);
    expect(await plane.call(plain, { key })).toMatchObject({
      status: 401,
      headers: { "www-authenticate": "Bearer" },
      body: { error_code: "authentication_required", detail: "the run's key is no longer valid" },
    });
    expect(await plane.call(stopping, { key })).toMatchObject({ status: 200, body: { kind: "run" } });
  });

  it("logs each request, except the successes of a quiet endpoint", async () => {
    const plane = await createTestControlPlane();
    const lines: unknown[] = [];
    setLogOutput((line) => void lines.push(JSON.parse(line)));
    try {
      const rawPath = "/api/v1/agent/invitations/secret/accept";
      await plane.call(plain, { rawPath });
      await plane.call(endpoint({ ...definition, quiet: true }), { rawPath });
      await plane.call(endpoint({ ...definition, quiet: true }), { rawPath, key: undefined });
      await plane.call(endpoint({ ...definition, run: () => Promise.reject(new Error("broken")) }), { rawPath });
    } finally {
      setLogOutput((line) => void process.stdout.write(line));
    }
    const logged = {
      message: "request",
      timestamp: expect.any(String),
      service: expect.any(String),
      method: "GET",
      route: "GET /api/v1/agent/invitations/***/accept",
      path: "/api/v1/agent/invitations/***/accept",
      ms: expect.any(Number),
      trace_id: "request-1",
    };
    expect(lines).toEqual([
      { ...logged, level: "info", principal: "personal", status: 200 },
      { ...logged, level: "info", status: 401 },
      {
        ...logged,
        level: "error",
        principal: "personal",
        status: 500,
        error: { name: "Error", message: "broken", stack: expect.any(String) },
      },
    ]);
  });
});

describe("the Lambda handler of an endpoint", () => {
  afterEach(() => vi.unstubAllEnvs());
  const hello = endpoint({
    request: {},
    reply: { 200: v.object({ kind: v.string() }) },
    run: async ({ principal }, _: object) => ({ status: 200, body: { kind: principal.kind } }),
  });
  // middy reads nothing else of the context.
  const context = { getRemainingTimeInMillis: () => 1000 } as const satisfies Partial<Context>;

  async function invoke(handler: unknown, event: unknown): Promise<unknown> {
    if (typeof handler !== "function") throw new TypeError("no handler");
    return handler(event, context);
  }

  it("creates its ports at the first event, and once", async () => {
    const plane = await createTestControlPlane();
    let made = 0;
    const handler = hello.lambda(() => {
      made++;
      return plane.ports;
    });
    expect(made).toBe(0);
    for (let time = 0; time < 2; time++) {
      expect(await invoke(handler, httpEvent({ key: plane.key }))).toMatchObject({
        statusCode: 200,
        body: '{"kind":"personal"}',
      });
    }
    expect(made).toBe(1);
  });

  it("returns a problem where its ports cannot be created, and tries again at the next event", async () => {
    vi.stubEnv("BASE_URL", "https://runyard.test/api/v1");
    let tries = 0;
    const handler = hello.lambda(() => {
      tries++;
      throw new Error("setting TABLE_NAME is missing");
    });
    for (const baseUrl of ["https://runyard.test/api/v1", ""]) {
      vi.stubEnv("BASE_URL", baseUrl);
      const response = await invoke(handler, httpEvent({ rawPath: "/api/v1/x" }));
      expect(response).toMatchObject({ statusCode: 500, headers: { "x-request-id": "request-1" } });
      const { body } = v.parse(v.object({ body: v.string() }), response);
      expect(JSON.parse(body)).toMatchObject({
        type: `${baseUrl}/docs/errors/internal-error`,
        instance: "/api/v1/x",
        trace_id: "request-1",
      });
      expect(body).not.toContain("TABLE_NAME");
    }
    expect(tries).toBe(2);
  });
});

describe("an endpoint of a closed API", () => {
  it.each([
    ["the current secret", "new", 200],
    ["the former secret", "old", 200],
    ["another secret", "other", 403],
    ["an empty secret", "", 403],
    ["no secret", undefined, 403],
  ])("answers a request with %s %s by %i", async (_, secret, status) => {
    vi.stubEnv("ORIGIN_SECRET", "new,old");
    const ping = publicEndpoint({
      request: {},
      reply: { 200: v.object({}) },
      run: async () => ({ status: 200, body: {} }) as const,
    });
    const headers = secret === undefined ? {} : { "runyard-origin-secret": secret };
    const event = { ...httpEvent({}), headers };
    const response = await ping.handle(event, { baseUrl: "https://api.test/api/v1" });
    expect(response.statusCode).toBe(status);
    if (status === 403) expect(response.body).toContain("use the address of the API");
    vi.unstubAllEnvs();
  });
});

describe("originEndpoint", () => {
  const secret = createHash("sha256").update("secret").digest("hex");
  const seen: { event: unknown; baseUrl: string }[] = [];
  const serve = (originSecret = secret) =>
    originEndpoint<{ readonly baseUrl: string; readonly originSecret: string }>(
      "/agent/runs/{runId}/events",
      {
        async handle(event, { baseUrl }) {
          seen.push({ event, baseUrl });
          return { statusCode: 201, headers: { "x-a": "1" }, body: "hello" };
        },
      },
      { baseUrl: "https://api.test/api/v1", originSecret },
    );
  const target = "https://url.test/api/v1/agent/runs/r%201/events?after=2&live=true";
  const createRequest = (headers: Record<string, string>, init: { method?: string; target?: string } = {}) =>
    new Request(init.target ?? target, {
      ...(init.method === undefined ? {} : { method: init.method }),
      headers: { "runyard-origin-secret": secret, ...headers },
    });

  it("passes the request to the endpoint as an event of API Gateway", async () => {
    const before = Date.now();
    const response = await serve()(
      createRequest({ "x-amzn-trace-id": "Root=1-6a-b7", "runyard-viewer-host": "runs.test", "user-agent": "curl" }),
    );
    expect([response.status, response.headers.get("x-a"), await response.text()]).toEqual([201, "1", "hello"]);
    const rawPath = "/api/v1/agent/runs/r%201/events";
    const routeKey = "GET /api/v1/agent/runs/{runId}/events";
    expect(seen.pop()).toEqual({
      baseUrl: "https://runs.test/api/v1",
      event: {
        version: "2.0",
        routeKey,
        rawPath,
        rawQueryString: "after=2&live=true",
        headers: {
          "runyard-origin-secret": secret,
          "runyard-viewer-host": "runs.test",
          "user-agent": "curl",
          "x-amzn-trace-id": "Root=1-6a-b7",
        },
        requestContext: {
          accountId: "anonymous",
          apiId: "",
          domainName: "url.test",
          domainPrefix: "",
          http: { method: "GET", path: rawPath, protocol: "HTTP/1.1", sourceIp: "", userAgent: "curl" },
          requestId: "1-6a-b7",
          routeKey,
          stage: "$default",
          time: expect.stringMatching(/GMT$/),
          timeEpoch: expect.toSatisfy((time: number) => time >= before && time <= Date.now()),
        },
        pathParameters: { runId: "r%201" },
        isBase64Encoded: false,
      },
    });
  });

  it("uses its own address and a new trace id for a request that names none", async () => {
    await serve()(createRequest({}));
    const [{ event, baseUrl } = { event: undefined, baseUrl: "" }] = seen.splice(0);
    expect(baseUrl).toBe("https://api.test/api/v1");
    expect(event).toMatchObject({ requestContext: { requestId: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7/) } });
  });

  it.each([
    ["another secret", createRequest({ "runyard-origin-secret": "guessed" }), secret, 403],
    ["an empty secret where none is configured", createRequest({ "runyard-origin-secret": "" }), "", 403],
    ["a path below", createRequest({}, { target: `${target.split("?")[0]}/x` }), secret, 404],
    ["a path above", createRequest({}, { target: "https://url.test/x/api/v1/agent/runs/1/events" }), secret, 404],
    ["two parameters", createRequest({}, { target: "https://url.test/api/v1/agent/runs/1/2/events" }), secret, 404],
    ["another method", createRequest({}, { method: "DELETE" }), secret, 405],
  ])("refuses %s, and does not call the endpoint", async (_, request, configured, status) => {
    const response = await serve(configured)(request);
    expect(response.status).toBe(status);
    expect(response.headers.get("allow")).toBe(status === 405 ? "GET" : null);
    expect(await response.json()).toMatchObject({ status, instance: new URL(request.url).pathname });
    expect(seen).toEqual([]);
  });
});

describe("a streamed function without streaming", () => {
  const echo = streamed((ports: { readonly name: string }) => async (request) => {
    const text = request.body === null ? "none" : await request.text();
    return new Response(`${ports.name} ${request.method} ${request.url} ${text}`, { headers: { "x-a": "1" } });
  });
  const call = async (event: ReturnType<typeof httpEvent>) => (await echo.handle(event, { name: "echo" })).body;

  it("passes on text, bytes and queries, and no body of a GET or HEAD", async () => {
    const url = "https://runyard.test/x";
    expect(await call(httpEvent({ method: "POST", rawPath: "/x", body: "text" }))).toBe(`echo POST ${url} text`);
    expect(await call(httpEvent({ method: "POST", rawPath: "/x", body: Buffer.from("bytes") }))).toBe(
      `echo POST ${url} bytes`,
    );
    expect(await call(httpEvent({ method: "POST", rawPath: "/x" }))).toBe(`echo POST ${url} none`);
    expect(await call(httpEvent({ method: "GET", rawPath: "/x", query: "a=1", body: "text" }))).toBe(
      `echo GET ${url}?a=1 none`,
    );
    expect(await call(httpEvent({ method: "HEAD", rawPath: "/x", body: "text" }))).toBe(`echo HEAD ${url} none`);
  });

  it("creates its ports at the first event, and once", async () => {
    let made = 0;
    const handler: unknown = echo.lambda(() => ({ name: `port ${++made}` }));
    expect(made).toBe(0);
    if (typeof handler !== "function") throw new TypeError("no handler");
    for (let time = 0; time < 2; time++) {
      expect(await handler(httpEvent({ rawPath: "/x" }))).toEqual({
        statusCode: 200,
        headers: { "content-type": "text/plain;charset=UTF-8", "x-a": "1" },
        body: "port 1 GET https://runyard.test/x none",
      });
    }
  });
});
