import { RUN_SOURCES } from "#shared/wire/run.ts";
import type { JsonObject } from "./json.ts";

/** Headers that requests may carry. */
export const PARAMETERS: JsonObject = {
  "X-Team-Uid": {
    name: "X-Team-Uid",
    in: "header",
    description:
      "The team that the call is for. Only a person with several teams needs it, and only to make things: without it, reads " +
      "cover all of them. `X-Warp-Team-Uid` means the same.",
    schema: { type: "string", format: "uuid" },
  },
  "Idempotency-Key": {
    name: "Idempotency-Key",
    in: "header",
    description:
      "Makes a repeat safe: the same key with the same body is answered as the first time, for 24 hours, with the header " +
      "`Idempotent-Replay: true`. With another body it is a `conflict`.",
    schema: { type: "string", minLength: 1, maxLength: 255, pattern: "^[\\x20-\\x7e]+$" },
    example: "nightly-2026-05-18",
  },
  "x-stainless-retry-count": {
    name: "x-stainless-retry-count",
    in: "header",
    description:
      "How often the client has sent this request before. Above 0 and without an Idempotency-Key, it is answered as its identical " +
      "request of the last ten minutes was.",
    schema: { type: "integer", minimum: 0 },
  },
  "X-Run-Source": {
    name: "X-Run-Source",
    in: "header",
    description:
      `Where the run comes from: ${RUN_SOURCES.map((source) => `\`${source}\``).join(", ")}. Anything else counts as \`API\`, and ` +
      "`SCHEDULED_AGENT` and `ORCHESTRATION` are set by the service alone. `X-Oz-Api-Source` means the same.",
    schema: { type: "string", default: "API" },
    example: "CLI",
  },
  "Runyard-Instance": {
    name: "Runyard-Instance",
    in: "header",
    description:
      "A random UUID of the harness's process. The first one binds the execution; another one is a `conflict`.",
    schema: { type: "string" },
  },
  "Runyard-Protocol": {
    name: "Runyard-Protocol",
    in: "header",
    description: "The protocol that the harness speaks. One that is too old is answered 426, and the run starts anew.",
    schema: { type: "integer" },
    example: 1,
  },
};

/** Headers that answers carry. */
export const HEADERS: JsonObject = {
  "x-request-id": { description: "The request's trace id.", schema: { type: "string" } },
  "x-should-retry": {
    description: "Equal to `retryable`.",
    schema: { type: "string", enum: ["true", "false"] },
  },
  "Retry-After": { description: "Seconds to wait before the same request is sent again.", schema: { type: "integer" } },
  "WWW-Authenticate": { description: "The scheme of the credential.", schema: { type: "string", const: "Bearer" } },
  "Idempotent-Replay": {
    description: "There where the answer is that of an earlier, identical request.",
    schema: { type: "string", const: "true" },
  },
  Age: { description: "Seconds since the oldest of what is answered was looked up.", schema: { type: "integer" } },
  Location: { description: "Where it leads to.", required: true, schema: { type: "string", format: "uri" } },
};

/** Headers that the answers of single operations carry. */
export const HEADERS_OF: Readonly<Record<string, readonly string[]>> = { listAgents: ["Age"] };
