import * as v from "valibot";

const Text = v.pipe(v.string(), v.minLength(1));

/** The GitHub App of a deployment as `runyard github setup` stores it: what GitHub returns once, when it creates the App. */
export const GithubAppFile = v.object({
  id: v.pipe(v.number(), v.integer()),
  slug: Text,
  client_id: Text,
  client_secret: Text,
  webhook_secret: Text,
  /** The private key. */
  pem: Text,
});
export type GithubAppFile = v.InferOutput<typeof GithubAppFile>;
