import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { isObject, type JsonObject } from "../../scripts/openapi/json.ts";
import { root } from "../../scripts/run-command.ts";

const read = (file: string): string => readFileSync(join(root, file), "utf8");
const document: unknown = JSON.parse(read("docs/openapi.json"));

interface Row {
  readonly what: string;
  readonly limit: string;
  readonly from: string;
}
const rows: readonly Row[] = [...read("docs/limits.md").matchAll(/^\| (.+) \| (.+) \| .+ \| (.+) \|$/gm)]
  .map(([, what = "", limit = "", from = ""]) => ({ what, limit, from }))
  .filter(({ what }) => what !== "limit");

describe("docs/limits.md", () => {
  it("lists more than forty limits", () => {
    expect(rows.length).toBeGreaterThan(40);
  });

  it.each(rows.map((row) => [row.what, row] as const))("gives the value of the code for “%s”", (_, { limit, from }) => {
    expect(Math.floor(numberIn(limit))).toBe(Math.floor(numberFrom(from)));
  });
});

const UNITS: Readonly<Record<string, number>> = {
  KiB: 1024,
  MiB: 1024 ** 2,
  GiB: 1024 ** 3,
  minutes: 60,
  hours: 3600,
  days: 86_400,
};

/** The number of a cell; times in seconds, sizes in bytes. */
function numberIn(cell: string): number {
  const [, digits = "", unit = ""] = /^([\d.,]+\d|\d)(?: (\w+))?/.exec(cell) ?? [];
  return Number(digits.replaceAll(",", "")) * (UNITS[unit] ?? 1);
}

/** Reads the number whose source a cell names. */
function numberFrom(cell: string): number {
  const [, name, file] = /^\[([\w.]+)\]\(\.\.\/(.+)\)$/.exec(cell) ?? [];
  if (name !== undefined && file !== undefined) return readConstant(file, name);
  const [, header] = /^parameter (.+)$/.exec(cell) ?? [];
  if (header !== undefined) return readMaximum(at("components", "parameters", header, "schema"));
  const [, path, parameter] = /^GET (\S+) (\w+)$/.exec(cell) ?? [];
  if (path !== undefined) return readMaximum(findParameter(path, parameter));
  const [component = "", member = ""] = cell.replace(/^values of /, "").split(".");
  const schema = at("components", "schemas", component, "properties", member);
  return readMaximum(cell.startsWith("values of ") ? readValues(schema) : schema);
}

/** A constant, or a member of one: the first number after its name, on the line of the member. */
function readConstant(file: string, name: string): number {
  const inner = name.replace(/^.*\./, "");
  const path = name.replaceAll(".", "\\b[^]*?\\b");
  const [, expression] = new RegExp(`\\b${path}\\b[^\\d\\n]*([\\d_.]+(?: \\* [\\d_.]+)*)`).exec(read(file)) ?? [];
  if (expression === undefined) throw new Error(`${file} has no number ${name}`);
  const product = expression
    .split(" * ")
    .map((factor) => Number(factor.replaceAll("_", "")))
    .reduce((all, factor) => all * factor, 1);
  if (inner.endsWith("_MS")) return product / 1000;
  return inner.endsWith("_DAYS") ? product * 86_400 : product;
}

/** The maximum that a schema allows; for a choice, that of its largest part. */
function readMaximum(schema: JsonObject): number {
  const choices = schema["anyOf"];
  if (Array.isArray(choices))
    return Math.max(
      ...choices
        .filter(isObject)
        .filter(({ type }) => type !== "null")
        .map(readMaximum),
    );
  return Number(schema["maxLength"] ?? schema["maximum"] ?? schema["maxItems"] ?? schema["maxProperties"]);
}

/** The schema of a map's values. */
function readValues(schema: JsonObject): JsonObject {
  const target = typeof schema["$ref"] === "string" ? at(...schema["$ref"].split("/").slice(1)) : schema;
  const values = target["additionalProperties"];
  if (!isObject(values)) throw new Error("it is not a map");
  return values;
}

function findParameter(path: string, name: string | undefined): JsonObject {
  const parameters = at("paths", path, "get")["parameters"];
  const found = Array.isArray(parameters) ? parameters.filter(isObject).find((one) => one["name"] === name) : undefined;
  const schema = found?.["schema"];
  if (!isObject(schema)) throw new Error(`GET ${path} has no parameter ${name}`);
  return schema;
}

function at(...names: readonly string[]): JsonObject {
  const found = names.reduce<unknown>((value, name) => (isObject(value) ? value[name] : undefined), document);
  if (!isObject(found)) throw new Error(`docs/openapi.json has no ${names.join("/")}`);
  return found;
}
