import * as v from "valibot";

/** What a person is in a team. */
export const Role = v.picklist(["admin", "member"]);
export type Role = v.InferOutput<typeof Role>;
