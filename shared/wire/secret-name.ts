import * as v from "valibot";

/** The name by which configurations refer to a secret. */
export const SecretName = v.pipe(
  v.string(),
  v.regex(/^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/, "must match [A-Za-z0-9_][A-Za-z0-9_.-]{0,127}"),
);
