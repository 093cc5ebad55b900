import { globSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { type ConversionConfig, toJsonSchema, toJsonSchemaDefs } from "@valibot/to-json-schema";
import type * as v from "valibot";
import { MCPServerConfig } from "#shared/wire/config.ts";
import { root } from "../run-command.ts";
import { facts } from "./facts.ts";
import { isObject, type Json, type JsonObject, mapObjects, refsIn, toJson } from "./json.ts";

type Schema = v.GenericSchema<unknown, unknown>;

/** Whether a schema describes a request, before transformations, or a response. */
export type Side = "input" | "output";

/** Component names of the specification for schemas with another name. */
export const ALIASES: Readonly<Record<string, string>> = { UserProfile: "RunCreatorInfo", Problem: "Error" };

/** The schemas of shared/wire by component name. Only objects, unions and enums become components. */
export async function namedSchemas(): Promise<Readonly<Record<string, Schema>>> {
  const named: Record<string, Schema> = { MCPServerConfig };
  for (const file of globSync("shared/wire/**/*.ts", { cwd: root }).sort()) {
    const module: Record<string, unknown> = await import(pathToFileURL(join(root, file)).href);
    for (const [exported, value] of Object.entries(module)) {
      const name = ALIASES[exported] ?? exported;
      if (!isSchema(value) || !/^(object|strict_object|record|variant|union|picklist|lazy)$/.test(value.type)) continue;
      if (named[name] !== undefined && named[name] !== value) throw new Error(`two schemas are called ${name}`);
      named[name] = value;
    }
  }
  return named;
}

export const isSchema = (value: unknown): value is Schema =>
  typeof value === "object" && value !== null && "type" in value && "~run" in value;

/** The JSON Schemas of an API. A component that differs between requests and responses is split in two. */
export class SchemaBook {
  readonly #named: Readonly<Record<string, Schema>>;
  readonly #sides: Readonly<Record<Side, Readonly<Record<string, JsonObject>>>>;
  readonly #used: Readonly<Record<Side, Set<string>>> = { input: new Set(), output: new Set() };

  constructor(named: Readonly<Record<string, Schema>>) {
    this.#named = named;
    this.#sides = { input: definitions(named, "input"), output: definitions(named, "output") };
  }

  /** Converts one schema of the document. `finish` replaces its references, once all schemas are converted. */
  convert(schema: Schema, side: Side): JsonObject {
    const { $schema: _, $defs: __, ...json } = toJsonSchema(schema, { ...config(side), definitions: this.#named });
    const tidied = tidy(toJson(json));
    for (const name of refsIn(tidied)) this.#use(name, side);
    return asObject(mapRefs(tidied, (name) => `${side}:${name}`));
  }

  /** Every component that was used, by name. */
  components(): Readonly<Record<string, JsonObject>> {
    const split = this.#split();
    const found = new Map<string, JsonObject>();
    for (const side of ["input", "output"] as const) {
      for (const name of this.#used[side]) {
        const schema = this.#sides[side][name];
        if (schema === undefined) throw new Error(`there is no component ${name}`);
        const finished = mapRefs(schema, (inner) => refTo(nameOn(side, inner, split)));
        found.set(nameOn(side, name, split), asObject(finished));
      }
    }
    return Object.fromEntries([...found].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  /** Replaces the references of `convert` by the final component names. */
  finish(document: JsonObject): JsonObject {
    const split = this.#split();
    return asObject(
      mapObjects(document, (object) => {
        const [, side, name] = /^(input|output):(.*)$/.exec(String(object["$ref"])) ?? [];
        if (name === undefined) return object;
        return { ...object, $ref: refTo(nameOn(side === "input" ? "input" : "output", name, split)) };
      }),
    );
  }

  #use(name: string, side: Side): void {
    if (this.#used[side].has(name)) return;
    this.#used[side].add(name);
    for (const inner of refsIn(this.#sides[side][name] ?? {})) this.#use(inner, side);
  }

  /** The components that differ between requests and responses, or contain one that does. */
  #split(): ReadonlySet<string> {
    const both = [...this.#used.input].filter((name) => this.#used.output.has(name));
    const split = new Set<string>();
    for (let before = -1; before < split.size; ) {
      before = split.size;
      for (const name of both) {
        const input = this.#sides.input[name] ?? {};
        const differs = JSON.stringify(input) !== JSON.stringify(this.#sides.output[name]);
        if (differs || [...refsIn(input)].some((inner) => split.has(inner))) split.add(name);
      }
    }
    return split;
  }
}

function definitions(named: Readonly<Record<string, Schema>>, side: Side): Readonly<Record<string, JsonObject>> {
  const all = Object.entries(toJsonSchemaDefs({ ...named }, config(side)));
  return Object.fromEntries(all.map(([name, schema]) => [name, { ...tidy(toJson(schema)), ...facts[name] }]));
}

const config = (side: Side): ConversionConfig => ({
  target: "draft-2020-12",
  typeMode: side,
  errorMode: "ignore",
  overrideRef: ({ referenceId }) => `#/components/schemas/${referenceId}`,
  overrideAction({ valibotAction: action, jsonSchema }) {
    const message = "message" in action && typeof action.message === "string" ? action.message : undefined;
    // JSON Schema cannot express a check, so its message becomes a sentence, unless metadata expresses it.
    if (action.type === "check" || action.type === "regex")
      return { ...jsonSchema, "x-rules": rules(jsonSchema, message) };
    if (action.type === "metadata") return { ...jsonSchema, "x-rules": undefined };
    return undefined;
  },
});

function rules(schema: object, message: string | undefined): readonly string[] {
  const before: unknown = "x-rules" in schema ? schema["x-rules"] : [];
  return [...(Array.isArray(before) ? before : []), ...(message === undefined ? [] : [message])];
}

/** Appends the rules to the description and removes empty keywords. */
function tidy(schema: JsonObject): JsonObject {
  return asObject(
    mapObjects(schema, ({ "x-rules": broken, ...object }) => {
      const rules = Array.isArray(broken) ? broken.map((rule: Json) => sentence(String(rule))) : [];
      const description = [object["description"], ...rules].filter((part) => typeof part === "string").join(" ");
      const names = object["propertyNames"];
      return Object.fromEntries(
        Object.entries({ ...object, ...(description === "" ? {} : { description }) }).filter(
          ([name, value]) =>
            !(name === "required" && Array.isArray(value) && value.length === 0) &&
            !(name === "propertyNames" && isObject(names) && Object.keys(names).length === 1),
        ),
      );
    }),
  );
}

const sentence = (rule: string): string => `${rule.charAt(0).toUpperCase()}${rule.slice(1)}.`;

function mapRefs(schema: Json, rename: (name: string) => string): Json {
  return mapObjects(schema, (object) => {
    const ref = object["$ref"];
    return typeof ref === "string" ? { ...object, $ref: rename(ref.replace(/^.*\//, "")) } : object;
  });
}

const refTo = (name: string): string => `#/components/schemas/${name}`;

const nameOn = (side: Side, name: string, split: ReadonlySet<string>): string =>
  side === "input" && split.has(name) ? `${name}Input` : name;

function asObject(value: Json): JsonObject {
  if (!isObject(value)) throw new Error("a schema is an object");
  return value;
}
