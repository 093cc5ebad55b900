import { describe, expect, it } from "vitest";
import { createClient } from "../../support/client.ts";
import { createTestControlPlane } from "../../support/control-plane.ts";

describe("an error", () => {
  // @contract general.responses.request-id
  // @contract errors.member.instance
  // @contract errors.member.trace-id: trace_id is the request's.
  it("has every member of a problem, and no other", async () => {
    const plane = await createTestControlPlane();
    const response = await createClient(plane).get("/agent/runs?limit=0&state=QUEUED");
    expect(response.status).toBe(400);
    expect(response.headers).toMatchObject({
      "content-type": "application/problem+json",
      "x-request-id": response.body.trace_id,
      "x-should-retry": "false",
    });
    expect(response.body).toEqual({
      type: "https://runyard.test/api/v1/docs/errors/invalid-request",
      title: "The request is not valid",
      status: 400,
      detail: expect.stringMatching(/^limit: /),
      instance: "/api/v1/agent/runs",
      error: `The request is not valid (${response.body.detail})`,
      error_code: "invalid_request",
      retryable: false,
      trace_id: "request-1",
      errors: [{ path: "limit", message: expect.any(String) }],
    });
  });

  // @contract errors.member.errors: errors has one entry of path and message for each wrong field.
  it("lists each of several wrong fields once", async () => {
    const plane = await createTestControlPlane();
    const response = await createClient(plane).post("/agent/runs", {
      prompt: 7,
      title: "t".repeat(513),
      mode: "fast",
      config: { idle_timeout_minutes: 61, repositories: [{ url: "https://git.test/a" }, { url: "ftp://git.test/b" }] },
      metadata: { "a key": "v" },
    });
    const paths = response.body.errors.map(({ path }: { path: string }) => path);
    expect(paths).toHaveLength(new Set(paths).size);
    expect(paths.toSorted()).toEqual(
      [
        "config.idle_timeout_minutes",
        "config.repositories[1].url",
        "metadata.a key",
        "mode",
        "prompt",
        "title",
      ].toSorted(),
    );
    for (const { message } of response.body.errors) expect(message).toMatch(/\w/);
    expect(response.body.detail).toContain("and 5 more");
  });

  // @contract errors.member.errors
  it("lists a field once if it is wrong in several ways", async () => {
    const plane = await createTestControlPlane();
    const listed = await createClient(plane).get("/agent/runs?created_after=tomorrow");
    expect(listed.body).toMatchObject({ status: 400, detail: expect.not.stringContaining("more") });
    expect(listed.body.errors).toEqual([{ path: "created_after", message: expect.stringContaining("RFC 3339") }]);
    const made = await createClient(plane).post("/agent/keys", { name: "laptop", expires_at: "tomorrow" });
    expect(made.body.errors).toEqual([{ path: "expires_at", message: expect.stringContaining("RFC 3339") }]);
  });
});
