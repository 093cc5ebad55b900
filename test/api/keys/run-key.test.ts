import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as v from "valibot";
import { beforeEach, describe, expect, it } from "vitest";
import { routes } from "#infra/routes.ts";
import { createClient } from "../../support/client.ts";
import { createTestControlPlane, type ResponseBody, type TestControlPlane } from "../../support/control-plane.ts";
import {
  createRun,
  deliver,
  type Harness,
  nextExecution,
  said,
  startedRun,
  workingRun,
} from "../../support/execution.ts";

const Matrix = v.record(v.string(), v.record(v.string(), v.number()));
const matrix = v.parse(Matrix, JSON.parse(readFileSync(join(import.meta.dirname, "principals.matrix.json"), "utf8")));

/**
 * Routes open to a run's key: reading its run and descendants, creating and steering children, reporting on its execution. The
 * tools of the MCP server check what they stand for (mcp-server.test.ts).
 */
const OPEN = [
  "POST /agent/runs",
  "POST /agent/run",
  "GET /agent/runs",
  "GET /agent/runs/{runId}",
  "POST /agent/runs/{runId}/cancel",
  "POST /agent/runs/{runId}/followups",
  "GET /agent/runs/{runId}/followups",
  "PUT /agent/runs/{runId}/followups/{followupId}",
  "DELETE /agent/runs/{runId}/followups/{followupId}",
  "POST /agent/runs/{runId}/followups/{followupId}/promote",
  "POST /agent/runs/{runId}/interrupt",
  "POST /agent/runs/{runId}/attachments/prepare",
  "POST /agent/runs/{runId}/attachments/download",
  "GET /agent/run-by-external-reference",
  "GET /agent/runs/{runId}/timeline",
  "GET /agent/runs/{runId}/conversation",
  "GET /agent/runs/{runId}/transcript",
  "GET /agent/runs/{runId}/handoff/attachments",
  "GET /agent/runs/{runId}/events",
  "GET /agent/runs/{runId}/response",
  "GET /agent/conversations/{conversationId}",
  "GET /agent/conversations/{conversationId}/transcript",
  "POST /agent/conversations/{conversationId}/interrupt",
  "POST /agent/conversations/{conversationId}/attachments/prepare",
  "POST /agent/conversations/{conversationId}/followups",
  "GET /agent/artifacts/{artifactUid}",
  "GET /agent/artifacts/{artifactUid}/download",
  "POST /agent/attachments",
  "GET /agent/models",
  "POST /mcp",
];
/** Routes that act only on the calling run. */
const OWN = /^POST \/harness-support\/|^GET \/harness-support\/|^POST \/agent\/runs\/\{runId\}\/client-events$/;
const isOpen = (route: string) => OPEN.includes(route) || OWN.test(route);

describe("a run's key", () => {
  const all = routes
    .filter(({ path }) => path !== "*")
    .map((route) => ({ ...route, name: `${route.method} ${route.path}` }));

  // @contract general.run-key.others
  it("is accepted by exactly the documented routes", () => {
    const allowed = all.filter(({ who }) => who !== "public" && who.includes("run")).map(({ name }) => name);
    expect(allowed.filter((name) => !isOpen(name))).toEqual([]);
    expect(OPEN.filter((name) => !allowed.includes(name))).toEqual([]);
  });

  it.each(all.map(({ name, who }) => [name, who] as const))(
    "is tested on %s: valid, revoked, and by another run",
    (name, who) => {
      const row = matrix[name] ?? {};
      const {
        "the run itself": own = 0,
        "another run of the team": other = 0,
        "the run's dead execution": dead = 0,
      } = row;
      if (who === "public") return expect(own).toBe(row["creator"]);
      expect(dead).toBe(401);
      // A request that ends the run also revokes its key.
      if (!isOpen(name)) return expect([own, other].filter((status) => status !== 403 && status !== 401)).toEqual([]);
      // A route with a run id is closed to other runs; a route without one acts on the calling run.
      if (/\{(runId|artifactUid|conversationId)\}/.test(name)) expect([403, 404]).toContain(other);
      return expect([200, 201, 302, 401, 403]).toContain(own);
    },
  );
});

