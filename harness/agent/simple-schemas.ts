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
  const { type: _, properties, required } = simplify(root, root, 0);
  return { type: "object", properties: properties ?? {}, ...(required === undefined ? {} : { required }) };
}

/** Keeps the type, the properties, the items, the values and the description of a schema. */
function simplify(sent: unknown, root: Members, depth: number): Members {
  const schema = resolve(sent, root, depth);
  const { description, enum: values, const: constant, properties, required, items } = schema;
  const type = chooseType(schema);
  const texts = [...toList(values), ...(constant === undefined ? [] : [constant])].filter(
    (value) => typeof value === "string",
  );
  const known = isMembers(properties) ? Object.keys(properties) : [];
  const names = toList(required).filter((name) => typeof name === "string" && known.includes(name));
  return {
    ...(type === undefined ? {} : { type }),
    ...(toText(description) === "" ? {} : { description }),
    ...(texts.length === 0 ? {} : { enum: texts }),
    ...(isMembers(properties) && depth < MAX_DEPTH
      ? {
          properties: Object.fromEntries(
            Object.entries(properties).map(([name, one]) => [name, simplify(one, root, depth + 1)]),
          ),
        }
      : {}),
    ...(names.length === 0 ? {} : { required: names }),
    ...(type === "array" ? { items: depth < MAX_DEPTH ? simplify(items, root, depth + 1) : { type: "string" } } : {}),
  };
}

/** Follows a reference within the schema, and takes the first alternative that is not null. */
function resolve(sent: unknown, root: Members, depth: number): Members {
  if (!isMembers(sent)) return {};
  const path = toText(sent["$ref"]);
  if (path.startsWith("#/") && depth < MAX_DEPTH) {
    const target = path
      .slice(2)
      .split("/")
      .reduce<unknown>((at, name) => (isMembers(at) ? at[name] : undefined), root);
    return resolve(target, root, depth + 1);
  }
  const options = [sent["anyOf"], sent["oneOf"], sent["allOf"]].flatMap(toList).filter(isMembers);
  const first = options.find(({ type }) => type !== "null");
  return first === undefined ? sent : { ...resolve(first, root, depth + 1), ...sent };
}

function chooseType({ type, properties, items, enum: values, const: constant }: Members): string | undefined {
  const found = [type].flat().find((name) => typeof name === "string" && name !== "null");
  if (typeof found === "string") return found;
  if (isMembers(properties)) return "object";
  if (items !== undefined) return "array";
  return values === undefined && constant === undefined ? undefined : "string";
}
