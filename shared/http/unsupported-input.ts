import * as v from "valibot";
import type { FieldError } from "#shared/errors.ts";
import { formatIssue } from "./issue-messages.ts";

type Schema = v.GenericSchema<unknown, unknown>;

/** Names that valibot never reads from a map, because they could change the prototype. */
const UNREADABLE = new Set(["__proto__", "prototype", "constructor"]);

/**
 * Finds input that valibot ignores silently: a list in place of an object, which it accepts as an object without members, and members
 * of maps that it does not read.
 */
export function unsupportedInput(schema: Schema, input: unknown, path = ""): FieldError[] {
  if (schema.type === "object" || schema.type === "record") {
    if (Array.isArray(input)) return [{ path: path || "body", message: "must be an object" }];
    if (typeof input !== "object" || input === null) return [];
    return Object.entries(input).flatMap(([name, value]) => {
      const at = path === "" ? name : `${path}.${name}`;
      if (schema.type === "record" && UNREADABLE.has(name))
        return [{ path: at, message: "is a name that cannot be used" }];
      const member = schema.type === "object" ? memberOf(memberOf(schema, "entries"), name) : memberOf(schema, "value");
      return isSchema(member) ? unsupportedInput(member, value, at) : [];
    });
  }
  if (schema.type === "array" && Array.isArray(input)) {
    const item = memberOf(schema, "item");
    return isSchema(item) ? input.flatMap((value, index) => unsupportedInput(item, value, `${path}[${index}]`)) : [];
  }
  if (schema.type === "union" || schema.type === "variant") {
    return unsupportedChoice(schema, input, path);
  }
  const wrapped = memberOf(schema, "wrapped");
  return isSchema(wrapped) && input !== null && input !== undefined ? unsupportedInput(wrapped, input, path) : [];
}

/** A list matches only an option that is a list, although valibot accepts it as an object or a map. */
function unsupportedChoice(schema: Schema, input: unknown, path: string): FieldError[] {
  const options: unknown = memberOf(schema, "options");
  const open = (Array.isArray(options) ? options : [])
    .filter(isSchema)
    .filter(({ type }) => !(Array.isArray(input) && (type === "object" || type === "record")));
  const taken = open.find((option) => v.is(option, input));
  if (taken !== undefined) return unsupportedInput(taken, input, path);
  const { issues = [] } = open[0] === undefined ? {} : v.safeParse(open[0], input);
  return issues.length === 0
    ? [{ path: path || "body", message: "must be an object" }]
    : issues.map((issue) => ({ path: formatPath(issue, path), message: formatIssue(issue) }));
}

/** Where an issue is: `name.list[0].member`, below `from`. */
export function formatPath(issue: v.BaseIssue<unknown>, from = ""): string {
  const path = (issue.path ?? []).map(({ key }) => (typeof key === "number" ? `[${key}]` : `.${String(key)}`)).join("");
  return (from + path).replace(/^\./, "") || "body";
}

function memberOf(value: unknown, name: string): unknown {
  if (typeof value !== "object" || value === null) return undefined;
  return Object.getOwnPropertyDescriptor(value, name)?.value;
}

const isSchema = (value: unknown): value is Schema =>
  typeof value === "object" && value !== null && "type" in value && "~run" in value;
