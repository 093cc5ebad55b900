import type { APIGatewayProxyEventV2 } from "aws-lambda";
import * as v from "valibot";
import { type FieldError, invalid, RunyardError } from "#shared/errors.ts";
import { issueErrors } from "./issue-errors.ts";
import { formatIssue, UNKNOWN_MEMBER } from "./issue-messages.ts";
import { describeKnownMembers } from "./unknown-members.ts";
import { unsupportedInput } from "./unsupported-input.ts";
import { decodeUtf8 } from "./utf8.ts";

/** The largest body that is taken: 4 MiB. */
const BODY_LIMIT_BYTES = 4 * 1024 * 1024;

/** Levels of a body. Parsers of clients have limits too: Python's reads about 1,000. */
const MAX_DEPTH = 500;
/** Values of a body up to which all of its wrong fields are named. */
const MAX_CHECKED_VALUES = 10_000;

/** Parameters of a query by name, each with all its values; an empty value counts as absent. */
export type RawQuery = ReadonlyMap<string, readonly string[]>;

/** Reads the query string raw: `+` and `%20` are spaces, brackets may be percent-encoded. */
export function parseQuery(raw: string): RawQuery {
  const query = new Map<string, string[]>();
  for (const [name, value] of new URLSearchParams(raw)) {
    if (value === "") continue;
    query.set(name, [...(query.get(name) ?? []), value]);
  }
  for (const [name, values] of query) {
    if (name.includes("\u0000")) throw invalid("query", "has a parameter whose name is not valid text");
    for (const value of values) refuseBrokenText(value, name, 0);
    // Invalid UTF-8, including lone surrogates, would be decoded to replacement characters that the caller did not send.
    if ([name, ...values].some((text) => text.includes("\ufffd")) && !/%EF%BF%BD/i.test(raw))
      throw invalid(name, "is not UTF-8");
  }
  return query;
}

/** A query parameter: `many` ones may be repeated, single ones may not, `map` ones are written name[key]=value. */
export interface Parameter<T> {
  readonly kind: "one" | "many" | "map";
  readonly schema: v.GenericSchema<unknown, T>;
  readonly required?: true;
}
type RequiredParameter<T> = Parameter<T> & { readonly required: true };
export const one = <T>(schema: v.GenericSchema<unknown, T>): Parameter<T> => ({ kind: "one", schema });
/** A parameter without which the request is refused. */
export const required = <T>(schema: v.GenericSchema<unknown, T>): RequiredParameter<T> => ({
  kind: "one",
  required: true,
  schema,
});
export const many = <T>(schema: v.GenericSchema<unknown, T>): Parameter<T[]> => ({
  kind: "many",
  schema: v.array(schema),
});
export const map = <T>(schema: v.GenericSchema<unknown, T>): Parameter<T> => ({ kind: "map", schema });

export type Parameters = Readonly<Record<string, Parameter<unknown>>>;
export type Query<P extends Parameters> = {
  readonly [N in keyof P]: P[N] extends RequiredParameter<infer T>
    ? T
    : P[N] extends Parameter<infer T>
      ? T | undefined
      : never;
};

/** The declared parameters; unknown ones are ignored. Throws `invalid_request` naming each that is wrong. */
export function readQuery<P extends Parameters>(parameters: P, raw: RawQuery): Query<P> {
  const found: Record<string, unknown> = {};
  const errors: FieldError[] = [];
  for (const [name, { kind, schema, required: isRequired }] of Object.entries(parameters)) {
    const values = raw.get(name) ?? [];
    const members = [...raw].filter(([key]) => key.startsWith(`${name}[`) && key.endsWith("]"));
    if (kind === "one" && values.length > 1) errors.push({ path: name, message: "must not be given twice" });
    const doubled = kind === "map" ? members.find(([, given]) => given.length > 1) : undefined;
    if (doubled !== undefined) errors.push({ path: doubled[0], message: "must not be given twice" });
    const entries = members.map(([key, given]) => [key.slice(name.length + 1, -1), given[0]] as const);
    const value = kind === "one" ? values[0] : kind === "many" ? values : Object.fromEntries(entries);
    if (kind === "one" ? value === undefined : kind === "many" ? values.length === 0 : members.length === 0) {
      if (isRequired === true) errors.push({ path: name, message: "is required" });
      continue;
    }
    const parsed = v.safeParse(schema, value);
    if (kind === "map") errors.push(...unsupportedInput(schema, value, name));
    if (parsed.success) found[name] = parsed.output;
    else errors.push(...parsed.issues.map((issue) => ({ path: name, message: formatIssue(issue) })));
  }
  refuse(errors);
  // biome-ignore lint/plugin: each member was parsed by the schema that its type comes from.
  return found as Query<P>;
}

