import { wireComments } from "./comments.ts";
import { isObject, type Json, type JsonObject, mapObjects } from "./json.ts";
import { FIELD_NOTES } from "./notes/fields.ts";
import type { FieldNote } from "./notes/note.ts";
import { parameterNotes } from "./notes/parameters.ts";

/** Component that a name is another one's of, in shared/wire. */
const WRITTEN_AS: Readonly<Record<string, string>> = { RunCreatorInfo: "UserProfile", Error: "Problem" };

/** Components whose members are filters of a list. */
const SAID_AS_PARAMETERS = new Set(["CancelRunsRequest"]);

const comments = wireComments();

/** What is known of a member of a component, or of any member of that name. */
export function fieldOf(component: string | undefined, member: string): FieldNote | undefined {
  const base = component?.replace(/Input$/, "");
  const written = comments.get(`${WRITTEN_AS[base ?? ""] ?? base}.${member}`);
  const filter = SAID_AS_PARAMETERS.has(base ?? "") ? parameterNotes[member] : undefined;
  const known = FIELD_NOTES[`${base}.${member}`] ?? filter ?? FIELD_NOTES[member];
  return written === undefined ? known : { ...known, description: written };
}

/** Components with what their members mean. */
export function withNotes(components: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(components).map(([name, schema]) => {
      const base = name.replace(/Input$/, "");
      const description = comments.get(WRITTEN_AS[base] ?? base);
      return [name, describe(withMemberNotes(schema, name), description)];
    }),
  );
}

/** A schema, and those in it, with what their members mean. */
export function withMemberNotes(schema: Json, component: string | undefined): JsonObject {
  const noted = mapObjects(schema, (object) => {
    const properties = object["properties"];
    if (!isObject(properties) || object["type"] !== "object") return object;
    const members = Object.entries(properties).map(([member, value]) => {
      const known = fieldOf(component, member);
      return [member, describe(withFormat(value, known?.format), known?.description)] as const;
    });
    return { ...object, properties: Object.fromEntries(members) };
  });
  if (!isObject(noted)) throw new Error("a schema is an object");
  return noted;
}

/** A text's format, also where `null` is the alternative. */
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

/** What it means comes first, and then what the schema says of its form. */
function describe(schema: JsonObject, meaning: string | undefined): JsonObject {
  const own = schema["description"];
  const parts = [meaning, typeof own === "string" && own !== meaning ? own : undefined];
  const description = parts.filter((part) => part !== undefined).join(" ");
  return description === "" ? schema : { ...schema, description };
}
