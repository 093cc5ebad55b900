import * as v from "valibot";

/** A query parameter that is `true` or `false`, exactly. */
export const Flag = v.pipe(
  v.picklist(["true", "false"], "must be true or false"),
  v.transform((text) => text === "true"),
);
