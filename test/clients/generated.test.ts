import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readDocument } from "../../clients/typescript/scripts/document.ts";
import { generate } from "../../clients/typescript/scripts/generated-files.ts";
import { camelCase, readMethodNames } from "../../clients/typescript/scripts/methods.ts";
import { Runyard, VERSION } from "../../clients/typescript/src/index.ts";
import { APIResource } from "../../clients/typescript/src/resource.ts";

const folder = join(import.meta.dirname, "../../clients/typescript");
const read = (file: string): string => readFileSync(join(folder, file), "utf8");
const client = new Runyard({ apiKey: "ryp_x", baseURL: "http://127.0.0.1:9/api/v1" });

describe("clients/typescript", () => {
  it("is generated from the current OpenAPI document by `npm run docs`", async () => {
    const files = Object.entries(await generate());
    expect(files.filter(([file, text]) => read(file) !== text).map(([file]) => file)).toEqual([]);
  });

  it("has a method for every operation, named in clients/methods.json", () => {
    const names = readMethodNames();
    const missing = readDocument().operations.filter(({ id }) => typeof findMethod(names[id] ?? "") !== "function");
    expect(missing.map(({ id }) => id)).toEqual([]);
  });

  it("lists every method in api.md", () => {
    const page = read("api.md");
    const unlisted = Object.entries(client).flatMap(([name, resource]) =>
      listMethods(`client.${name}`, resource).filter((call) => !page.includes(`\`${call}(`)),
    );
    expect(unlisted).toEqual([]);
    expect(page.match(/^- `client\./gm)?.length).toBeGreaterThan(75);
  });

  it("has the version of its package", () => {
    expect(JSON.parse(read("package.json")).version).toBe(VERSION);
  });
});

function findMethod(dotted: string): unknown {
  const way = dotted.split(".").map(camelCase);
  return way.reduce<unknown>((value, part) => (isObject(value) ? Reflect.get(value, part) : undefined), client);
}

/** `client.identities.create`, and so on, of a resource and of those below it. */
function listMethods(prefix: string, resource: unknown): string[] {
  if (!(resource instanceof APIResource)) return [];
  const names = new Set<string>();
  for (let type = Object.getPrototypeOf(resource); type !== APIResource.prototype; type = Object.getPrototypeOf(type)) {
    for (const name of Object.getOwnPropertyNames(type)) names.add(name);
  }
  names.delete("constructor");
  const below = Object.entries(resource).flatMap(([name, part]) => listMethods(`${prefix}.${name}`, part));
  return [...[...names].map((name) => `${prefix}.${name}`), ...below];
}

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null;
