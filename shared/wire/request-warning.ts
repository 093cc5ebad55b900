import * as v from "valibot";

/** What a valid request has that has no effect. */
export const RequestWarning = v.object({
  /** `unknown_member`: a member of the request body that this release does not know. */
  code: v.picklist(["unknown_member"]),
  /** The path of the member in the request body, such as `config.modelId`. */
  path: v.string(),
  /** What is wrong with the member, with a similar one if there is one. */
  message: v.string(),
});
export type RequestWarning = v.InferOutput<typeof RequestWarning>;

/** Warnings that a response has at most; a request can have very many unknown members. */
export const MAX_WARNINGS = 20;
