import { escapeMarkdown, formatTable } from "./markdown.ts";
import { isObject, type JsonObject, listAlternatives, refName, resolve, toList, toObject, toText } from "./openapi.ts";

/** What the tables of one page need. */
export interface MemberContext {
  readonly document: JsonObject;
  /** The URL of a schema's page. */
  readonly schemaUrl: (name: string) => string;
}

/** The schemas around a member, which are not shown in themselves again. */
type Stack = readonly string[];
/** Members that are nested deeper than this are on the pages of their schemas. */
const MAX_DEPTH = 3;

/** Formats the type of a value, with links to named schemas. */
export function formatType(schema: JsonObject, context: MemberContext): string {
  const ref = schema["$ref"];
  if (typeof ref === "string") return `[${refName(ref)}](${context.schemaUrl(refName(ref))})`;
  const choices = listAlternatives(schema);
  if (choices.length > 0 && schema["type"] === undefined)
    return choices.map((choice) => formatType(choice, context)).join(" or ");
  if (schema["const"] !== undefined) return code(JSON.stringify(schema["const"]));
  if (Array.isArray(schema["enum"])) return schema["enum"].map((value) => code(toText(value))).join(" or ");
  const { type, items, additionalProperties: values, format } = schema;
  if (type === "array") return `list of ${isObject(items) ? formatType(items, context) : "anything"}`;
  if (type === "object" && isObject(values)) return `map to ${formatType(values, context)}`;
  if (type === undefined) return "anything";
  return `${toList(type).map(toText).join(" or ") || toText(type)}${typeof format === "string" ? ` (${format})` : ""}`;
}

const code = (text: string): string => `\`${text}\``;

/** Formats the description, limits and default of a schema. */
export function describeSchema(schema: JsonObject): string {
  const isInBytes = toText(schema["description"]).includes(" bytes in UTF-8");
  const facts = [
    bounds(schema, "minimum", "maximum", ""),
    isInBytes ? "" : bounds(schema, "minLength", "maxLength", " characters"),
    bounds(schema, "minItems", "maxItems", " items"),
    bounds(schema, "minProperties", "maxProperties", " members"),
    schema["default"] === undefined ? "" : `Default \`${JSON.stringify(schema["default"])}\`.`,
  ].filter((fact) => fact !== "");
  return escapeMarkdown([toText(schema["description"]), ...facts].join(" ").trim());
}

/** Whether a schema is an object with members, or a union with one. */
export const hasMembers = (schema: JsonObject): boolean =>
  schema["properties"] !== undefined || listAlternatives(schema).some((option) => option["properties"] !== undefined);

/**
 * Formats the members of an object with those of the objects in it, except where a schema contains itself; for a union, one
 * table for each object.
 */
export function formatMembers(schema: JsonObject, context: MemberContext, stack: Stack = []): string {
  const ref = schema["$ref"];
  if (typeof ref === "string" && !stack.includes(ref)) {
    return formatMembers(resolve(schema, context.document), context, [...stack, ref]);
  }
  if (isObject(schema["items"])) return formatMembers(schema["items"], context, stack);
  const choices = listAlternatives(schema).filter((choice) => hasMembers(resolve(choice, context.document)));
  if (choices.length > 0 && schema["properties"] === undefined) {
    const tables = choices.map((choice) => formatMembers(choice, context, stack));
    return tables.length === 1
      ? toText(tables[0])
      : tables.map((one, index) => `${index === 0 ? "Either" : "Or"}:\n\n${one}`).join("\n\n");
  }
  return formatTable(["Member", "Type", "Description"], listRows(schema, "", context, stack));
}

function listRows(schema: JsonObject, path: string, context: MemberContext, stack: Stack): readonly string[][] {
  const required = new Set(toList(schema["required"]));
  return Object.entries(toObject(schema["properties"])).flatMap(([name, value]) => {
    if (!isObject(value)) return [];
    const member = `${path}${name}`;
    const row = [`\`${member}\`${required.has(name) ? "" : "?"}`, formatType(value, context), describeSchema(value)];
    return [row, ...listNested(value, member, context, stack)];
  });
}

/** The rows of the object that a member is, is a list of, or is if it is not null. */
function listNested(schema: JsonObject, member: string, context: MemberContext, stack: Stack): readonly string[][] {
  const ref = schema["$ref"];
  if (typeof ref === "string") {
    if (stack.includes(ref) || stack.length >= MAX_DEPTH) return [];
    return listNested(resolve(schema, context.document), member, context, [...stack, ref]);
  }
  if (isObject(schema["items"])) return listNested(schema["items"], `${member}[]`, context, stack);
  if (schema["properties"] !== undefined) return listRows(schema, `${member}.`, context, stack);
  const objects = listAlternatives(schema).filter((choice) => hasMembers(resolve(choice, context.document)));
  const [only] = objects;
  return only === undefined || objects.length > 1 ? [] : listNested(only, member, context, stack);
}

function bounds(schema: JsonObject, least: string, most: string, unit: string): string {
  const [from, to] = [schema[least], schema[most]];
  const isNumber = (value: unknown): value is number => typeof value === "number" && Number.isSafeInteger(value);
  if (isNumber(from) && from > 0 && isNumber(to)) return `${grouped(from)} to ${grouped(to)}${unit}.`;
  if (isNumber(to)) return `At most ${grouped(to)}${unit}.`;
  return isNumber(from) ? `At least ${grouped(from)}${unit}.` : "";
}

const grouped = (value: number): string => String(value).replace(/\B(?=(\d{3})+$)/g, ",");
