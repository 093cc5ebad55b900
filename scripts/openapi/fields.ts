import { wireComments } from "./comments.ts";
import { isObject, type Json, type JsonObject } from "./json.ts";
import { FIELD_NOTES } from "./notes/fields.ts";
import type { FieldNote } from "./notes/note.ts";
import { parameterNotes } from "./notes/parameters.ts";

/** Components that have another name in shared/wire. */
const WIRE_NAMES: Readonly<Record<string, string>> = { RunCreatorInfo: "UserProfile", Error: "Problem" };

/** Components that contain the members of another one. */
const EXTENDED: Readonly<Record<string, string>> = {
  CreatedKey: "KeyItem",
  CreatedInvitation: "InvitationItem",
  StoredRepository: "Repository",
  ResolvedAgentConfig: "AmbientAgentConfig",
};

/** Components whose members are the filters of a list. */
const WITH_FILTERS = new Set(["CancelRunsRequest"]);

const comments = wireComments();

/** The note for a member of a component: for this place in it, for any member of this name below `parent`, or for any of this name. */
export function findField(component: string | undefined, member: string, parent?: string): FieldNote | undefined {
  const base = component?.replace(/Input$/, "") ?? "";
  const bases = [base, EXTENDED[base]].filter((name) => name !== undefined);
  const comment =
    parent === undefined
      ? bases.map((name) => comments.get(`${WIRE_NAMES[name] ?? name}.${member}`)).find((text) => text !== undefined)
      : undefined;
  const filter = WITH_FILTERS.has(base) ? parameterNotes[member] : undefined;
  const nested =
    parent === undefined ? [] : [...bases.map((name) => `${name}.${parent}.${member}`), `${parent}.${member}`];
  const names = [...nested, ...bases.map((name) => `${name}.${member}`)];
  const note = names.map((name) => FIELD_NOTES[name]).find((found) => found !== undefined);
  const known = note ?? filter ?? FIELD_NOTES[member];
  return comment === undefined ? known : { ...known, description: comment };
}

/** Adds descriptions to components and their members. */
export function withNotes(components: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(components).map(([name, schema]) => {
      const base = name.replace(/Input$/, "");
      const description = comments.get(WIRE_NAMES[base] ?? base);
      return [name, describe(withMemberNotes(schema, name), description)];
    }),
  );
}

/** Adds descriptions to the members of a schema, and of the schemas in it. */
export function withMemberNotes(schema: Json, component: string | undefined): JsonObject {
  const noted = withNestedNotes(schema, component, undefined);
  if (!isObject(noted)) throw new Error("a schema is an object");
  return noted;
}

function withNestedNotes(schema: Json, component: string | undefined, parent: string | undefined): Json {
  if (Array.isArray(schema)) return schema.map((entry: Json) => withNestedNotes(entry, component, parent));
  if (!isObject(schema)) return schema;
  return Object.fromEntries(
    Object.entries(schema).map(([keyword, value]) => {
      if (keyword !== "properties" || !isObject(value)) return [keyword, withNestedNotes(value, component, parent)];
      // Conditions repeat members without their type; only the members themselves are described.
      if (schema["type"] !== "object") return [keyword, value];
      const members = Object.entries(value).map(([member, inner]) => {
        const known = findField(component, member, parent);
        const described = withNestedNotes(inner, component, member);
        return [member, describe(withFormat(described, known?.format), known?.description)] as const;
      });
      return [keyword, Object.fromEntries(members)];
    }),
  );
}

/** Adds a format to a string, also to one that may be null. */
function withFormat(value: Json, format: string | undefined): JsonObject {
  if (!isObject(value)) return {};
  if (format === undefined) return value;
  if (value["type"] === "string") return { ...value, format };
  const variants = value["anyOf"];
  if (!Array.isArray(variants)) return value;
  return {
    ...value,
    anyOf: variants.map((each) => (isObject(each) && each["type"] === "string" ? { ...each, format } : each)),
  };
}

/** Puts the meaning before what the schema says about the form. */
function describe(schema: JsonObject, meaning: string | undefined): JsonObject {
  const own = schema["description"];
  const parts = [meaning, typeof own === "string" && own !== meaning ? own : undefined];
  const description = parts.filter((part) => part !== undefined).join(" ");
  return description === "" ? schema : { ...schema, description };
}
