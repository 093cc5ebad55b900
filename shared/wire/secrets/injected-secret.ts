import * as v from "valibot";

/** A secret of the run's environment or identity: its value, or why it is unavailable, which fails the run. */
export const InjectedSecret = v.union([
  v.object({
    /** The name of the environment variable. */
    name: v.string(),
    /** The value of the secret. */
    value: v.string(),
    /** True if the value is a token that the service can renew. */
    renewable: v.exactOptional(v.literal(true)),
    /** Why the token was not renewed though it should have been, and what to do. */
    problem: v.exactOptional(v.string()),
  }),
  v.object({
    name: v.string(),
    /** Why the run cannot have the secret. The harness must fail the run. */
    unavailable: v.string(),
  }),
]);
export type InjectedSecret = v.InferOutput<typeof InjectedSecret>;