/** The body as JSON of the right type and size, or undefined without a body. */
export function readBody(event: APIGatewayProxyEventV2): unknown {
  const raw = readRawBody(event);
  if (raw.length === 0) return undefined;
  const type = header(event, "content-type") ?? "";
  if (!/^application\/([\w.+-]+\+)?json\s*(;|$)/i.test(type)) {
    throw new RunyardError("invalid_request", { status: 415, detail: "content-type: send application/json" });
  }
  return parseJson(raw);
}

/** The bytes of the body, as they were sent, if they are not too many and not compressed. */
export function readRawBody(event: APIGatewayProxyEventV2): Buffer {
  const encoding = header(event, "content-encoding");
  const raw = event.isBase64Encoded ? Buffer.from(event.body ?? "", "base64") : Buffer.from(event.body ?? "");
  if (raw.length > BODY_LIMIT_BYTES) {
    throw new RunyardError("invalid_request", {
      status: 413,
      detail: `body: has ${raw.length} bytes, the limit is ${BODY_LIMIT_BYTES}; upload attachments first`,
    });
  }
  if (encoding !== undefined && encoding !== "identity") {
    throw new RunyardError("invalid_request", { status: 415, detail: "content-encoding: send the body uncompressed" });
  }
  return raw;
}

/**
 * Parses `input` by `schema`, or throws `invalid_request` with one entry for each field that is wrong. Of an input with very many values
 * only the first wrong field is named: each could be wrong, and their errors would take seconds and gigabytes.
 */
export function parseFields<T>(schema: v.GenericSchema<unknown, T>, input: unknown): T {
  const parsed = v.safeParse(schema, input, { abortEarly: true });
  if (parsed.success) {
    refuse(unsupportedInput(schema, input));
    return parsed.output;
  }
  const all = hasMoreValues(input, MAX_CHECKED_VALUES) ? parsed : v.safeParse(schema, input);
  const errors = (all.issues ?? []).flatMap((issue) => issueErrors(issue));
  refuse(
    errors.map(({ path, message }) => ({
      path,
      message: message === UNKNOWN_MEMBER ? `${message}${describeKnownMembers(schema, path)}` : message,
    })),
  );
  throw new RunyardError("invalid_request");
}

/** Whether there are more than `most` values in a value, itself included. */
function hasMoreValues(value: unknown, most: number): boolean {
  const waiting = [value];
  for (let count = 1; waiting.length > 0; count++) {
    if (count > most) return true;
    const next = waiting.pop();
    if (typeof next !== "object" || next === null) continue;
    const members: unknown[] = Object.values(next);
    if (members.length > most) return true;
    waiting.push(...members);
  }
  return false;
}

/** Refuses a request for its wrong fields, each once: further errors of a field show when the first is corrected. */
function refuse(wrong: readonly FieldError[]): void {
  const byPath = Map.groupBy(wrong, ({ path }) => path);
  const errors = [...byPath.values()].flatMap(([first]) => first ?? []);
  const [first] = errors;
  if (first === undefined) return;
  const others = errors.length > 1 ? ` (and ${errors.length - 1} more)` : "";
  throw new RunyardError("invalid_request", { detail: `${first.path}: ${first.message}${others}`, errors });
}

/** Headers by lower-case name, as API Gateway sends them; repeated ones are joined by a comma. */
export function header(event: APIGatewayProxyEventV2, name: string): string | undefined {
  // API Gateway moves cookies to a member of their own; the emulator leaves them in the header.
  if (name === "cookie" && event.cookies !== undefined) return event.cookies.join("; ");
  return event.headers[name] || undefined;
}

function parseJson(raw: Buffer): unknown {
  const text = decodeUtf8(raw);
  try {
    const body: unknown = JSON.parse(text);
    refuseBrokenText(body, "", 0);
    return body;
  } catch (error) {
    if (error instanceof RunyardError) throw error;
    throw new RunyardError("invalid_request", { detail: "body: is not JSON", cause: error });
  }
}

/** NUL and lone surrogates are refused wherever they stand, names of members included, as are values that are nested too deeply. */
function refuseBrokenText(value: unknown, path: string, depth: number): void {
  if (depth > MAX_DEPTH) throw invalid("body", `must not be nested more than ${MAX_DEPTH} levels deep`);
  if (typeof value === "string") {
    if (value.includes("\u0000")) throw invalid(path || "body", "must not contain NUL");
    if (!value.isWellFormed()) throw invalid(path || "body", "must not contain a lone surrogate");
  } else if (Array.isArray(value)) {
    for (const [index, entry] of value.entries()) refuseBrokenText(entry, `${path}[${index}]`, depth + 1);
  } else if (typeof value === "object" && value !== null) {
    for (const [name, entry] of Object.entries(value)) {
      const entryPath = path === "" ? name : `${path}.${name}`;
      if (name.includes("\u0000") || !name.isWellFormed())
        throw invalid(path || "body", "has a member whose name is not valid text");
      refuseBrokenText(entry, entryPath, depth + 1);
    }
  }
}
