import { readFileSync } from "node:fs";
import { join } from "node:path";
import { registerSchema, setShouldValidateFormat, validate } from "@hyperjump/json-schema/openapi-3-1";
import "@hyperjump/json-schema/formats";
import { beforeAll, describe, expect, it } from "vitest";
import { routes } from "#infra/routes.ts";
import { generateDocument } from "../../../scripts/openapi/document.ts";
import { type Definition, routedEndpoints } from "../../../scripts/openapi/endpoints.ts";
import { isObject, type Json, type JsonObject, mapObjects } from "../../../scripts/openapi/json.ts";
import { listErrors } from "../../../scripts/openapi/problems.ts";

const ADDRESS = "https://runyard.test/openapi.json";
const DIALECT = "https://spec.openapis.org/oas/3.1/schema-base";

let document: JsonObject;
beforeAll(async () => {
  document = await generateDocument();
  setShouldValidateFormat(true);
  registerSchema(loose(document), ADDRESS, DIALECT);
});

describe("docs/openapi.json", () => {
  it("equals the output of `npm run docs`", () => {
    const committed = readFileSync(join(import.meta.dirname, "../../../docs/openapi.json"), "utf8");
    expect(committed === `${JSON.stringify(document, null, 2)}\n`, "run `npm run docs`").toBe(true);
  });

  it("is valid OpenAPI 3.1, including its schemas", async () => {
    expect(await validate(DIALECT, loose(document), "BASIC")).toMatchObject({ valid: true });
  });

  it("has every route with a unique operationId, and no other routes", () => {
    const named = routes.filter(({ path }) => path !== "*").map(({ method, path }) => `${method} ${path}`);
    expect(
      operations()
        .map(({ method, path }) => `${method.toUpperCase()} ${path}`)
        .sort(),
    ).toEqual(named.sort());
    const ids = operations().map(({ operation }) => operation["operationId"]);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it("describes the purpose, permitted callers and errors of each route", () => {
    for (const { operation, path } of operations()) {
      expect(String(operation["summary"]).length, path).toBeGreaterThan(5);
      const statuses = Object.keys(member(operation, "responses"));
      expect(statuses, path).toEqual(expect.arrayContaining(["400", "429", "500", "503"]));
      const principals = operation["x-principals"];
      if (JSON.stringify(principals) === "[]") expect(operation["security"], path).toEqual([]);
      else expect(statuses, path).toEqual(expect.arrayContaining(["401", "403"]));
    }
  });

  // @contract general.docs.components: Its schemas have the names that generated clients use.
  it("names schemas as the specification does", () => {
    expect(Object.keys(schemas())).toEqual(
      expect.arrayContaining([
        ...["RunItem", "AmbientAgentConfig", "RunAgentRequest", "RunAgentResponse", "ListRunsResponse", "PageInfo"],
        ...["RunFollowupRequest", "RunStatusMessage", "RunCreatorInfo", "RunSourceType", "RunState", "MCPServerConfig"],
        "Error",
      ]),
    );
  });

  it("references only existing components, and has no unused one", () => {
    const refs = new Set<string>();
    mapObjects(document, (object) => {
      if (typeof object["$ref"] === "string") refs.add(object["$ref"]);
      return object;
    });
    const there = Object.entries(member(document, "components")).flatMap(([kind, all]) =>
      kind === "securitySchemes"
        ? []
        : Object.keys(isObject(all) ? all : {}).map((name) => `#/components/${kind}/${name}`),
    );
    expect([...refs].filter((ref) => !there.includes(ref))).toEqual([]);
    expect(there.filter((name) => !refs.has(name))).toEqual([]);
  });

  it("describes the warnings of responses to requests with a body, except those that only executions send", () => {
    const warned = Object.keys(schemas()).filter((name) => "warnings" in member(member(schemas(), name), "properties"));
    expect(warned).toEqual(
      expect.arrayContaining(["RunItem", "RunAgentResponse", "DryRunResponse", "IdentityItem", "CreatedKey", "Me"]),
    );
    for (const name of warned) {
      expect(propertyOf(name, "warnings")).toMatchObject({ items: { $ref: "#/components/schemas/RequestWarning" } });
    }
    const without = ["Empty", "HeartbeatResponse", "TokenResponse", "ListRunsResponse", "RequestWarning", "Error"];
    expect(Object.keys(schemas())).toEqual(expect.arrayContaining(without));
    expect(warned.filter((name) => without.includes(name))).toEqual([]);
  });

  it("describes limits that only code checks", () => {
    expect(propertyOf("RunAgentRequest", "title")).toMatchObject({ maxLength: 512 });
    expect(propertyOf("RunAgentRequest", "prompt")).toMatchObject({
      description: expect.stringContaining("262144 bytes"),
    });
    expect(schemas()["RunAgentRequest"]).toMatchObject({ anyOf: expect.anything() });
  });
});

describe("each endpoint", () => {
  it("declares no error that its route implies", async () => {
    const needless = (await routedEndpoints()).flatMap(({ route, definition }) => {
      const list = (errors: Definition["errors"]) => listErrors({ route, definition: { ...definition, errors } });
      const text = (errors: Definition["errors"]) => JSON.stringify([...list(errors)]);
      return definition.errors
        .filter((code) => text(definition.errors.filter((other) => other !== code)) === text(definition.errors))
        .map((code) => `${route.file}: ${code}`);
    });
    expect(needless).toEqual([]);
  });
});

describe("each example", () => {
  it("exists and matches its schema", async () => {
    const refused: unknown[] = [];
    let count = 0;
    for (const { pointer, media } of bodies()) {
      const examples = listExamples(media);
      if (examples.length === 0) refused.push(`${pointer} has no example`);
      for (const example of examples) {
        count++;
        const result = await validate(`${ADDRESS}#${encodeURI(pointer)}/schema`, loose(example), "BASIC");
        if (!result.valid) refused.push({ pointer, example, errors: result.errors?.map(wrongAt) });
      }
    }
    expect(refused).toEqual([]);
    expect(count).toBeGreaterThan(50);
  });

  it("fails the check if it is wrong", async () => {
    const result = await validate(`${ADDRESS}#/components/schemas/RunAgentRequest`, { title: "without a prompt" });
    expect(result.valid).toBe(false);
  });
});

/** Returns a mutable copy, because the validator's types do not accept readonly values. */
const loose = (value: Json) => JSON.parse(JSON.stringify(value));

const wrongAt = ({
  instanceLocation,
  absoluteKeywordLocation,
}: {
  instanceLocation: string;
  absoluteKeywordLocation: string;
}) => `${instanceLocation} against ${absoluteKeywordLocation}`;

function member(object: JsonObject, name: string): JsonObject {
  const value = object[name];
  return isObject(value) ? value : {};
}

const schemas = (): JsonObject => member(member(document, "components"), "schemas");
const propertyOf = (component: string, name: string): Json | undefined =>
  member(member(schemas(), component), "properties")[name];

function operations(): { path: string; method: string; operation: JsonObject }[] {
  const paths = member(document, "paths");
  return Object.keys(paths).flatMap((path) =>
    Object.keys(member(paths, path)).map((method) => ({
      path,
      method,
      operation: member(member(paths, path), method),
    })),
  );
}

/** Every JSON body of requests and responses, with the JSON pointer to it. */
function bodies(): { pointer: string; media: JsonObject }[] {
  const ofOperations = operations().flatMap(({ path, method, operation }) => {
    const base = `/paths/${escaped(path)}/${method}`;
    const responses = member(operation, "responses");
    return [
      ...listContents(member(operation, "requestBody"), `${base}/requestBody`),
      ...Object.keys(responses).flatMap((status) =>
        listContents(member(responses, status), `${base}/responses/${status}`),
      ),
    ];
  });
  const shared = member(member(document, "components"), "responses");
  return [
    ...ofOperations,
    ...Object.keys(shared).flatMap((name) => listContents(member(shared, name), `/components/responses/${name}`)),
  ];
}

function listContents(body: JsonObject, base: string): { pointer: string; media: JsonObject }[] {
  const content = member(body, "content");
  return Object.keys(content)
    .filter((type) => type.includes("json"))
    .map((type) => ({ pointer: `${base}/content/${escaped(type)}`, media: member(content, type) }));
}

function listExamples(media: JsonObject): Json[] {
  const { example } = media;
  const many = Object.values(member(media, "examples")).flatMap((one) =>
    isObject(one) && one["value"] !== undefined ? [one["value"]] : [],
  );
  return example === undefined ? many : [example, ...many];
}

const escaped = (name: string): string => name.replaceAll("~", "~0").replaceAll("/", "~1");
