import * as v from "valibot";
import type { FieldError } from "#shared/errors.ts";
import { formatIssue } from "./issue-messages.ts";
import { chooseOption, isSchema, listOptions, memberOf, type Schema } from "./schema-parts.ts";

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

function unsupportedChoice(schema: Schema, input: unknown, path: string): FieldError[] {
  const option = chooseOption(schema, input);
  if (option !== undefined) return unsupportedInput(option, input, path);
  const [first] = listOptions(schema, input);
  const { issues = [] } = first === undefined ? {} : v.safeParse(first, input);
  return issues.length === 0
    ? [{ path: path || "body", message: "must be an object" }]
    : issues.map((issue) => ({ path: formatPath(issue, path), message: formatIssue(issue) }));
}

/** Where an issue is: `name.list[0].member`, below `from`. */
export function formatPath(issue: v.BaseIssue<unknown>, from = ""): string {
  const path = (issue.path ?? []).map(({ key }) => (typeof key === "number" ? `[${key}]` : `.${String(key)}`)).join("");
  return (from + path).replace(/^\./, "") || "body";
}
