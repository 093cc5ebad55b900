import * as v from "valibot";

/** The router reads a text of digits as a number. */
const Text = v.optional(v.fallback(v.optional(v.union([v.string(), v.number()])), undefined));

/** What GitHub adds to the address that it redirects to. */
export const GithubSearch = v.object({
  code: Text,
  state: Text,
  installation_id: v.optional(v.fallback(v.optional(v.pipe(v.number(), v.safeInteger(), v.minValue(1))), undefined)),
  setup_action: Text,
  error: Text,
  error_description: Text,
});