let plane: TestControlPlane;
let run: Harness;
let other: Harness;
beforeEach(async () => {
  plane = await createTestControlPlane();
  run = await workingRun(plane);
  other = await workingRun(plane);
});

/** Expects that a request is refused and changes nothing. */
async function expectRefused(work: () => Promise<ResponseBody>, status: number, member?: string) {
  const before = structuredClone(plane.table.all());
  const response = await work();
  expect(response.status, JSON.stringify(response.body)).toBe(status);
  if (member !== undefined) expect(JSON.stringify(response.body)).toContain(member);
  expect(withoutHeartbeats(plane.table.all())).toEqual(withoutHeartbeats(before));
}
const withoutHeartbeats = (items: readonly object[]) => JSON.stringify(items).replaceAll(/"heartbeat_at":\d+,?/g, "");

const event = (fields: object = {}) => ({
  event_uuid: randomUUID(),
  event_name: "agent_started",
  timestamp: "2026-05-18T19:00:00Z",
  ...fields,
});

describe("forged reports", () => {
  it.each([
    "run_created",
    "run_started",
    "run_succeeded",
    "run_failed",
    "run_cancelled",
    "run_stopped",
    "run_queued",
    "made_up",
    "",
  ])("an event named %j is refused with 400: run_ is reserved for the service", async (event_name) =>
    expectRefused(() => run.event(event({ event_name })), 400, "event_name"),
  );

  it("an event of another run is refused with 403, and one with a manipulated path with 404", async () => {
    const child = await createRun(plane, { prompt: "child", parent_run_id: run.run_id });
    const post = (id: string, client = run.client) => client.post(`/agent/runs/${id}/client-events`, event());
    await expectRefused(() => post(other.run_id), 403);
    await expectRefused(() => post(child), 403);
    await expectRefused(() => post(randomUUID()), 403);
    await expectRefused(() => post("..%2F..%2Fharness-support"), 404);
  });

  it("messages and heartbeats of another execution, or of an expired one of its own, are refused with 401", async () => {
    const batch = { first_sequence: 1, messages: [said("hello")] };
    await expectRefused(() => run.support("messages", { ...batch, execution_id: other.execution_id }), 401);
    await expectRefused(() => run.support("messages", { ...batch, execution_id: randomUUID() }), 401);
    await expectRefused(() => run.support("heartbeat", { execution_id: other.execution_id, followups_stored: 0 }), 401);
    await run.shutDown({ error: { category: "test", message: "gone" } });
    await nextExecution(plane);
    await expectRefused(() => run.support("messages", { ...batch, execution_id: run.execution_id }), 401);
  });

  it("messages of an unknown role are refused with 400", async () => {
    for (const role of ["developer", "service", "", "USER"])
      await expectRefused(
        () =>
          run.support("messages", {
            execution_id: run.execution_id,
            first_sequence: 1,
            messages: [{ ...said("x"), role }],
          }),
        400,
      );
  });

  it("follow-ups that were never sent cannot be confirmed", async () => {
    await expectRefused(() => run.beat(1), 400, "followups_stored");
    await expectRefused(() => run.beat(-1), 400);
  });

  it("an end with an error code of the platform is refused with 400", async () => {
    for (const error_code of ["internal_error", "resource_unavailable", "not_authorized", "budget_exceeded", "made_up"])
      await expectRefused(
        () => run.support("finish-task", { success: false, summary: "x", error_code }),
        400,
        "error_code",
      );
    await expectRefused(
      () => run.support("finish-task", { success: true, summary: "x".repeat(65_537) }),
      400,
      "summary",
    );
  });

  it("a report of another harness of the same execution is refused with 409", async () => {
    const body = { success: true, summary: "mine" };
    await expectRefused(
      () => run.client.post("/harness-support/finish-task", body, { headers: { "runyard-instance": "another" } }),
      409,
    );
  });
});

