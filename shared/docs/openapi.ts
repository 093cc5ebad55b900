export interface JsonObject {
  readonly [name: string]: unknown;
}

/** An operation of the OpenAPI document. */
export interface Operation {
  readonly method: string;
  readonly path: string;
  readonly id: string;
  readonly tag: string;
  readonly data: JsonObject;
}

/** A tag with its operations. */
export interface Tag {
  readonly name: string;
  readonly description: string;
  readonly operations: readonly Operation[];
}

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);
export const toObject = (value: unknown): JsonObject => (isObject(value) ? value : {});
export const toList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
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
  return toObject(found);
}

/** The name at the end of a reference. */
export const refName = (ref: string): string => ref.replace(/^.*\//, "");

export function listOperations(document: JsonObject): readonly Operation[] {
  return Object.entries(toObject(document["paths"])).flatMap(([path, item]) =>
    Object.entries(toObject(item)).map(([method, value]) => {
      const data = toObject(value);
      const [tag] = toList(data["tags"]);
      return { method: method.toUpperCase(), path, id: toText(data["operationId"]), tag: toText(tag), data };
    }),
  );
}

export function listTags(document: JsonObject): readonly Tag[] {
  const operations = listOperations(document);
  return toList(document["tags"]).map((value) => {
    const tag = toObject(value);
    const name = toText(tag["name"]);
    const tagged = operations.filter((operation) => operation.tag === name);
    return { name, description: toText(tag["description"]), operations: tagged };
  });
}

/** The JSON body of a request of an operation: its schema and its examples. */
export const getRequestBody = (operation: JsonObject): JsonObject =>
  toObject(toObject(toObject(operation["requestBody"])["content"])["application/json"]);

/** The examples of a body. */
export function listExamples(body: JsonObject): readonly unknown[] {
  const examples = Object.values(toObject(body["examples"])).map((example) => toObject(example)["value"]);
  return (examples.length > 0 ? examples : [body["example"]]).filter((example) => example !== undefined);
}

export const listSchemas = (document: JsonObject): readonly (readonly [string, JsonObject])[] =>
  Object.entries(toObject(toObject(document["components"])["schemas"])).map(([name, schema]) => [
    name,
    toObject(schema),
  ]);

/** The alternatives of a union. */
export const listAlternatives = (schema: JsonObject): readonly JsonObject[] =>
  [schema["oneOf"], schema["anyOf"]].flatMap((options) => toList(options).filter(isObject));
