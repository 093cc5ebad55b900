import { globSync } from "node:fs";
import { join } from "node:path";
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { root } from "../../../scripts/run-command.ts";

const Schema = v.looseObject({ kind: v.literal("schema"), type: v.string() });
type Schema = v.InferOutput<typeof Schema>;
const isSchema = (value: unknown): value is Schema => v.is(Schema, value);
const isEntries = (value: unknown): value is Record<string, unknown> => v.is(v.record(v.string(), v.unknown()), value);

describe("every schema of what is sent and stored", () => {
  it("has the members, choices and limits of schemas.txt (`npx vitest run test/domain/http/schemas.test.ts -u` after a change)", async () => {
    const named = await readSchemas();
    const lines = [...named].map(
      ([schema, name]) => `${name}: ${describeSchema(schema, new Map([...named].filter(([one]) => one !== schema)))}`,
    );
    expect(lines.length).toBeGreaterThan(150);
    await expect(`${lines.join("\n")}\n`).toMatchFileSnapshot("schemas.txt");
  });
});

/** The exported schemas of shared/ with their file and name. Uses the first of two names for the same schema. */
async function readSchemas(): Promise<ReadonlyMap<Schema, string>> {
  const named = new Map<Schema, string>();
  for (const file of globSync("shared/**/*.ts", { cwd: root }).toSorted()) {
    const exported: Record<string, unknown> = await import(join(root, file));
    for (const [name, value] of Object.entries(exported)) {
      if (isSchema(value) && !named.has(value)) named.set(value, `${file.replace(/^shared\/|\.ts$/g, "")} ${name}`);
    }
  }
  return named;
}

/** Formats a schema in one line, in which exported schemas appear by name. */
function describeSchema(schema: Schema, named: ReadonlyMap<Schema, string>): string {
  const name = named.get(schema);
  if (name !== undefined) return name.replace(/^.* /, "");
  const inner = (value: unknown): string => (isSchema(value) ? describeSchema(value, named) : format(value));
  const { pipe, entries, item, items, key, value, wrapped, options, literal, rest, type } = schema;
  if (Array.isArray(pipe)) {
    const [first, ...actions] = pipe;
    const base = inner(first === schema ? { ...schema, pipe: undefined } : first);
    return [base, ...actions.map((action) => (isSchema(action) ? inner(action) : describeAction(action)))].join(" ");
  }
  const parts: string[] = [];
  if (isEntries(entries))
    parts.push(
      `{ ${Object.entries(entries)
        .map(([member, one]) => `${member}: ${inner(one)}`)
        .join("; ")} }`,
    );
  if (Array.isArray(options)) parts.push(`(${options.map(inner).join(" | ")})`);
  if (Array.isArray(items)) parts.push(`[${items.map(inner).join(", ")}]`);
  for (const one of [key, item, value, wrapped, rest]) if (isSchema(one)) parts.push(inner(one));
  if (literal !== undefined) parts.push(format(literal));
  if (schema["default"] !== undefined) parts.push(`= ${format(schema["default"])}`);
  return [type, ...parts].join(" ");
}

const Action = v.object({ type: v.string(), requirement: v.optional(v.unknown()), metadata: v.optional(v.unknown()) });

function describeAction(action: unknown): string {
  const { type, requirement, metadata } = v.parse(Action, action);
  if (metadata !== undefined) return `(${format(metadata)})`;
  return requirement === undefined || typeof requirement === "function" ? type : `${type}(${format(requirement)})`;
}

function format(value: unknown): string {
  if (value instanceof RegExp) return String(value);
  return typeof value === "function" ? "function" : JSON.stringify(value);
}
