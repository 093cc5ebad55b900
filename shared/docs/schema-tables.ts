import { type Html, html, prose, table } from "./html.ts";

export interface JsonObject {
  readonly [name: string]: unknown;
}

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export const toText = (value: unknown): string =>
  typeof value === "string" || typeof value === "number" ? String(value) : "";

/** Resolves a reference within a document; returns other objects as they are. */
export function resolve(object: JsonObject, document: JsonObject): JsonObject {
  const ref = object["$ref"];
  if (typeof ref !== "string") return object;
  const found = ref
    .split("/")
    .slice(1)
    .reduce<unknown>((value, name) => (isObject(value) ? value[name] : undefined), document);
  return isObject(found) ? found : {};
}

/** Renders the type of a value, with links to named schemas. */
export function renderType(schema: JsonObject): Html {
  const ref = schema["$ref"];
  if (typeof ref === "string") {
    const name = ref.replace(/^.*\//, "");
    return html`<a href="#${name}">${name}</a>`;
  }
  const choices = listAlternatives(schema);
  if (choices.length > 0 && schema["type"] === undefined) return joined(choices.map(renderType));
  if (schema["const"] !== undefined) return html`<code>${JSON.stringify(schema["const"])}</code>`;
  if (Array.isArray(schema["enum"])) return joined(schema["enum"].map((value) => html`<code>${toText(value)}</code>`));
  const { type, items, additionalProperties: values, format } = schema;
  if (type === "array") return html`list of ${isObject(items) ? renderType(items) : html`anything`}`;
  if (type === "object" && isObject(values)) return html`map to ${renderType(values)}`;
  if (type === undefined) return html`anything`;
  return html`${toText(type)}${typeof format === "string" ? ` (${format})` : ""}`;
}

/** Renders the description, limits and default of a schema. */
export function describeSchema(schema: JsonObject): Html {
  const isInBytes = toText(schema["description"]).includes(" bytes in UTF-8");
  const facts = [
    bounds(schema, "minimum", "maximum", ""),
    isInBytes ? "" : bounds(schema, "minLength", "maxLength", " characters"),
    bounds(schema, "minItems", "maxItems", " items"),
    bounds(schema, "minProperties", "maxProperties", " members"),
    schema["default"] === undefined ? "" : `Default \`${JSON.stringify(schema["default"])}\`.`,
  ].filter((fact) => fact !== "");
  return prose([toText(schema["description"]), ...facts].join(" ").trim());
}

/** Whether a schema is an object, or a union with one, so that its members describe it. */
export const isMembers = (schema: JsonObject): boolean =>
  schema["properties"] !== undefined || listAlternatives(schema).some((option) => option["properties"] !== undefined);

/** Renders a table of the members of an object, including nested objects; for a union, one table per object. */
export function membersTable(caption: string, schema: JsonObject): Html {
  const choices = listAlternatives(schema).filter((option) => isObject(option["properties"]));
  if (choices.length > 0 && schema["properties"] === undefined) {
    return html`${choices.map((choice, index) => html`<p>${index === 0 ? "Either" : "Or"}:</p>${membersTable(`${caption}, ${index + 1}`, choice)}`)}`;
  }
  return table(caption, ["Member", "Type", "Description"], renderRows(schema, ""));
}

function renderRows(schema: JsonObject, path: string): readonly (readonly Html[])[] {
  const required = new Set(Array.isArray(schema["required"]) ? schema["required"] : []);
  return Object.entries(isObject(schema["properties"]) ? schema["properties"] : {}).flatMap(([name, value]) => {
    if (!isObject(value)) return [];
    const member = `${path}${name}`;
    const optional = required.has(name) ? html`` : html`<span aria-label="optional">?</span>`;
    const row = [html`<code>${member}</code>${optional}`, renderType(value), describeSchema(value)];
    const items = isObject(value["items"]) ? value["items"] : undefined;
    return [row, ...(items === undefined ? renderRows(value, `${member}.`) : renderRows(items, `${member}[].`))];
  });
}

const listAlternatives = (schema: JsonObject): readonly JsonObject[] =>
  [schema["oneOf"], schema["anyOf"]].flatMap((options) => (Array.isArray(options) ? options.filter(isObject) : []));

const joined = (pieces: readonly Html[]): Html =>
  html`${pieces.map((piece, index) => html`${index === 0 ? "" : " or "}${piece}`)}`;

function bounds(schema: JsonObject, least: string, most: string, unit: string): string {
  const [from, to] = [schema[least], schema[most]];
  const isNumber = (value: unknown): value is number => typeof value === "number" && Number.isSafeInteger(value);
  if (isNumber(from) && from > 0 && isNumber(to)) return `${grouped(from)} to ${grouped(to)}${unit}.`;
  if (isNumber(to)) return `At most ${grouped(to)}${unit}.`;
  return isNumber(from) ? `At least ${grouped(from)}${unit}.` : "";
}

const grouped = (value: number): string => String(value).replace(/\B(?=(\d{3})+$)/g, ",");
