import type { Samples } from "./values.ts";

/** Members of what a harness exchanges with the service during an execution. */
export const HARNESS_SAMPLES: Samples = {
  watched: false,
  generation: "turn-1",
  followups: [],
  number: 1,
  next_heartbeat_seconds: 5,
  next_sequence: 2,
  "UploadSnapshotRequest.files": [
    { filename: "workspace.tar.gz", mime_type: "application/gzip", size_bytes: 20480, sha256: "9f86d081".repeat(8) },
  ],
  "CommitSnapshotRequest.files": ["workspace.tar.gz"],
  "PushBranchRequest.commit": "9f86d081".repeat(5),
  "PushBranchRequest.size_bytes": 20480,
  "PushBranchResponse.branch": "fix-login",
  success: true,
  "NotifyUserRequest.message": "The tests pass again; the pull request follows.",
};
