import * as v from "valibot";
import { textOfBytes } from "./primitives.ts";

export const MAX_METADATA = 20;

/** Labels: at most 20 keys. The labels of a run cannot be changed. */
export const Metadata = v.pipe(
  v.record(
    v.pipe(
      v.string(),
      // The three names are refused in every map, see shared/http/unsupported-input.ts; here they are for the OpenAPI document.
      v.regex(
        /^(?!(?:constructor|prototype|__proto__)$)[a-zA-Z0-9._-]{1,64}$/,
        "must have keys of 1 to 64 of the characters a-z A-Z 0-9 . _ -, except constructor, prototype and __proto__",
      ),
    ),
    textOfBytes(256),
  ),
  v.maxEntries(MAX_METADATA, `must have at most ${MAX_METADATA} keys`),
);
