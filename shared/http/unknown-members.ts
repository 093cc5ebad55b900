import { takeCharacters } from "#shared/characters.ts";
import { chooseOption, isSchema, memberOf, type Schema } from "./schema-parts.ts";

/** A member of an input that its schema does not name. */
export interface UnknownMember {
  readonly path: string;
  /** The member of the schema whose name is the most similar, if one is. */
  readonly similar?: string;
}

/** Characters of a path that is shown. */
const PATH_LENGTH = 200;
/** Edits up to which two names are similar. */
const MAX_EDITS = 2;
/** Members of an object up to which an error names all of them. */
const MAX_NAMES = 25;

/** Finds the members of a valid input that parsing leaves out, since no object of the schema has them. */
export function* findUnknownMembers(schema: Schema, input: unknown, path = ""): Generator<UnknownMember> {
  if (typeof input !== "object" || input === null) return;
  const { type } = schema;
  if (type === "object" || type === "record") {
    const known: unknown = memberOf(schema, "entries");
    for (const [name, value] of Object.entries(input)) {
      const at = path === "" ? name : `${path}.${name}`;
      const member = memberOf(type === "object" ? known : schema, type === "object" ? name : "value");
      if (isSchema(member)) yield* findUnknownMembers(member, value, at);
      else yield toUnknown(at, name, Object.keys(Object(known)));
    }
  } else if (type === "array" && Array.isArray(input)) {
    const item = memberOf(schema, "item");
    if (!isSchema(item)) return;
    for (const [index, value] of input.entries()) yield* findUnknownMembers(item, value, `${path}[${index}]`);
  } else {
    const inner = type === "union" || type === "variant" ? chooseOption(schema, input) : memberOf(schema, "wrapped");
    if (isSchema(inner)) yield* findUnknownMembers(inner, input, path);
  }
}

/**
 * What to send in place of a member that an object of the schema refuses: the most similar one, or the names of all. Empty where the
 * path leads through a choice of objects.
 */
export function describeKnownMembers(schema: Schema, path: string): string {
  const names = path.split(".").map((part) => part.replace(/(\[\d+\])+$/, ""));
  const name = names.pop() ?? "";
  const object = names.reduce<unknown>((at, part) => memberOf(memberOf(unwrap(at), "entries"), part), schema);
  const known = Object.keys(Object(memberOf(unwrap(object), "entries")));
  const similar = findSimilar(name, known);
  if (similar !== undefined) return `; did you mean ${similar}?`;
  return known.length === 0 || known.length > MAX_NAMES ? "" : `; known are ${known.join(", ")}`;
}

/** The schema of an object in a list, or of an optional one. */
function unwrap(schema: unknown): unknown {
  const inner = memberOf(schema, "wrapped") ?? memberOf(schema, "item");
  return inner === undefined ? schema : unwrap(inner);
}

function toUnknown(path: string, name: string, known: readonly string[]): UnknownMember {
  const similar = findSimilar(name, known);
  return { path: takeCharacters(path, PATH_LENGTH), ...(similar === undefined ? {} : { similar }) };
}

function findSimilar(name: string, known: readonly string[]): string | undefined {
  const [nearest] = known
    .map((other) => ({ other, edits: countEdits(withoutCase(name), withoutCase(other)) }))
    .filter(({ edits }) => edits <= MAX_EDITS && edits < name.length / 2)
    .toSorted((a, b) => a.edits - b.edits);
  return nearest?.other;
}

/** `modelId`, `model-id` and `model_id` are one name. */
const withoutCase = (name: string): string => name.toLowerCase().replaceAll(/[_-]/g, "");

/** The insertions, removals and replacements of characters between two texts (Levenshtein), or more than `MAX_EDITS`. */
function countEdits(from: string, to: string): number {
  if (Math.abs(from.length - to.length) > MAX_EDITS) return MAX_EDITS + 1;
  let previous = [...to].map((_, index) => index + 1);
  previous.unshift(0);
  for (let row = 1; row <= from.length; row++) {
    const current = [row];
    for (let column = 1; column <= to.length; column++) {
      const replaced = (previous[column - 1] ?? 0) + (from[row - 1] === to[column - 1] ? 0 : 1);
      current.push(Math.min(replaced, (previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1));
    }
    previous = current;
  }
  return previous.at(-1) ?? 0;
}
