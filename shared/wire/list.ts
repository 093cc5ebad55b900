import * as v from "valibot";

/** The position of a page in a list. */
export const PageInfo = v.object({ has_next_page: v.boolean(), next_cursor: v.exactOptional(v.string()) });
export type PageInfo = v.InferOutput<typeof PageInfo>;
