import * as v from "valibot";

/** The role of a person in a team. */
export const Role = v.picklist(["admin", "member"]);
export type Role = v.InferOutput<typeof Role>;
