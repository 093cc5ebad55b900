import * as v from "valibot";

export type Schema = v.GenericSchema<unknown, unknown>;

/** The options of a union that an input may match: a list matches no object and no map, although valibot accepts it as one. */
export function listOptions(schema: Schema, input: unknown): Schema[] {
  const options: unknown = memberOf(schema, "options");
  return (Array.isArray(options) ? options : [])
    .filter(isSchema)
    .filter(({ type }) => !(Array.isArray(input) && (type === "object" || type === "record")));
}

/** The option of a union by which an input is parsed: the first one that it matches. */
export const chooseOption = (schema: Schema, input: unknown): Schema | undefined =>
  listOptions(schema, input).find((option) => v.is(option, input));

/** A part of a schema by its name: its entries, the schema of a list's items, and the like. */
export function memberOf(value: unknown, name: string): unknown {
  if (typeof value !== "object" || value === null) return undefined;
  return Object.getOwnPropertyDescriptor(value, name)?.value;
}

export const isSchema = (value: unknown): value is Schema =>
  typeof value === "object" && value !== null && "type" in value && "~run" in value;
