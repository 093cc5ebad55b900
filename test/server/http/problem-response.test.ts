import { Socket } from "node:net";
import { describe, expect, it } from "vitest";
import { ERRORS } from "#shared/errors.ts";
import { type LocalProblem, rawProblem } from "../../../server/host/http/problem-response.ts";

const BASE_URL = "https://runyard.example.com/api/v1";
const parseBody = (response: string) => JSON.parse(response.slice(response.indexOf("\r\n\r\n")));

describe("a problem of the HTTP port itself", () => {
  it.each<LocalProblem>([
    { status: 400, code: "invalid_request" },
    { status: 503, code: "resource_unavailable", retryAfterSeconds: 7 },
    { status: 500, code: "internal_error", retryAfterSeconds: 7 },
  ])("$code has the title of the error, its page below the base URL, and when to retry", (problem) => {
    const { title, retryable } = ERRORS[problem.code];
    const response = rawProblem({ ...problem, detail: "why" }, new Socket(), BASE_URL);
    expect(parseBody(response)).toMatchObject({
      ...{ type: `${BASE_URL}/docs/errors/${problem.code.replace("_", "-")}`, title, status: problem.status },
      ...{ detail: "why", error: `${title} (why)`, error_code: problem.code, retryable },
    });
    expect([response.includes("retry-after: 7\r\n"), response.includes(`x-should-retry: ${retryable}\r\n`)]).toEqual([
      ...[retryable, true],
    ]);
  });

  it("names the API of the port on this machine where no base URL is configured", () => {
    const response = rawProblem({ status: 400, code: "invalid_request" }, new Socket());
    expect(parseBody(response).type).toBe("http://127.0.0.1:80/api/v1/docs/errors/invalid-request");
  });
});
