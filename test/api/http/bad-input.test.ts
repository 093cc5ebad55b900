import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, it } from "vitest";
import { type RequestOptions, request } from "../../support/client.ts";
import { createTestControlPlane, type TestControlPlane } from "../../support/control-plane.ts";
import { createRun, type Harness, workingRun } from "../../support/execution.ts";

let plane: TestControlPlane;
let run: string;
let harness: Harness;
let foreign: string;
beforeAll(async () => {
  plane = await createTestControlPlane();
  run = await createRun(plane);
  harness = await workingRun(plane);
  foreign = await createRun(plane, { prompt: "theirs" }, plane.otherKey);
});

interface Case {
  readonly name: string;
  readonly send: () => readonly [method: string, target: string, options?: RequestOptions];
  readonly status: number;
  readonly code?: string;
  /** Path of the first entry of `errors`. */
  readonly path?: string;
  readonly detail?: RegExp;
}

/** A create request with this body, or with this member in addition to a valid prompt. */
const create = (body: unknown) => () => ["POST", "/agent/runs", { body }] as const;
const member = (name: string, value: unknown) => create({ prompt: "hello", [name]: value });
const config = (name: string, value: unknown) => member("config", { [name]: value });
const raw =
  (body: string | Buffer, headers: Record<string, string> = {}) =>
  () =>
    ["POST", "/agent/runs", { body, headers }] as const;
const list = (query: string) => () => ["GET", `/agent/runs?${query}`] as const;
const followup = (body: unknown) => () => ["POST", `/agent/runs/${run}/followups`, { body }] as const;
const support = (call: string, body: unknown) => () =>
  ["POST", `/harness-support/${call}`, { key: harness.key, body }] as const;
const clientEvent = (body: Record<string, unknown>) => () =>
  [
    "POST",
    `/agent/runs/${harness.run_id}/client-events`,
    {
      key: harness.key,
      body: { event_uuid: "e", event_name: "agent_started", timestamp: "2026-05-18T19:00:00Z", ...body },
    },
  ] as const;
const message = (content: unknown) =>
  support("messages", { execution_id: "x", first_sequence: 1, messages: [{ role: "assistant", content }] });
const artifact = (data: Record<string, unknown>) =>
  support("report-artifact", {
    artifact_type: "FILE",
    data: { filepath: "a", filename: "a", mime_type: "text/plain", size_bytes: 1, sha256: "0".repeat(64), ...data },
  });
const entries = (count: number, value: unknown) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, value]));

