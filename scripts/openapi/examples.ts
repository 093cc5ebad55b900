import { OWN_EXAMPLES } from "./example-values.ts";
import { isObject, type Json, type JsonObject, memberOf } from "./json.ts";
import { buildSample } from "./sample.ts";

/** Adds examples of all request and response bodies to the document. */
export function withExamples(document: JsonObject): JsonObject {
  const components = memberOf(memberOf(document, "components"), "schemas");
  const paths = mapMembers(memberOf(document, "paths"), (item) =>
    mapMembers(item, (operation) => operationWithExamples(operation, components)),
  );
  return { ...document, paths };
}

function operationWithExamples(operation: JsonObject, components: JsonObject): JsonObject {
  const id = String(operation["operationId"]).replace(/AtOlderPath$/, "");
  const body = operation["requestBody"];
  const responses = mapMembers(memberOf(operation, "responses"), (response, status) =>
    isObject(response["content"]) ? withExample(response, id, `${id}.${status}`, components) : response,
  );
  return {
    ...operation,
    ...(isObject(body) ? { requestBody: withExample(body, id, id, components) } : {}),
    responses,
  };
}

/** Adds the examples of example-values.ts, or else a generated one. */
function withExample(body: JsonObject, operation: string, name: string, components: JsonObject): JsonObject {
  const full = name !== operation;
  const content = mapMembers(memberOf(body, "content"), (media, type) => {
    if (type !== "application/json") return media;
    const own = OWN_EXAMPLES[name];
    if (own !== undefined)
      return {
        ...media,
        examples: Object.fromEntries(Object.entries(own).map(([title, value]) => [title, { value }])),
      };
    return {
      ...media,
      example: buildSample(memberOf(media, "schema"), components, full, { depth: 0, component: operation }),
    };
  });
  return { ...body, content };
}

function mapMembers(object: JsonObject, change: (value: JsonObject, name: string) => Json): JsonObject {
  return Object.fromEntries(
    Object.entries(object).map(([name, value]) => [name, isObject(value) ? change(value, name) : value]),
  );
}
