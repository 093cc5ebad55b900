import { RUN_SOURCES } from "#shared/wire/run.ts";
import type { JsonObject } from "./json.ts";

/** Request headers. */
export const PARAMETERS: JsonObject = {
  "X-Team-Uid": {
    name: "X-Team-Uid",
    in: "header",
    description:
      "The id of the team for this request. People with several teams need it to create resources; without it, reads cover " +
      "all their teams. `X-Warp-Team-Uid` is an alias.",
    schema: { type: "string", format: "uuid" },
  },
  "Idempotency-Key": {
    name: "Idempotency-Key",
    in: "header",
    description:
      "Makes it safe to retry the request. For 24 hours, a request with the same key and body returns the first response, with " +
      "the header `Idempotent-Replay: true`. With another body it returns `conflict`, and so does a request that created an API " +
      "key or a link, which is returned only once.",
    schema: { type: "string", minLength: 1, maxLength: 255, pattern: "^[\\x20-\\x7e]+$" },
    example: "nightly-2026-05-18",
  },
  "x-stainless-retry-count": {
    name: "x-stainless-retry-count",
    in: "header",
    description:
      "The number of previous attempts of this request. Above 0 and without an `Idempotency-Key`, the request returns the " +
      "response to an identical request of the last 10 minutes, if there was one.",
    schema: { type: "integer", minimum: 0 },
  },
  "X-Run-Source": {
    name: "X-Run-Source",
    in: "header",
    description:
      `The source of the run: ${RUN_SOURCES.map((source) => `\`${source}\``).join(", ")}. Other values count as \`API\`. ` +
      "Only the service sets `SCHEDULED_AGENT` and `ORCHESTRATION`. `X-Oz-Api-Source` is an alias.",
    schema: { type: "string", default: "API" },
    example: "CLI",
  },
  "Runyard-Instance": {
    name: "Runyard-Instance",
    in: "header",
    description:
      "A random UUID of the harness process. The first request binds the execution to it; another UUID returns `conflict`.",
    schema: { type: "string" },
  },
  "Runyard-Protocol": {
    name: "Runyard-Protocol",
    in: "header",
    description:
      "The protocol version of the harness. A version that is too old returns 426, and the run is executed again.",
    schema: { type: "integer" },
    example: 1,
  },
};

/** Response headers. */
export const HEADERS: JsonObject = {
  "x-request-id": { description: "The trace id of the request.", schema: { type: "string" } },
  "x-should-retry": {
    description: "Whether to retry the request; equal to `retryable`.",
    schema: { type: "string", enum: ["true", "false"] },
  },
  "Retry-After": { description: "Seconds to wait before retrying the request.", schema: { type: "integer" } },
  "WWW-Authenticate": { description: "The authentication scheme.", schema: { type: "string", const: "Bearer" } },
  "Idempotent-Replay": {
    description: "Present if the response is that of an earlier, identical request.",
    schema: { type: "string", const: "true" },
  },
  Age: { description: "The age of the oldest cached result, in seconds.", schema: { type: "integer" } },
  Location: { description: "The URL to follow.", required: true, schema: { type: "string", format: "uri" } },
};

/** Response headers of single operations. */
export const HEADERS_OF: Readonly<Record<string, readonly string[]>> = { listAgents: ["Age"] };