describe("children created with a run's key", () => {
  const child = (body: object) => () =>
    run.client.post("/agent/runs", { prompt: "child", parent_run_id: run.run_id, ...body });
  const config = (config: object) => child({ config });

  it("cannot have a foreign environment, repository or sign-in: 403 names the member", async () => {
    const environment_id = (await createClient(plane).post("/agent/environments", { name: "E" })).body.uid;
    await expectRefused(config({ environment_id }), 403, "environment_id");
    await expectRefused(config({ repositories: [{ url: "https://github.com/acme/vault" }] }), 403, "repositories");
    await expectRefused(
      config({ harness_auth_secrets: { claude_auth_secret_name: "X" } }),
      403,
      "harness_auth_secrets",
    );
  });

  it("cannot have another identity, person, owner or source, or a parent outside of the run's own tree", async () => {
    const identity = await plane.agent("stronger");
    await expectRefused(child({ agent_identity_uid: identity.uid }), 403);
    await expectRefused(child({ on_behalf_of: plane.user }), 400, "on_behalf_of");
    const personal = (await child({ team: false })()).body.run_id;
    expect((await createClient(plane).get(`/agent/runs/${personal}`)).body.scope.type).toBe("Team");
    await expectRefused(child({ parent_run_id: other.run_id }), 400, "parent_run_id");
    await expectRefused(child({ conversation_id: other.run_id }), 400, "conversation_id");
    const made = await run.client.post("/agent/runs", { prompt: "child" }, { headers: { "x-run-source": "WEB_APP" } });
    const { source, parent_run_id } = (await createClient(plane).get(`/agent/runs/${made.body.run_id}`)).body;
    expect([source, parent_run_id]).toEqual(["ORCHESTRATION", run.run_id]);
  });

  it("cannot have a larger budget than is left", async () => {
    const model = { model_id: "local/runbook" };
    const rich = await startedRun(plane, { prompt: "x", config: { ...model, budget_usd: 1 } });
    await rich.resolve();
    const before = plane.table.all().length;
    const response = await rich.client.post("/agent/runs", { prompt: "child", config: { budget_usd: 5 } });
    expect([400, 403]).toContain(response.status);
    expect(plane.table.all().length).toBe(before);
  });

  it("return 429 above 100", async () => {
    for (let made = 0; made < 100; made++) expect((await child({ prompt: `child ${made}` })()).status).toBe(200);
    expect((await child({})()).status).toBe(429);
  });
});

// @contract general.run-key.others
describe("a run's key on other routes", () => {
  // @contract run-key.own: A key of a run steers descendants of the run, and not the run itself.
  it("reads, follows up and cancels descendants only: others return 403", async () => {
    const mine = await createRun(plane, { prompt: "child", parent_run_id: run.run_id });
    expect((await run.client.get(`/agent/runs/${mine}`)).status).toBe(200);
    for (const [method, path] of [
      ["get", ""],
      ["get", "/events"],
      ["get", "/conversation"],
      ["get", "/transcript"],
      ["get", "/timeline"],
      ["get", "/handoff/attachments"],
    ] as const)
      await expectRefused(() => run.client[method](`/agent/runs/${other.run_id}${path}`), 403);
    await expectRefused(() => run.client.post(`/agent/runs/${other.run_id}/cancel`, {}), 403);
    await expectRefused(() => run.client.post(`/agent/runs/${other.run_id}/followups`, { message: "x" }), 403);
    expect((await run.client.post(`/agent/runs/${mine}/followups`, { message: "more" })).status).toBe(200);
    expect((await run.client.post(`/agent/runs/${mine}/cancel`, {})).status).toBe(200);
    await expectRefused(() => run.client.post(`/agent/runs/${run.run_id}/cancel`, {}), 403);
    await expectRefused(() => run.client.post(`/agent/runs/${run.run_id}/followups`, { message: "x" }), 403);
  });

  it("cannot list: it reads runs by id", async () => {
    for (const query of ["", `?ancestor_run_id=${run.run_id}`, `?ancestor_run_id=${other.run_id}`])
      await expectRefused(() => run.client.get(`/agent/runs${query}`), 403);
  });

  it("is refused after its run has ended", async () => {
    await run.finish();
    await deliver(plane);
    for (const path of [`/agent/runs/${run.run_id}`, "/agent/runs", "/agent/models"])
      expect((await run.client.get(path)).status).toBe(401);
    expect((await run.client.post("/agent/runs", { prompt: "after the end" })).status).toBe(401);
  });
});

