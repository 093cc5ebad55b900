import { beforeAll, describe, expect, it } from "vitest";
import { ERROR_GUIDE } from "#shared/docs/error-guide.ts";
import { ERRORS } from "#shared/errors.ts";
import { generateDocument } from "../../../scripts/openapi/document.ts";
import { isObject, type Json, type JsonObject } from "../../../scripts/openapi/json.ts";
import { termsIn } from "../../../scripts/terms.ts";

/** The verbs that a summary may start with. */
const VERBS = new Set(
  (
    "Accepts Adds Appends Archives Cancels Changes Commits Creates Deletes Ends Exchanges Finds Interrupts Lists Notifies Pauses Promotes Pushes Redirects Registers Removes Renews " +
    "Replaces Reports Resumes Returns Revokes Sends Shares Starts Stops Updates"
  ).split(" "),
);

let document: JsonObject;
beforeAll(async () => {
  document = await generateDocument();
});

describe("the summary of every operation", () => {
  it("starts with a verb in the third person", () => {
    const verbs = operations().map(({ summary }) => toText(summary).split(" ")[0] ?? "");
    expect(verbs.filter((verb) => !VERBS.has(verb))).toEqual([]);
    expect(verbs.length).toBeGreaterThan(80);
  });

  it("is one sentence of at most 12 words that ends with a period", () => {
    const summaries = operations().map(({ summary }) => toText(summary));
    const wrong = summaries.filter((text) => !/^[^.]+\.$/.test(text) || text.split(" ").length > 12);
    expect(wrong).toEqual([]);
  });

  it("begins the description", () => {
    const wrong = operations().filter(({ summary, description }) => !toText(description).startsWith(toText(summary)));
    expect(wrong.map(({ operationId }) => operationId)).toEqual([]);
  });
});

describe("the OpenAPI document", () => {
  it("describes every schema", () => {
    const undescribed = Object.entries(schemas()).filter(([, schema]) => !isDescribed(schema));
    expect(undescribed.map(([name]) => name)).toEqual([]);
  });

  it("describes every member of every request and response", () => {
    const places = [
      ...Object.entries(schemas()).flatMap(([name, schema]) => membersIn(schema, name)),
      ...operations().flatMap((operation) => membersIn(listBodies(operation), toText(operation["operationId"]))),
    ];
    expect(places.filter(({ member }) => !isDescribed(member)).map(({ place }) => place)).toEqual([]);
    expect(places.length).toBeGreaterThan(700);
  });

  it("describes every parameter, header, tag and response", () => {
    const operationParts = operations().flatMap((operation) => [
      ...toList(operation["parameters"]),
      ...Object.values(getMembers(operation, "responses")),
    ]);
    const components = getMembers(document, "components");
    const shared = ["parameters", "headers", "responses", "securitySchemes"].flatMap((kind) =>
      Object.values(getMembers(components, kind)),
    );
    const all = [...operationParts, ...shared, ...toList(document["tags"])].filter((part) => !isReference(part));
    expect(all.filter((part) => !isDescribed(part))).toEqual([]);
    expect(all.length).toBeGreaterThan(200);
  });

  it("has sentences in plain terms as summaries and descriptions", () => {
    const texts = textsIn(document);
    expect(texts.flatMap((text) => termsIn("openapi", text))).toEqual([]);
    expect(texts.filter((text) => !/^[A-Z`].*[.`:!?]$/s.test(text))).toEqual([]);
    expect(texts.length).toBeGreaterThan(900);
  });
});

describe("the error guide", () => {
  it("explains every error code in plain terms", () => {
    expect(Object.keys(ERROR_GUIDE)).toEqual(Object.keys(ERRORS));
    const texts = Object.values(ERROR_GUIDE).flatMap(({ meaning, remedy }) => [meaning, remedy]);
    expect(texts.filter((text) => !/^[A-Z].*\.$/s.test(text))).toEqual([]);
    expect(texts.flatMap((text) => termsIn("error guide", text))).toEqual([]);
  });
});

const toText = (value: Json | undefined): string => (typeof value === "string" ? value : "");
const toList = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? value : []);
const isDescribed = (value: Json): boolean => isObject(value) && toText(value["description"]).length > 5;
const isReference = (value: Json): boolean => isObject(value) && "$ref" in value;

function getMembers(object: JsonObject, name: string): JsonObject {
  const value = object[name];
  return isObject(value) ? value : {};
}

const schemas = (): JsonObject => getMembers(getMembers(document, "components"), "schemas");

const operations = (): readonly JsonObject[] =>
  Object.values(getMembers(document, "paths"))
    .flatMap((methods) => (isObject(methods) ? Object.values(methods) : []))
    .filter(isObject);

const listBodies = (operation: JsonObject): Json => [
  getMembers(operation, "requestBody"),
  ...Object.values(getMembers(operation, "responses")),
];

/** Members of objects at any depth. Conditions, which repeat a member without its type, do not count. */
function membersIn(schema: Json, place: string): { place: string; member: Json }[] {
  if (Array.isArray(schema)) return schema.flatMap((entry: Json) => membersIn(entry, place));
  if (!isObject(schema)) return [];
  const members = schema["type"] === "object" ? Object.entries(getMembers(schema, "properties")) : [];
  return [
    ...members.map(([name, member]) => ({ place: `${place}.${name}`, member })),
    ...members.flatMap(([name, member]) => membersIn(member, `${place}.${name}`)),
    ...Object.entries(schema)
      .filter(([keyword]) => !/^(properties|example|examples)$/.test(keyword))
      .flatMap(([, value]) => membersIn(value, place)),
  ];
}

/** Summaries and descriptions at any depth, except in examples. */
function textsIn(value: Json): string[] {
  if (Array.isArray(value)) return value.flatMap((entry: Json) => textsIn(entry));
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([name, inner]) => {
    if (/^(example|examples)$/.test(name)) return [];
    return /^(summary|description)$/.test(name) && typeof inner === "string" ? [inner] : textsIn(inner);
  });
}
