import * as v from "valibot";
import { textOfBytes } from "./primitives.ts";
import { isReservedName } from "./secrets/reserved-name.ts";

const MAX_VARIABLES = 100;

/** The name of a plain variable, as shells read it. Reserved names are those that secrets may not have either. */
const VariableName = v.pipe(
  v.string(),
  v.regex(
    /^[A-Za-z_][A-Za-z0-9_]{0,127}$/,
    "must have 1 to 128 of the characters A-Z a-z 0-9 _ and start with a letter or underscore",
  ),
  v.check(
    (name) => !isReservedName(name),
    ({ input }) => `${input} is a reserved variable: choose another name`,
  ),
);
const VariableValue = v.pipe(
  textOfBytes(8192),
  v.check((value) => !value.includes("\0"), "must not contain NUL"),
);

/** Plain environment variables of commands, by name. Everyone who can read the environment can read them. */
export const Variables = v.pipe(v.record(VariableName, VariableValue), v.maxEntries(MAX_VARIABLES));
