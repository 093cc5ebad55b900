import { describe, expect, it } from "vitest";
import { toApiEvent } from "#server/http/api-event.ts";

const socket = { remoteAddress: "192.0.2.7" };
const incoming = { method: "POST", url: "/api/v1/agent/runs?a=1&b=x?y", httpVersion: "1.1", rawHeaders: [], socket };
const request = { incoming, body: Buffer.alloc(0), routeKey: "POST /agent/runs", pathParameters: {} };

describe("toApiEvent", () => {
  it("has the format of API Gateway: lower-case headers, joined where repeated, cookies apart, the body in base64", () => {
    const rawHeaders = ["Host", "runyard.example.com:8080", "X-One", "1", "x-one", "2", "Cookie", "a=1; b=2;c=3"];
    const event = toApiEvent({
      ...request,
      incoming: { ...incoming, rawHeaders: [...rawHeaders, "User-Agent", "test", "__proto__", "x"] },
      body: Buffer.from("é"),
      pathParameters: { run_id: "r1" },
    });
    expect(event).toEqual({
      version: "2.0",
      routeKey: "POST /agent/runs",
      rawPath: "/api/v1/agent/runs",
      rawQueryString: "a=1&b=x?y",
      cookies: ["a=1", "b=2", "c=3"],
      headers: expect.anything(),
      requestContext: {
        accountId: "000000000000",
        apiId: "runyard",
        domainName: "runyard.example.com",
        domainPrefix: "runyard",
        http: {
          method: "POST",
          path: "/api/v1/agent/runs",
          protocol: "HTTP/1.1",
          sourceIp: "192.0.2.7",
          userAgent: "test",
        },
        requestId: expect.stringMatching(/^[0-9a-f-]{36}$/),
        routeKey: "POST /agent/runs",
        stage: "$default",
        time: new Date(event.requestContext.timeEpoch).toUTCString(),
        timeEpoch: expect.any(Number),
      },
      pathParameters: { run_id: "r1" },
      body: "w6k=",
      isBase64Encoded: true,
    });
    expect(Object.entries(event.headers)).toEqual([
      ["host", "runyard.example.com:8080"],
      ["x-one", "1,2"],
      ["user-agent", "test"],
      ["__proto__", "x"],
    ]);
  });

  it("has neither cookies nor a body where there are none, and a name and an address in any case", () => {
    const event = toApiEvent({
      ...request,
      incoming: { httpVersion: "1.0", rawHeaders: [], socket: { remoteAddress: undefined } },
    });
    expect(event).not.toHaveProperty("cookies");
    expect(event).not.toHaveProperty("body");
    expect(event).toMatchObject({
      rawPath: "/",
      rawQueryString: "",
      isBase64Encoded: false,
      requestContext: {
        domainName: "localhost",
        domainPrefix: "localhost",
        http: { method: "GET", sourceIp: "127.0.0.1", userAgent: "" },
      },
    });
  });
});
