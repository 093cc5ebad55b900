import * as v from "valibot";

/** The account on GitHub that a GitHub App is installed on. */
export const GithubAccount = v.object({
  /** The account's id. */
  id: v.pipe(v.number(), v.integer()),
  /** The account's name. */
  login: v.string(),
  /** The kind of the account. */
  type: v.picklist(["Organization", "User"]),
});
export type GithubAccount = v.InferOutput<typeof GithubAccount>;

/** The repositories of the account that the App may access: all of them, or those that its owner has selected. */
export const RepositorySelection = v.picklist(["all", "selected"]);
