import * as v from "valibot";

/** A JSON value, and an object of them, as a JSON Schema is. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
type JsonObject = { readonly [name: string]: Json };

const MAX_BYTES = 65_536;
/** The JSON Schema that the response of an agent has to fit. */
export const OutputSchema = v.pipe(
  v.record(v.string(), v.unknown()),
  v.check(
    (schema) => Buffer.byteLength(JSON.stringify(schema)) <= MAX_BYTES,
    `must have at most ${MAX_BYTES} bytes as JSON`,
  ),
  v.guard(isJsonObject),
  v.metadata({ description: "A JSON Schema of at most 65536 bytes in UTF-8. It cannot refer to other documents." }),
);

/** The same as it is stored. */
export const StoredOutputSchema = v.pipe(v.record(v.string(), v.unknown()), v.guard(isJsonObject));

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