describe("a report of a run", () => {
  const report = (artifact_type: string, data: object) => () => run.support("report-artifact", { artifact_type, data });
  const file = { filepath: "a.txt", filename: "a.txt", mime_type: "text/plain", size_bytes: 1, sha256: "1".repeat(64) };

  it.each([
    "javascript:alert(1)",
    "JaVaScRiPt:alert(1)//https://x.test",
    "http://x.test/",
    "data:text/html,<script>alert(1)</script>",
    "//x.test/",
    "https://user:password@x.test/",
    "https:/x.test",
    "https://x.test\\@evil.test/",
    " https://x.test/",
    "https://x.test/\nnext",
    "vbscript:x",
    "file:///etc/passwd",
    "https://",
    `https://x.test/${"a".repeat(2048)}`,
  ])("cannot contain the address %j in any member: 400", async (url) => {
    await expectRefused(report("PULL_REQUEST", { url, branch: "b" }), 400, "url");
    await expectRefused(report("EXTERNAL_REFERENCE", { reference_type: "issue", url }), 400, "url");
    await expectRefused(report("PLAN", { content: "x", url }), 400, "url");
  });

  it.each(["../a", "a/../../b", "/etc/passwd", "..", "a/..", "./a", "a\0b", "", "x".repeat(1025)])(
    "cannot contain the path %j: 400",
    async (filepath) => expectRefused(report("FILE", { ...file, filepath }), 400, "filepath"),
  );

  it.each([
    ["a filename with a slash", { filename: "a/b" }],
    ["a malformed type", { mime_type: "text" }],
    ["a type with a line break", { mime_type: "text/plain;\r\nx: y" }],
    ["more than five GiB", { size_bytes: 5 * 1024 ** 3 + 1 }],
    ["a negative size", { size_bytes: -1 }],
    ["a fractional size", { size_bytes: 0.5 }],
    ["a malformed checksum", { sha256: "z".repeat(64) }],
  ])("cannot contain a file with %s: 400", async (_, wrong) =>
    expectRefused(report("FILE", { ...file, ...wrong }), 400),
  );

  it("is bound to its length and checksum: an upload of other bytes stays invisible", async () => {
    const { body } = await report("FILE", { ...file, size_bytes: 3 })();
    await plane.upload(body.upload.url, "longer than declared");
    await report("FILE", { ...file, size_bytes: 3 })();
    expect((await createClient(plane).get(`/agent/artifacts/${body.artifact_uid}`)).status).toBe(404);
  });

  it.each([
    "acme/shop:../../etc/passwd.md",
    "acme/shop:/etc/passwd",
    "acme/shop:a/../../b.md",
    "../..:x",
    "acme/shop",
    "acme/shop:..",
  ])("cannot contain a skill at %j: 400", async (path) => {
    const skilled = await startedRun(plane, {
      prompt: "x",
      config: { skill_spec: "acme/shop:review", repositories: [{ url: "https://github.com/acme/shop" }] },
    });
    await skilled.resolve();
    await expectRefused(
      () => skilled.support("resolve-prompt", { skill: { name: "x", content: "y", path } }),
      400,
      "skill.path",
    );
  });

  it.each(["acme/shop:../../etc/passwd.md", "acme/shop:/etc/passwd", "acme/shop:a/../b", "shop:..", "shop:./x"])(
    "cannot start from the skill %j: 400",
    async (skill) => expectRefused(() => createClient(plane).post("/agent/runs", { skill }), 400, "skill"),
  );

  it("accepts only file names in snapshots", async () => {
    const snapshot =
      (filename: string, more: object = {}) =>
      () =>
        run.support("upload-snapshot", {
          mode: "checkpoint",
          generation: "g",
          files: [{ filename, mime_type: "application/gzip", size_bytes: 1, sha256: "1".repeat(64) }],
          ...more,
        });
    for (const name of ["../a", "a/b", "", "x".repeat(256), "a\0"])
      await expectRefused(snapshot(name), 400, "filename");
    for (const generation of ["../g", "g__h", "", "g/h"])
      await expectRefused(snapshot("a", { generation }), 400, "generation");
    await expectRefused(() => run.support("commit-snapshot", { generation: "never", files: ["a"] }), 400, "generation");
  });

  it("returns 413 above four MiB per request", async () => {
    const text = "x".repeat(4 * 1024 * 1024);
    await expectRefused(
      () => run.support("messages", { execution_id: run.execution_id, first_sequence: 1, messages: [said(text)] }),
      413,
    );
  });
});
