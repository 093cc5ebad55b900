import * as v from "valibot";

/** The position of a page in a list. */
export const PageInfo = v.object({
  /** Whether there is another page. */
  has_next_page: v.boolean(),
  /** The `cursor` of the next page. Absent on the last page. */
  next_cursor: v.exactOptional(v.string()),
});
export type PageInfo = v.InferOutput<typeof PageInfo>;
