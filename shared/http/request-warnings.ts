import { MAX_WARNINGS, type RequestWarning } from "#shared/wire/request-warning.ts";
import type { Schema } from "./schema-parts.ts";
import { findUnknownMembers } from "./unknown-members.ts";

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
