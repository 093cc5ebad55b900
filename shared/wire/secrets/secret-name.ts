import * as v from "valibot";

/** The name by which configurations refer to a secret. */
export const SecretName = v.pipe(
  v.string(),
  v.regex(
    /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/,
    "must have 1 to 128 of the characters A-Z a-z 0-9 _ . - and start with a letter, digit or underscore",
  ),
);

/** Secrets by their names. */
export const SecretReferences = v.pipe(
  v.array(
    v.object({
      /** The secret's name. */
      name: SecretName,
    }),
  ),
  v.maxLength(50),
);
