import * as v from "valibot";
import { Sha256, UploadTarget } from "../harness.ts";
import { Count } from "../primitives.ts";

/** Bytes of the objects of one push. */
export const MAX_PACK_BYTES = 16_777_216;

/** Commits to push to the branch of the run's pull request. */
export const PushBranchRequest = v.object({
  /** The id of the commit that the branch gets. */
  commit: v.pipe(v.string(), v.regex(/^[0-9a-f]{40}$/, "must have 40 lowercase hexadecimal digits")),
  /** The size of the pack in bytes. */
  size_bytes: v.pipe(Count, v.minValue(1), v.maxValue(MAX_PACK_BYTES)),
  /** The SHA-256 digest of the pack, a git pack of version 2 whose objects are complete. */
  sha256: Sha256,
});
export type PushBranchRequest = v.InferOutput<typeof PushBranchRequest>;

/** Where to upload the pack, or what was pushed. */
export const PushBranchResponse = v.object({
  /** Where to upload the pack. Absent if it is already uploaded. */
  upload: v.exactOptional(UploadTarget),
  /** The branch, once it has the commit. */
  branch: v.exactOptional(v.string()),
});
export type PushBranchResponse = v.InferOutput<typeof PushBranchResponse>;
