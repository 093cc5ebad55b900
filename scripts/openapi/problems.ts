import { ERRORS, type ErrorCode, RunyardError } from "#shared/errors.ts";
import { problem } from "#shared/http/problem.ts";
import type { RoutedEndpoint } from "./endpoints.ts";
import { type JsonObject, toJson } from "./json.ts";

const BASE_URL = "https://runyard.example.com/api/v1";

/** An example of an error response. */
interface Refusal {
  readonly status: number;
  readonly code: ErrorCode;
  readonly detail?: string;
  readonly errors?: readonly { readonly path: string; readonly message: string }[];
}

/** Examples for each status. */
const REFUSALS: readonly Refusal[] = [
  {
    status: 400,
    code: "invalid_request",
    detail: "title: must have at most 512 characters",
    errors: [{ path: "title", message: "must have at most 512 characters" }],
  },
  { status: 401, code: "authentication_required", detail: "the API key is not valid" },
  { status: 403, code: "not_authorized", detail: "X-Team-Uid: you are not a member of this team" },
  { status: 403, code: "feature_not_available", detail: "the team's plan has 20 identities" },
  { status: 403, code: "budget_exceeded", detail: "the team's budget of this month is spent" },
  { status: 404, code: "resource_not_found", detail: "there is no such run" },
  {
    status: 409,
    code: "conflict",
    detail: "Idempotency-Key: was used with another body; use a new key for a new request",
  },
  { status: 413, code: "invalid_request", detail: "body: has 5000000 bytes, the limit is 4194304" },
  { status: 415, code: "invalid_request", detail: "content-type: send application/json" },
  { status: 422, code: "operation_not_supported", detail: "the run is executed elsewhere" },
  {
    status: 426,
    code: "invalid_request",
    detail: "Runyard-Protocol: the service uses version 1; the harness is too old",
  },
  { status: 429, code: "resource_unavailable", detail: "1,000 runs are waiting already" },
  { status: 500, code: "internal_error" },
  { status: 503, code: "resource_unavailable" },
];

const NAMES: Readonly<Record<number, readonly [name: string, meaning: string]>> = {
  400: ["BadRequest", "The request is invalid. `errors` lists the invalid fields."],
  401: ["Unauthorized", "The API key is missing, malformed, expired or revoked."],
  403: ["Forbidden", "The caller is not allowed to do this."],
  404: ["NotFound", "The resource does not exist or is not visible to the caller."],
  409: ["Conflict", "The request conflicts with the current state of the resource. If `retryable` is true, retry it."],
  413: ["ContentTooLarge", "The body is larger than 4 MiB."],
  415: ["UnsupportedMediaType", "The content type is not JSON, or the body is compressed."],
  422: ["UnprocessableContent", "The operation is not supported for this resource or by this release."],
  426: ["UpgradeRequired", "The protocol version of the harness is too old."],
  429: ["TooManyRequests", "A rate or capacity limit is reached. Retry after `Retry-After` seconds."],
  500: ["InternalServerError", "The service failed unexpectedly. Quote the `trace_id` in a support request."],
  503: ["ServiceUnavailable", "The service is temporarily unavailable. Retry after `Retry-After` seconds."],
};

/** The error codes of a route by status, derived from its parameters, its callers and the errors that it declares. */
export function listErrors({
  route,
  definition,
}: Pick<RoutedEndpoint, "route" | "definition">): ReadonlyMap<number, readonly ErrorCode[]> {
  const isPublic = route.who === "public";
  const ofRuns = !isPublic && route.who.every((kind) => kind === "run");
  const found: (readonly [number, ErrorCode])[] = [
    [400, "invalid_request"],
    ...(isPublic
      ? []
      : ([
          [401, "authentication_required"],
          [403, "not_authorized"],
        ] as const)),
    ...(route.path.includes("{") ? ([[404, "resource_not_found"]] as const) : []),
    ...(route.method !== "GET" && !isPublic ? ([[409, "conflict"]] as const) : []),
    ...(route.method === "GET"
      ? []
      : ([
          [413, "invalid_request"],
          [415, "invalid_request"],
        ] as const)),
    ...(ofRuns ? ([[426, "invalid_request"]] as const) : []),
    [429, "resource_unavailable"],
    [500, "internal_error"],
    [503, "resource_unavailable"],
    ...definition.errors.map((code) => [ERRORS[code].status, code] as const),
  ];
  const byStatus = new Map<number, ErrorCode[]>();
  for (const [status, code] of found.sort(([a], [b]) => a - b)) {
    const codes = byStatus.get(status) ?? [];
    byStatus.set(status, codes.includes(code) ? codes : [...codes, code]);
  }
  return byStatus;
}

/** The error responses of an operation, as references to components. */
export function problemResponses(endpoint: RoutedEndpoint): JsonObject {
  return Object.fromEntries(
    [...listErrors(endpoint)].map(([status, codes]) => {
      const [name, meaning] = describeStatus(status);
      const description = `${codes.map((code) => `\`${code}\``).join(", ")}: ${meaning}`;
      return [String(status), { $ref: `#/components/responses/${name}`, description }];
    }),
  );
}

/** The components with the error responses. */
export function problemComponents(): JsonObject {
  const statuses = Object.keys(NAMES).map(Number);
  return Object.fromEntries(statuses.map((status) => [describeStatus(status)[0], buildComponent(status)]));
}

function buildComponent(status: number): JsonObject {
  const refusals = REFUSALS.filter((refusal) => refusal.status === status);
  const examples = refusals.map((refusal) => [refusal.code, { value: buildExample(refusal) }] as const);
  return {
    description: describeStatus(status)[1],
    headers: {
      "x-request-id": { $ref: "#/components/headers/x-request-id" },
      "x-should-retry": { $ref: "#/components/headers/x-should-retry" },
      ...(status === 401 ? { "WWW-Authenticate": { $ref: "#/components/headers/WWW-Authenticate" } } : {}),
      ...([409, 429, 503].includes(status) ? { "Retry-After": { $ref: "#/components/headers/Retry-After" } } : {}),
    },
    content: {
      "application/problem+json": {
        schema: { $ref: "#/components/schemas/Error" },
        examples: Object.fromEntries(examples),
      },
    },
  };
}

function buildExample({ status, code, ...words }: Refusal): JsonObject {
  const context = { baseUrl: BASE_URL, instance: "/api/v1/agent/runs", traceId: "1-6a0b61b0-6b7e1eea209c275a3e668b0f" };
  return toJson(JSON.parse(problem(new RunyardError(code, { status, ...words }), context).body));
}

function describeStatus(status: number): readonly [name: string, meaning: string] {
  const name = NAMES[status];
  if (name === undefined) throw new Error(`scripts/openapi/problems.ts has no description for status ${status}`);
  return name;
}