const cases: Record<string, readonly Case[]> = {
  "a body that is not a JSON object": [
    { name: "no JSON", send: raw("prompt=hello"), status: 400, detail: /^body: is not JSON$/ },
    { name: "JSON that is cut off", send: raw('{"prompt": "hel'), status: 400, detail: /^body: / },
    { name: "bytes that are no UTF-8", send: raw(Buffer.from([0x22, 0xff, 0x22])), status: 400, detail: /UTF-8/ },
    { name: "an array", send: create([]), status: 400, path: "body" },
    { name: "a string", send: raw('"hello"'), status: 400, path: "body" },
    { name: "null", send: raw("null"), status: 400, path: "body" },
    { name: "nothing", send: () => ["POST", "/agent/runs"], status: 400, path: "prompt" },
    { name: "arrays in arrays without end", send: raw("[".repeat(200_000) + "]".repeat(200_000)), status: 400 },
    { name: "another content type", send: raw('{"prompt":"a"}', { "content-type": "text/plain" }), status: 415 },
    { name: "a form", send: raw("prompt=a", { "content-type": "application/x-www-form-urlencoded" }), status: 415 },
    { name: "no content type", send: raw('{"prompt":"a"}', { "content-type": "" }), status: 415 },
    { name: "a compressed body", send: raw('{"prompt":"a"}', { "content-encoding": "gzip" }), status: 415 },
    { name: "more than 4 MiB", send: raw(`{"prompt":"${"a".repeat(4 * 1024 * 1024)}"}`), status: 413 },
    {
      name: "more than 4 MiB of binary input",
      send: raw(Buffer.alloc(4 * 1024 * 1024 + 1, 0x20)),
      status: 413,
    },
  ],
  "a run without a task": [
    { name: "an empty object", send: create({}), status: 400, path: "prompt" },
    { name: "an empty prompt", send: create({ prompt: "" }), status: 400, path: "prompt" },
    { name: "a blank prompt", send: create({ prompt: " \n\t " }), status: 400, path: "prompt" },
    { name: "an empty list of skills", send: create({ config: { skills: [] } }), status: 400, path: "prompt" },
  ],
  "members of the wrong type": [
    { name: "prompt", send: create({ prompt: 7 }), status: 400, path: "prompt" },
    { name: "prompt null", send: create({ prompt: null }), status: 400, path: "prompt" },
    { name: "title", send: member("title", ["a"]), status: 400, path: "title" },
    { name: "title null", send: member("title", null), status: 400, path: "title" },
    { name: "team", send: member("team", "true"), status: 400, path: "team" },
    { name: "mode", send: member("mode", "fast"), status: 400, path: "mode" },
    { name: "interactive", send: member("interactive", 1), status: 400, path: "interactive" },
    { name: "execution_location", send: member("execution_location", "MOON"), status: 400, path: "execution_location" },
    { name: "config", send: member("config", "local/runbook"), status: 400, path: "config" },
    {
      name: "idle_timeout_minutes -1",
      send: config("idle_timeout_minutes", -1),
      status: 400,
      path: "config.idle_timeout_minutes",
    },
    {
      name: "idle_timeout_minutes 61",
      send: config("idle_timeout_minutes", 61),
      status: 400,
      path: "config.idle_timeout_minutes",
    },
    {
      name: "idle_timeout_minutes 1.5",
      send: config("idle_timeout_minutes", 1.5),
      status: 400,
      path: "config.idle_timeout_minutes",
    },
    {
      name: "computer_use_enabled",
      send: config("computer_use_enabled", "yes"),
      status: 400,
      path: "config.computer_use_enabled",
    },
    { name: "a skill without its form", send: member("skill", "review"), status: 400, path: "skill" },
    {
      name: "a malformed skill_spec",
      send: config("skill_spec", "a b:c d e/"),
      status: 400,
      path: "config.skill_spec",
    },
    {
      name: "an unknown harness",
      send: config("harness", { type: "vim" }),
      status: 400,
      path: "config.harness.type",
    },
    { name: "an unknown model", send: config("model_id", "gpt-0"), status: 400, path: "config.model_id" },
    {
      name: "an unknown environment",
      send: config("environment_id", randomUUID()),
      status: 400,
      path: "config.environment_id",
    },
    {
      name: "an MCP server with a command and a URL",
      send: config("mcp_servers", { a: { command: "a", url: "https://a.test" } }),
      status: 400,
    },
    { name: "an MCP server with neither", send: config("mcp_servers", { a: {} }), status: 400 },
    {
      name: "a repository by ftp",
      send: config("repositories", [{ url: "ftp://a.test/b" }]),
      status: 400,
      path: "config.repositories[0].url",
    },
    {
      name: "a repository outside the workspace",
      send: config("repositories", [{ url: "https://a.test/b", path: "../b" }]),
      status: 400,
    },
    {
      name: "a ref that is an option",
      send: config("repositories", [{ url: "https://a.test/b", ref: "--upload-pack=x" }]),
      status: 400,
    },
    {
      name: "a metadata key with a space",
      send: member("metadata", { "a b": "c" }),
      status: 400,
      path: "metadata.a b",
    },
    { name: "a metadata value that is a number", send: member("metadata", { a: 1 }), status: 400, path: "metadata.a" },
    {
      name: "a metadata key that would be lost",
      send: member("metadata", { constructor: "a" }),
      status: 400,
      path: "metadata.constructor",
    },
    {
      name: "a metadata filter that would be lost",
      send: list("metadata[constructor]=a"),
      status: 400,
      path: "metadata.constructor",
    },
    { name: "metadata that is a list", send: member("metadata", ["a"]), status: 400 },
    { name: "a configuration that is a list", send: member("config", []), status: 400, path: "config" },
    { name: "a payload that is a list", send: clientEvent({ payload: [] }), status: 400, path: "payload" },
    {
      name: "data that is not base64",
      send: member("attachments", [{ file_name: "a", mime_type: "a/b", data: "?" }]),
      status: 400,
    },
    {
      name: "a file name with a directory",
      send: member("attachments", [{ file_name: "a/b", mime_type: "a/b", data: "" }]),
      status: 400,
    },
    {
      name: "no media type",
      send: member("attachments", [{ file_name: "a", mime_type: "text", data: "" }]),
      status: 400,
    },
    {
      name: "an attachment that was not uploaded",
      send: member("attachments", [{ attachment_id: "a" }]),
      status: 400,
      path: "attachments[0].attachment_id",
    },
    {
      name: "images and attachments",
      send: create({ prompt: "a", images: [], attachments: [] }),
      status: 400,
      path: "images",
    },
    { name: "a follow-up that is a number", send: followup({ message: 5 }), status: 400, path: "message" },
    { name: "a follow-up that is null", send: followup(null), status: 400, path: "body" },
    { name: "no message for a run that has not ended", send: followup({}), status: 400, path: "message" },
    { name: "an empty message", send: followup({ message: "" }), status: 400, path: "message" },
    { name: "force=yes", send: () => ["POST", `/agent/runs/${run}/cancel?force=yes`], status: 400, path: "force" },
    { name: "force=TRUE", send: () => ["POST", `/agent/runs/${run}/cancel?force=TRUE`], status: 400, path: "force" },
  ],
  "values that are too long": [
    { name: "a prompt over 256 KiB", send: create({ prompt: "é".repeat(131_073) }), status: 400, path: "prompt" },
    { name: "a title over 512 characters", send: member("title", "t".repeat(513)), status: 400, path: "title" },
    { name: "a name over 256 characters", send: config("name", "😀".repeat(257)), status: 400, path: "config.name" },
    {
      name: "a base_prompt over 64 KiB",
      send: config("base_prompt", "b".repeat(65_537)),
      status: 400,
      path: "config.base_prompt",
    },
    { name: "a skill over 512 bytes", send: member("skill", `a:${"b".repeat(511)}`), status: 400, path: "skill" },
    {
      name: "a model id over 512 bytes",
      send: config("model_id", "m".repeat(513)),
      status: 400,
      path: "config.model_id",
    },
    {
      name: "eleven repositories",
      send: config("repositories", Array(11).fill({ url: "https://a.test/b" })),
      status: 400,
      path: "config.repositories",
    },
    { name: "21 metadata keys", send: member("metadata", entries(21, "v")), status: 400, path: "metadata" },
    { name: "a metadata key of 65 characters", send: member("metadata", { ["k".repeat(65)]: "v" }), status: 400 },
    {
      name: "a metadata value of 257 bytes",
      send: member("metadata", { a: "v".repeat(257) }),
      status: 400,
      path: "metadata.a",
    },
    {
      name: "six attachments",
      send: member("attachments", Array(6).fill({ file_name: "a", mime_type: "a/b", data: "" })),
      status: 400,
      path: "attachments",
    },
    {
      name: "attachments over 2.9 MiB",
      send: member("attachments", [
        { file_name: "a", mime_type: "a/b", data: Buffer.alloc(3_040_871).toString("base64") },
      ]),
      status: 400,
      path: "attachments",
    },
    {
      name: "a configuration that is too large",
      send: config("mcp_servers", { a: { command: "a", env: entries(100, "v".repeat(8_192)) } }),
      status: 400,
      path: "config",
    },
    {
      name: "a follow-up over 256 KiB",
      send: followup({ message: "m".repeat(262_145) }),
      status: 400,
      path: "message",
    },
    {
      name: "an Idempotency-Key over 255 characters",
      send: () => ["POST", "/agent/runs", { body: { prompt: "a" }, headers: { "idempotency-key": "k".repeat(256) } }],
      status: 400,
      path: "Idempotency-Key",
    },
    {
      name: "an Idempotency-Key over 255 characters, for a run that does not exist",
      send: () => [
        "POST",
        "/agent/runs/0199e0b2-0000-7000-8000-000000000000/cancel",
        { headers: { "idempotency-key": "k".repeat(256) } },
      ],
      status: 400,
      path: "Idempotency-Key",
    },
    { name: "a filter over 512 bytes", send: list(`creator=${"c".repeat(513)}`), status: 400, path: "creator" },
    {
      name: "six metadata filters",
      send: list(
        Object.keys(entries(6, ""))
          .map((key) => `metadata[${key}]=v`)
          .join("&"),
      ),
      status: 400,
      path: "metadata",
    },
  ],
  "NUL and lone surrogates": [
    { name: "NUL in the prompt", send: raw('{"prompt":"a\\u0000b"}'), status: 400, path: "prompt" },
    { name: "a lone surrogate in the prompt", send: raw('{"prompt":"a\\ud800b"}'), status: 400, path: "prompt" },
    {
      name: "NUL deep in the configuration",
      send: raw('{"prompt":"a","config":{"skills":["a:b","\\u0000"]}}'),
      status: 400,
      path: "config.skills[1]",
    },
    { name: "NUL in a name", send: raw('{"prompt":"a","metadata":{"a\\u0000":"b"}}'), status: 400, path: "metadata" },
    {
      name: "a lone surrogate in an unknown member",
      send: raw('{"prompt":"a","other":"\\udfff"}'),
      status: 400,
      path: "other",
    },
    { name: "NUL in a follow-up", send: followup({ message: "a\u0000" }), status: 400, path: "message" },
    { name: "NUL in a filter", send: list("name=a%00b"), status: 400, path: "name" },
    { name: "a lone surrogate in a filter", send: list("name=%ED%A0%80"), status: 400, path: "name" },
    {
      name: "NUL in a message",
      send: message([{ type: "text", text: "\u0000" }]),
      status: 400,
      path: "messages[0].content[0].text",
    },
  ],
  "queries of the list": [
    { name: "limit 0", send: list("limit=0"), status: 400, path: "limit" },
    { name: "limit 501", send: list("limit=501"), status: 400, path: "limit" },
    { name: "limit -1", send: list("limit=-1"), status: 400, path: "limit" },
    { name: "limit 1e2", send: list("limit=1e2"), status: 400, path: "limit" },
    { name: "limit twice", send: list("limit=20&limit=20"), status: 400, path: "limit" },
    { name: "a state that is none", send: list("state=DONE"), status: 400, path: "state" },
    { name: "a state in lower case", send: list("state=queued"), status: 400, path: "state" },
    { name: "two states in one", send: list("state=QUEUED,FAILED"), status: 400, path: "state" },
    { name: "sort_by of no kind", send: list("sort_by=size"), status: 400, path: "sort_by" },
    { name: "sort_order of no kind", send: list("sort_order=up"), status: 400, path: "sort_order" },
    { name: "name twice", send: list("name=a&name=b"), status: 400, path: "name" },
    {
      name: "a metadata filter twice",
      send: list("metadata[a]=b&metadata%5Ba%5D=c"),
      status: 400,
      path: "metadata[a]",
    },
    {
      name: "created_after that is not a time",
      send: list("created_after=yesterday"),
      status: 400,
      path: "created_after",
    },
    { name: "a day without a time", send: list("created_before=2026-05-18"), status: 400, path: "created_before" },
    {
      name: "a day that its month does not have",
      send: list("updated_after=2026-02-30T00:00:00Z"),
      status: 400,
      path: "updated_after",
    },
    {
      name: "an hour that does not exist",
      send: list("updated_after=2026-02-20T25:00:00Z"),
      status: 400,
      path: "updated_after",
    },
    { name: "a cursor that is none", send: list("cursor=abc"), status: 400, path: "cursor" },
    {
      name: "a cursor with another signature",
      send: list(
        `cursor=${Buffer.from('{"v":1,"k":"1","b":"","a":"x"}').toString("base64url")}.AAAAAAAAAAAAAAAAAAAAAA`,
      ),
      status: 400,
      path: "cursor",
    },
    {
      name: "an unknown execution_location",
      send: list("execution_location=HOME"),
      status: 400,
      path: "execution_location",
    },
    {
      name: "a negative after",
      send: () => ["GET", `/agent/runs/${run}/events?after=-1`],
      status: 400,
      path: "after",
    },
    { name: "wait over 25", send: () => ["GET", `/agent/runs/${run}/events?wait=26`], status: 400, path: "wait" },
    { name: "wait twice", send: () => ["GET", `/agent/runs/${run}/events?wait=0&wait=0`], status: 400, path: "wait" },
  ],
  "calls of a harness": [
    {
      name: "no messages",
      send: support("messages", { execution_id: "x", first_sequence: 1, messages: [] }),
      status: 400,
      path: "messages",
    },
    {
      name: "message number 0",
      send: support("messages", { execution_id: "x", first_sequence: 0, messages: [{ role: "user", content: [] }] }),
      status: 400,
      path: "first_sequence",
    },
    {
      name: "an unknown role",
      send: support("messages", { execution_id: "x", first_sequence: 1, messages: [{ role: "boss", content: [] }] }),
      status: 400,
      path: "messages[0].role",
    },
    {
      name: "an unknown block type",
      send: message([{ type: "video" }]),
      status: 400,
      path: "messages[0].content[0].type",
    },
    {
      name: "an unknown category",
      send: message([{ type: "action", id: "a", category: "magic", name: "n", input: {} }]),
      status: 400,
      path: "messages[0].content[0].category",
    },
    {
      name: "messages of another execution",
      send: support("messages", { execution_id: "x", first_sequence: 1, messages: [{ role: "user", content: [] }] }),
      status: 401,
      code: "authentication_required",
    },
    {
      name: "a heartbeat without numbers",
      send: support("heartbeat", { execution_id: "x" }),
      status: 400,
      path: "followups_stored",
    },
    {
      name: "a heartbeat with unknown follow-ups",
      send: () => [
        "POST",
        "/harness-support/heartbeat",
        { key: harness.key, body: { execution_id: harness.execution_id, followups_stored: 1 } },
      ],
      status: 400,
      path: "followups_stored",
    },
    { name: "no success member", send: support("finish-task", { summary: "s" }), status: 400, path: "success" },
    {
      name: "an error code reserved for the service",
      send: support("finish-task", { success: false, summary: "s", error_code: "internal_error" }),
      status: 400,
      path: "error_code",
    },
    {
      name: "an unknown artifact type",
      send: support("report-artifact", { artifact_type: "SONG", data: {} }),
      status: 400,
      path: "artifact_type",
    },
    {
      name: "an artifact outside its directory",
      send: artifact({ filepath: "a/../../b" }),
      status: 400,
      path: "data.filepath",
    },
    {
      name: "an artifact at the root",
      send: artifact({ filepath: "/etc/passwd" }),
      status: 400,
      path: "data.filepath",
    },
    { name: "a file name with a slash", send: artifact({ filename: "a/b" }), status: 400, path: "data.filename" },
    { name: "a negative size", send: artifact({ size_bytes: -1 }), status: 400, path: "data.size_bytes" },
    {
      name: "more than 5 GiB",
      send: artifact({ size_bytes: 5 * 1024 ** 3 + 1 }),
      status: 400,
      path: "data.size_bytes",
    },
    { name: "a checksum that is none", send: artifact({ sha256: "abc" }), status: 400, path: "data.sha256" },
    {
      name: "an event reserved for the service",
      send: clientEvent({ event_name: "run_succeeded" }),
      status: 400,
      path: "event_name",
    },
    { name: "an event at no time", send: clientEvent({ timestamp: "now" }), status: 400, path: "timestamp" },
    { name: "an event without an id", send: clientEvent({ event_uuid: "" }), status: 400, path: "event_uuid" },
    {
      name: "a negative latency",
      send: clientEvent({ payload: { latency_ms: -1 } }),
      status: 400,
      path: "payload.latency_ms",
    },
    {
      name: "an infinite latency",
      send: () => [
        "POST",
        `/agent/runs/${harness.run_id}/client-events`,
        {
          key: harness.key,
          body: '{"event_uuid":"e","event_name":"agent_started","timestamp":"2026-05-18T19:00:00Z","payload":{"latency_ms":1e400}}',
        },
      ],
      status: 400,
      path: "payload.latency_ms",
    },
    {
      name: "a latency that the table cannot hold",
      send: clientEvent({ payload: { latency_ms: 1e200 } }),
      status: 400,
      path: "payload.latency_ms",
    },
  ],
  "credentials, scopes and paths": [
    {
      name: "no key",
      send: () => ["POST", "/agent/runs", { key: undefined, body: { prompt: "a" } }],
      status: 401,
      code: "authentication_required",
    },
    {
      name: "a malformed key",
      send: () => ["POST", "/agent/runs", { key: "secret", body: { prompt: "a" } }],
      status: 401,
      code: "authentication_required",
    },
    {
      name: "no key and no JSON",
      send: () => ["POST", "/agent/runs", { key: undefined, body: "{" }],
      status: 401,
      code: "authentication_required",
    },
    {
      name: "a team that the caller is not in",
      send: () => ["POST", "/agent/runs", { body: { prompt: "a" }, headers: { "x-team-uid": plane.otherTeam } }],
      status: 403,
      code: "not_authorized",
    },
    {
      name: "another's team by its older name",
      send: () => ["GET", "/agent/runs", { headers: { "x-warp-team-uid": plane.otherTeam } }],
      status: 403,
      code: "not_authorized",
    },
    {
      name: "a foreign team and a wrong body",
      send: () => ["POST", "/agent/runs", { body: { prompt: 1 }, headers: { "x-team-uid": plane.otherTeam } }],
      status: 400,
      path: "prompt",
    },
    {
      name: "another team's run",
      send: () => ["POST", `/agent/runs/${foreign}/cancel`],
      status: 404,
      code: "resource_not_found",
    },
    {
      name: "a follow-up to another team's run",
      send: () => ["POST", `/agent/runs/${foreign}/followups`, { body: { message: "a" } }],
      status: 404,
      code: "resource_not_found",
    },
    {
      name: "a wrong follow-up to a malformed run id",
      send: () => ["POST", "/agent/runs/none/followups", { body: { message: 7 } }],
      status: 400,
      path: "message",
    },
    {
      name: "another team's run as parent",
      send: () => ["POST", "/agent/runs", { body: { prompt: "a", parent_run_id: foreign } }],
      status: 400,
      path: "parent_run_id",
    },
    { name: "a malformed parent id", send: member("parent_run_id", "none"), status: 400, path: "parent_run_id" },
    {
      name: "another team's conversation",
      send: () => ["POST", "/agent/runs", { body: { prompt: "a", conversation_id: foreign } }],
      status: 400,
      path: "conversation_id",
    },
    {
      name: "an unknown identity",
      send: member("agent_identity_uid", randomUUID()),
      status: 400,
      path: "agent_identity_uid",
    },
    {
      name: "on_behalf_of by a person",
      send: member("on_behalf_of", "ada@runyard.test"),
      status: 400,
      path: "on_behalf_of",
    },
    { name: "a reserved worker", send: config("worker_host", "warp-1"), status: 400, path: "config.worker_host" },
    { name: "an unknown path", send: () => ["GET", "/agent/nothing"], status: 404, code: "resource_not_found" },
    {
      name: "an unknown path with a query",
      send: () => ["POST", "/agent/runs/a/b/c?d=e"],
      status: 404,
      code: "resource_not_found",
    },
    {
      name: "a trailing slash",
      send: () => ["POST", "/agent/runs/", { body: { prompt: "a" } }],
      status: 404,
      detail: /\/api\/v1\/agent\/runs has no slash/,
    },
    { name: "another method", send: () => ["DELETE", "/agent/runs"], status: 405, code: "invalid_request" },
    { name: "HEAD", send: () => ["HEAD", `/agent/runs/${run}`], status: 405, code: "invalid_request" },
  ],
};

