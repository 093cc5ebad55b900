import * as v from "valibot";
import { RunFilter } from "#shared/wire/cancel.ts";
import { PageInfo } from "#shared/wire/list.ts";
import { Count, textOfBytes } from "#shared/wire/primitives.ts";

/** The runs that a request is about. */
export const MatchingRunsRequest = v.pipe(
  v.object({
    /**
     * Which runs. Takes the filters of `GET /agent/runs`, at least one. Required unless `all` is true.
     */
    filter: v.exactOptional(RunFilter),
    /** True for all runs, in place of a filter. */
    all: v.exactOptional(v.literal(true, "must be true, or absent where there is a filter")),
    /** The `page_info.next_cursor` of the previous response. */
    cursor: v.exactOptional(textOfBytes(4096)),
  }),
  v.forward(
    v.check(
      ({ filter, all }) => filter !== undefined || all !== undefined,
      "is required; send all: true in its place if you mean every run",
    ),
    ["filter"],
  ),
  v.forward(
    v.check(
      ({ filter, all }) => filter === undefined || all === undefined,
      "must be absent where there is a filter: send one of the two",
    ),
    ["all"],
  ),
  v.metadata({ oneOf: [{ required: ["filter"] }, { required: ["all"] }] }),
);
export type MatchingRunsRequest = v.InferOutput<typeof MatchingRunsRequest>;

const result = {
  /** The number of runs of this page that matched. */
  matched: Count,
  /** The runs that could not be changed. */
  refused: v.array(
    v.object({
      /** The run's id. */
      run_id: v.string(),
      /** The error code that the request for this run alone returns. */
      error_code: v.string(),
    }),
  ),
  /** Whether more runs may match. If so, send the request again with `next_cursor` as `cursor`. */
  page_info: PageInfo,
};

/** The result of a bulk deletion. */
export const DeleteRunsResponse = v.object({
  /** The ids of the deleted runs that matched. Runs below them are deleted too, and are listed only if they matched. */
  deleted: v.array(v.string()),
  ...result,
});
export type DeleteRunsResponse = v.InferOutput<typeof DeleteRunsResponse>;

/** The result of a bulk archival. */
export const ArchiveRunsResponse = v.object({
  /** The ids of the runs that matched and are archived now. */
  archived: v.array(v.string()),
  ...result,
});
export type ArchiveRunsResponse = v.InferOutput<typeof ArchiveRunsResponse>;

/** The result of reversing a bulk archival. */
export const UnarchiveRunsResponse = v.object({
  /** The ids of the runs that matched and are not archived any more. */
  unarchived: v.array(v.string()),
  ...result,
});
export type UnarchiveRunsResponse = v.InferOutput<typeof UnarchiveRunsResponse>;
