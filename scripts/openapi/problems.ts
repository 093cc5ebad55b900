import { ERRORS, type ErrorCode, RunyardError } from "#shared/errors.ts";
import { problem } from "#shared/http/problem.ts";
import type { RoutedEndpoint } from "./endpoints.ts";
import { type JsonObject, toJson } from "./json.ts";

const BASE_URL = "https://runyard.example.com/api/v1";

/** How an error comes over the wire: its status, and an example in the words that the service has for it. */
interface Refusal {
  readonly status: number;
  readonly code: ErrorCode;
  readonly detail?: string;
  readonly errors?: readonly { readonly path: string; readonly message: string }[];
}

/** Refusals that are no code's own status, and the words of those that are. */
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
  400: ["BadRequest", "The request is not valid; `errors` names each field that is wrong."],
  401: ["Unauthorized", "The credential is missing, malformed, expired or deleted."],
  403: ["Forbidden", "The caller may not do this."],
  404: ["NotFound", "There is no such thing, or none that the caller may see."],
  409: [
    "Conflict",
    "The current state stands against it. Where `retryable` is true, the same request may succeed in a moment.",
  ],
  413: ["ContentTooLarge", "The body has more than 4 MiB."],
  415: ["UnsupportedMediaType", "The body is no JSON by its content type, or is compressed."],
  422: ["UnprocessableContent", "Understood, and not supported for this resource."],
  426: ["UpgradeRequired", "The harness speaks a protocol that is too old."],
  429: ["TooManyRequests", "A limit is reached for now; `Retry-After` says when to try again."],
  500: ["InternalServerError", "Something went wrong on our side; the trace id names it."],
  503: ["ServiceUnavailable", "The service is at its limit for now; `Retry-After` says when to try again."],
};

/** Statuses of errors that a route can answer with the codes of each, from what it reads, who may call it and what it declares. */
export function refusalsOf({
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

/** The error answers of an operation, each by reference to the component of its status. */
export function problemResponses(endpoint: RoutedEndpoint): JsonObject {
  return Object.fromEntries(
    [...refusalsOf(endpoint)].map(([status, codes]) => {
      const [name, meaning] = nameOf(status);
      const description = `${codes.map((code) => `\`${code}\``).join(", ")}: ${meaning}`;
      return [String(status), { $ref: `#/components/responses/${name}`, description }];
    }),
  );
}

/** The components that those references are to. */
export function problemComponents(): JsonObject {
  const statuses = Object.keys(NAMES).map(Number);
  return Object.fromEntries(statuses.map((status) => [nameOf(status)[0], componentOf(status)]));
}

function componentOf(status: number): JsonObject {
  const refusals = REFUSALS.filter((refusal) => refusal.status === status);
  const examples = refusals.map((refusal) => [refusal.code, { value: exampleOf(refusal) }] as const);
  return {
    description: nameOf(status)[1],
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

function exampleOf({ status, code, ...words }: Refusal): JsonObject {
  const context = { baseUrl: BASE_URL, instance: "/api/v1/agent/runs", traceId: "1-6a0b61b0-6b7e1eea209c275a3e668b0f" };
  return toJson(JSON.parse(problem(new RunyardError(code, { status, ...words }), context).body));
}

function nameOf(status: number): readonly [name: string, meaning: string] {
  const name = NAMES[status];
  if (name === undefined) throw new Error(`scripts/openapi/problems.ts has no words for status ${status}`);
  return name;
}