describe.each(Object.entries(cases))("bad input: %s", (_, some) => {
  // @contract general.format.null: null is rejected for a member that is not nullable, and accepted otherwise.
  // @contract general.format.wrong-types: Members of a wrong type or value are refused with 400.
  // @contract general.errors.should-retry
  // @contract general.team.foreign
  // @contract general.order.head: HEAD is an unsupported method: 405.
  // @contract general.order.allow: A 405 lists the supported methods in Allow.
  // @contract general.order.credential-first: 401 comes before size, type and fields.
  // @contract general.order.fields: 400 comes before 403 and 404.
  // @contract general.path.slash: A path with a trailing slash is unknown, and the 404 names the intended path.
  // @contract general.query.twice: A repeated parameter with a single value is 400.
  // @contract general.query.comma: Values joined by a comma are 400.
  // @contract general.query.booleans: Booleans are exactly true or false.
  // @contract general.query.enums: Unknown values of an enumeration are 400.
  // @contract general.text.broken: NUL or a lone surrogate, in any place, is 400 and its path is named.
  // @contract general.limits.names: A name has at most 256 characters.
  // @contract general.limits.base-prompt: base_prompt has at most 64 KiB.
  // @contract general.limits.skills-ids: Skill specs and ids have at most 512 bytes.
  // @contract general.responses.encoded-request: A compressed request body is 415.
  // @contract errors.type: Errors are application/problem+json, also on unknown paths.
  // @contract errors.member.status: status repeats the HTTP status.
  // @contract errors.member.detail: detail describes this request's mistake, including the field.
  // @contract errors.member.instance: instance is the path of the request, without its query.
  // @contract errors.body.json: An invalid JSON body is 400 invalid_request.
  // @contract errors.body.type: A wrong content type is 415 invalid_request.
  // @contract errors.body.size: A body over the limit is 413 invalid_request.
  // @contract errors.unknown-path: An unknown path is 404.
  // @contract errors.other-method: An unsupported method on a known path is 405, and Allow lists the supported ones.
  // @contract runs.idempotency.length
  // @contract runs.request.prompt-size: prompt has at most 256 KiB.
  // @contract runs.request.prompt-required: prompt is required unless a skill or conversation_id is given.
  // @contract runs.request.title-size: title has at most 512 characters.
  // @contract runs.request.skill-forms
  // @contract runs.request.parent: parent_run_id must exist and be visible to the caller: else 400.
  // @contract runs.request.attachments: A run accepts at most five attachments.
  // @contract runs.request.attachments-shape: An inline attachment has file_name, mime_type and data in base64.
  // @contract runs.request.attachments-size: Inline attachments have at most 2.9 MiB together, decoded.
  // @contract runs.request.body-size: The whole body has at most 4 MiB.
  // @contract runs.request.images
  // @contract runs.request.interactive
  // @contract runs.request.mode
  // @contract runs.request.metadata-size: Metadata has at most 20 entries, with names of 64 plain characters and values of 256 bytes.
  // @contract runs.config.repositories: repositories has at most ten.
  // @contract runs.config.repository-urls
  // @contract runs.config.idle: idle_timeout_minutes is a whole number from 0 to 60.
  // @contract runs.config.harness-types
  // @contract runs.mcp.one-of: An MCP server has exactly one of warp_id, command and url.
  // @contract runs.list.limit
  // @contract runs.list.metadata
  // @contract runs.cursor.opaque
  // @contract runs.followups.message: message has 1 byte to 256 KiB.
  // @contract runs.followups.no-message
  // @contract runs.conversation.roles: A message is of user, assistant, tool or system.
  // @contract runs.conversation.blocks: A block is a text, an action, an action_result or an event.
  // @contract runs.conversation.categories: A category is one of eight.
  // @contract runs.artifact.other-kinds: Unknown kinds are rejected.
  it.each(some)("returns $status and stores nothing for $name", async ({ send, status, code, path, detail }) => {
    const before = structuredClone(plane.table.all());
    const files = [...plane.files.files.keys()];
    const sent = plane.sent.length;
    const [method, target, options] = send();
    const response = await request(plane, method, target, options);

    expect(response.status, JSON.stringify(response.body)).toBe(status);
    expect(response.headers["content-type"]).toBe("application/problem+json");
    expect(response.body).toMatchObject({
      status,
      instance: `/api/v1${target.split("?")[0]}`,
      error_code: code ?? expectedCode(status),
      retryable: false,
      trace_id: "request-1",
    });
    expect(response.headers["x-should-retry"]).toBe("false");
    expect(response.body.error).toBe(`${response.body.title} (${response.body.detail})`);
    if (path !== undefined) expect(response.body.errors?.[0]?.path, JSON.stringify(response.body)).toBe(path);
    if (path !== undefined) expect(response.body.detail).toContain(path);
    if (detail !== undefined) expect(response.body.detail).toMatch(detail);
    if (status === 401) expect(response.headers["www-authenticate"]).toBe("Bearer");
    if (status === 405) expect(response.headers["allow"]).toBe(target === "/agent/runs" ? "GET, POST" : "DELETE, GET");
    expect(plane.table.all()).toEqual(before);
    expect([...plane.files.files.keys()]).toEqual(files);
    expect(plane.sent).toHaveLength(sent);
  });
});

const expectedCode = (status: number): string => (status === 404 ? "resource_not_found" : "invalid_request");
