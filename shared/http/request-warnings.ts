import type { Schema } from "./schema-parts.ts";
import { findUnknownMembers } from "./unknown-members.ts";

/** What a valid request has that has no effect. */
export interface RequestWarning {
  readonly code: "unknown_member";
  readonly path: string;
  readonly message: string;
}

/** Warnings that are returned; a request can have very many unknown members. */
const MAX_WARNINGS = 20;

/** Lists the members of a valid body that its schema does not name, such as misspelled ones. */
export const listWarnings = (schema: Schema, sentBody: unknown): RequestWarning[] =>
  findUnknownMembers(schema, sentBody)
    .take(MAX_WARNINGS)
    .map(({ path, similar }): RequestWarning => {
      const remedy = similar === undefined ? "leave it out, or correct its name" : `did you mean ${similar}?`;
      return {
        code: "unknown_member",
        path,
        message: `is not a member that this release knows, and has no effect; ${remedy}`,
      };
    })
    .toArray();
