import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as v from "valibot";
import { ResponseBody } from "./fault-server.ts";

const HeaderRule = v.union([
  v.string(),
  v.strictObject({ matches: v.string() }),
  v.strictObject({ same_as: v.number() }),
  v.strictObject({ differs_from: v.number() }),
]);
export type HeaderRule = v.InferOutput<typeof HeaderRule>;

const ExpectedRequest = v.strictObject({
  at: v.optional(v.picklist(["api", "storage"])),
  method: v.optional(v.string()),
  path: v.optional(v.string()),
  query: v.optional(v.record(v.string(), v.union([v.string(), v.array(v.string())]))),
  raw_query_contains: v.optional(v.array(v.string()), []),
  headers: v.optional(v.record(v.string(), HeaderRule), {}),
  absent_headers: v.optional(v.array(v.string()), []),
  body: v.optional(v.unknown()),
});
export type ExpectedRequest = v.InferOutput<typeof ExpectedRequest>;

const ExpectedError = v.strictObject({
  kind: v.picklist([
    "bad_request",
    "authentication",
    "permission_denied",
    "not_found",
    "conflict",
    "unprocessable_entity",
    "rate_limit",
    "internal_server",
    "status",
    "connection",
    "timeout",
  ]),
  status: v.optional(v.number()),
  error_code: v.optional(v.string()),
  title: v.optional(v.string()),
  detail: v.optional(v.string()),
  retryable: v.optional(v.boolean()),
  trace_id: v.optional(v.string()),
  request_id: v.optional(v.string()),
  errors: v.optional(v.array(v.unknown())),
});
export type ExpectedError = v.InferOutput<typeof ExpectedError>;

const Outcome = v.union([
  v.strictObject({ result: v.unknown() }),
  v.strictObject({ items: v.array(v.unknown()) }),
  v.strictObject({ text: v.string() }),
  v.strictObject({ error: ExpectedError }),
]);

const Vector = v.strictObject({
  name: v.string(),
  server: v.array(ResponseBody),
  client: v.optional(
    v.strictObject({
      max_retries: v.optional(v.number()),
      timeout_ms: v.optional(v.number()),
      api_key: v.optional(v.string()),
      team: v.optional(v.string()),
      headers: v.optional(v.record(v.string(), v.string())),
    }),
    {},
  ),
  call: v.strictObject({
    operation: v.optional(v.string()),
    helper: v.optional(
      v.picklist(["events", "follow_until_done", "create_and_wait", "download_transcript", "download_artifact"]),
    ),
    arguments: v.record(v.string(), v.unknown()),
    options: v.optional(
      v.strictObject({
        timeout_ms: v.optional(v.number()),
        max_retries: v.optional(v.number()),
        idempotency_key: v.optional(v.string()),
        headers: v.optional(v.record(v.string(), v.string())),
        team: v.optional(v.string()),
      }),
      {},
    ),
  }),
  expect: v.strictObject({
    requests: v.array(ExpectedRequest),
    waits_ms: v.optional(v.array(v.tuple([v.number(), v.number()]))),
    outcome: Outcome,
  }),
});
export type Vector = v.InferOutput<typeof Vector>;

/** Reads all vectors. Throws if one does not match README.md. */
export function readVectors(): Vector[] {
  const text = readFileSync(join(import.meta.dirname, "vectors.json"), "utf8");
  return v.parse(v.strictObject({ vectors: v.array(Vector) }), JSON.parse(text)).vectors;
}
