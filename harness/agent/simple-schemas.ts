import { isMembers, type Members, toList, toText } from "./dialects/members.ts";
import type { ModelApi } from "./optional-members.ts";

/** Levels of a schema that are kept. */
const MAX_DEPTH = 12;

/** Reduces the schemas of a request's tools to what each server understands. The tools check their input themselves. */
export function simplifyTools(api: ModelApi, body: Members): Members {
  const tools = toList(body["tools"]);
  if (tools.length === 0) return body;
  return { ...body, tools: tools.map((tool) => (isMembers(tool) ? simplifyTool(api, tool) : tool)) };
}

function simplifyTool(api: ModelApi, tool: Members): Members {
  if (api === "messages") return { ...tool, input_schema: simplifyRoot(tool["input_schema"]) };
  if (api === "responses") return { ...tool, parameters: simplifyRoot(tool["parameters"]) };
  const { function: called } = tool;
  return isMembers(called)
    ? { ...tool, function: { ...called, parameters: simplifyRoot(called["parameters"]) } }
    : tool;
}

/** The root of an input is an object with properties. */
function simplifyRoot(schema: unknown): Members {
  const root = isMembers(schema) ? schema : {};
  const { type: _, properties, required } = simplify(root, { root, depth: 0, references: [] });
  return { type: "object", properties: properties ?? {}, ...(required === undefined ? {} : { required }) };
}

/** The place of a schema in that of an input. */
interface Place {
  readonly root: Members;
  readonly depth: number;
  /** Those that were followed to it. */
  readonly references: readonly string[];
}

/** Keeps the type, the properties, the items, the values and the description of a schema. */
function simplify(sent: unknown, outer: Place): Members {
  const { schema, references } = resolve(sent, outer);
  const { description, enum: values, const: constant, properties, required, items } = schema;
  const type = chooseType(schema);
  const texts = [...toList(values), ...(constant === undefined ? [] : [constant])].filter(
    (value) => typeof value === "string",
  );
  const known = isMembers(properties) ? Object.keys(properties) : [];
  const names = toList(required).filter((name) => typeof name === "string" && known.includes(name));
  const inner = { root: outer.root, depth: outer.depth + 1, references };
  const hasRoom = outer.depth < MAX_DEPTH;
  return {
    ...(type === undefined ? {} : { type }),
    ...(toText(description) === "" ? {} : { description }),
    ...(texts.length === 0 ? {} : { enum: texts }),
    ...(isMembers(properties) && hasRoom
      ? {
          properties: Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, simplify(one, inner)])),
        }
      : {}),
    ...(names.length === 0 ? {} : { required: names }),
    ...(type === "array" ? { items: hasRoom ? simplify(items, inner) : { type: "string" } } : {}),
  };
}

interface Resolved {
  readonly schema: Members;
  readonly references: readonly string[];
}

/** Follows a reference within the schema, unless it leads to itself, and takes the first alternative that is not null. */
function resolve(sent: unknown, { root, depth, references }: Place): Resolved {
  if (!isMembers(sent) || depth > MAX_DEPTH) return { schema: {}, references };
  const path = toText(sent["$ref"]);
  if (path.startsWith("#/")) {
    // What a schema contains of itself would grow with each level.
    if (references.includes(path)) return { schema: { type: "object" }, references };
    const target = path
      .slice(2)
      .split("/")
      .reduce<unknown>((at, name) => (isMembers(at) ? at[name] : undefined), root);
    return resolve(target, { root, depth: depth + 1, references: [...references, path] });
  }
  const options = [sent["anyOf"], sent["oneOf"], sent["allOf"]].flatMap(toList).filter(isMembers);
  const first = options.find(({ type }) => type !== "null");
  if (first === undefined) return { schema: sent, references };
  const found = resolve(first, { root, depth: depth + 1, references });
  return { schema: { ...found.schema, ...sent }, references: found.references };
}

function chooseType({ type, properties, items, enum: values, const: constant }: Members): string | undefined {
  const found = [type].flat().find((name) => typeof name === "string" && name !== "null");
  if (typeof found === "string") return found;
  if (isMembers(properties)) return "object";
  if (items !== undefined) return "array";
  return values === undefined && constant === undefined ? undefined : "string";
}
