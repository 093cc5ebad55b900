import * as v from "valibot";
import { textOfBytes } from "./primitives.ts";

export const MAX_METADATA = 20;

/** Metadata: at most 20 keys. That of a run is immutable. */
export const Metadata = v.pipe(
  v.record(
    v.pipe(v.string(), v.regex(/^[a-zA-Z0-9._-]{1,64}$/, "keys must match [a-zA-Z0-9._-]{1,64}")),
    textOfBytes(256),
  ),
  v.maxEntries(MAX_METADATA, `must have at most ${MAX_METADATA} keys`),
);
