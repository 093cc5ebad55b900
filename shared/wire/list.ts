import * as v from "valibot";

/** Where a list goes on; `next_cursor` is there where it does. */
export const PageInfo = v.object({ has_next_page: v.boolean(), next_cursor: v.exactOptional(v.string()) });
export type PageInfo = v.InferOutput<typeof PageInfo>;
