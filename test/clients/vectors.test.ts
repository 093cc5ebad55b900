import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  APIConnectionError,
  APIError,
  APITimeoutError,
  AuthenticationError,
  BadRequestError,
  ConflictError,
  InternalServerError,
  NotFoundError,
  Page,
  PermissionDeniedError,
  RateLimitError,
  Runyard,
  UnprocessableEntityError,
} from "../../clients/typescript/src/index.ts";
import { call } from "./call.ts";
import { FaultServer, type Seen } from "./fault-server.ts";
import { type ExpectedError, type ExpectedRequest, type HeaderRule, readVectors, type Vector } from "./vectors.ts";

const server = new FaultServer();
beforeAll(() => server.start());
afterAll(() => server.stop());

describe("the TypeScript client", () => {
  it.each(readVectors().map((vector) => [vector.name, vector] as const))("%s", async (_, vector) => {
    server.play(vector.server);
    const waits: number[] = [];
    const outcome = await play(vector, waits);
    const { requests, waits_ms, outcome: expected } = vector.expect;
    expect(server.complaints).toEqual([]);
    if ("error" in expected) expectError(outcome, expected.error);
    else expect(outcome).toEqual(expected);
    expect(server.seen.map(({ method, path }) => `${method} ${path}`)).toHaveLength(requests.length);
    requests.forEach(expectRequest);
    expect(server.left).toBe(0);
    if (waits_ms === undefined) return;
    expect(waits).toHaveLength(waits_ms.length);
    waits_ms.forEach(([least, most], index) => {
      expect(waits[index]).toBeGreaterThanOrEqual(least);
      expect(waits[index]).toBeLessThanOrEqual(most);
    });
  });
});

/** The outcome of the call: in the form of a vector's outcome, or the error itself. */
async function play(vector: Vector, waits: number[]): Promise<unknown> {
  const { max_retries, timeout_ms, api_key = "ryp_vector", team, headers } = vector.client;
  const client = new Runyard({
    baseURL: server.api,
    apiKey: api_key,
    maxRetries: max_retries,
    timeout: timeout_ms,
    team,
    headers,
    sleep: async (ms) => {
      waits.push(ms);
    },
  });
  try {
    const called = call(client, vector.call);
    if (vector.call.helper === "events") return { items: await collectItems(called) };
    const response = await called;
    if (response instanceof Response) return { text: await response.text() };
    if (response instanceof Page) return { items: await collectItems(response) };
    return { result: response ?? null };
  } catch (error) {
    if (error instanceof APIError) return error;
    throw error;
  }
}

async function collectItems(list: unknown): Promise<unknown[]> {
  if (!isAsyncIterable(list)) throw new Error("this is no list");
  const items: unknown[] = [];
  for await (const item of list) items.push(item);
  return items;
}

const isAsyncIterable = (value: unknown): value is AsyncIterable<unknown> =>
  typeof value === "object" && value !== null && Symbol.asyncIterator in value;

const KINDS: Readonly<Record<ExpectedError["kind"], typeof APIError>> = {
  bad_request: BadRequestError,
  authentication: AuthenticationError,
  permission_denied: PermissionDeniedError,
  not_found: NotFoundError,
  conflict: ConflictError,
  unprocessable_entity: UnprocessableEntityError,
  rate_limit: RateLimitError,
  internal_server: InternalServerError,
  status: APIError,
  connection: APIConnectionError,
  timeout: APITimeoutError,
};

function expectError(outcome: unknown, { kind, ...members }: ExpectedError): void {
  if (!(outcome instanceof APIError)) throw new Error(`no error, but ${JSON.stringify(outcome)}`);
  expect(outcome.name).toBe(KINDS[kind].name);
  expect(outcome).toBeInstanceOf(KINDS[kind]);
  const own = {
    status: outcome.status,
    error_code: outcome.errorCode,
    title: outcome.title,
    detail: outcome.detail,
    retryable: outcome.retryable,
    trace_id: outcome.traceId,
    request_id: outcome.requestId,
    errors: outcome.errors,
  };
  expect(own).toMatchObject(members);
}

function expectRequest(expected: ExpectedRequest, index: number): void {
  const seen = server.seen[index];
  if (seen === undefined) throw new Error(`there is no request ${index}`);
  const at = expected.at ?? (expected.path === undefined ? seen.at : "api");
  expect(seen.at).toBe(at);
  expect(seen.method).toBe(expected.method ?? seen.method);
  expect(seen.path).toBe(expected.path ?? seen.path);
  if (expected.query !== undefined) expect(parseQuery(seen)).toEqual(expected.query);
  for (const part of expected.raw_query_contains) expect(seen.rawQuery).toContain(part);
  for (const [name, rule] of Object.entries(expected.headers)) expectHeader(name, seen.headers[name], rule);
  for (const name of expected.absent_headers) expect(seen.headers).not.toHaveProperty(name);
  if (expected.body === null) expect(seen.body).toBe("");
  else if (expected.body !== undefined) expect(JSON.parse(seen.body)).toEqual(expected.body);
}

function expectHeader(name: string, value: string | undefined, rule: HeaderRule): void {
  if (typeof rule === "string") expect(value).toBe(rule);
  else if ("matches" in rule) expect(value).toMatch(new RegExp(rule.matches));
  else if ("same_as" in rule) expect(value).toBe(server.seen[rule.same_as]?.headers[name] ?? "a header that was there");
  else expect(value).not.toBe(server.seen[rule.differs_from]?.headers[name]);
}

function parseQuery({ rawQuery }: Seen): Record<string, string | string[]> {
  const parameters = new URLSearchParams(rawQuery);
  return Object.fromEntries(
    [...new Set(parameters.keys())].map((name) => {
      const values = parameters.getAll(name);
      return [name, values.length === 1 ? (values[0] ?? "") : values];
    }),
  );
}
