import { ids, type Samples, TIME } from "./values.ts";

/** Members of conversations, timelines, events and artifacts. */
export const ACTIVITY_SAMPLES: Samples = {
  // Conversations
  "Step.steps": [],
  "Step.id": "step-1",
  summary: "The test waited for a fixed time; it now waits for the event.",
  role: "assistant",
  "Block.text": "The test waits for a fixed time instead of the event. I have changed that.",
  timestamp: TIME,

  // Timelines and events
  event_uuid: ids.event,
  execution_id: ids.execution,
  payload: { duration_ms: 1240 },
  "getResponse.text": "The test waited for a fixed time; it now waits for the event.",
  "getResponse.structured": { fixed: true },

  // Artifacts and uploads
  artifact_uid: ids.artifact,
  artifact_type: "FILE",
  filename: "flaky.md",
  mime_type: "text/markdown",
  size_bytes: 2048,
  sha256: "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03",
  download_url: "https://files.example.com/flaky.md?X-Amz-Signature=0a1b",
  "DownloadUrl.expires_at": "2026-05-18T19:15:00.000Z",
  "getRawTranscript.expires_at": "2026-05-18T19:15:00.000Z",
  expires_at: "2027-05-18T19:00:00.000Z",
  "data.title": "Why the test was flaky",
  document_uid: "plan",
  "ReportArtifactRequest.content": "# Fix the test\n1. Reproduce the failure.\n",
  "ArtifactResponse.content": "# Fix the test\n1. Reproduce the failure.\n",
  "ArtifactItem.url": "https://github.com/acme/things/pull/7",
  "ArtifactResponse.url": "https://docs.example.com/plan",
  "UploadTarget.url": "https://files.example.com/upload?X-Amz-Signature=0a1b",
  "UploadTarget.headers": {
    "content-length": "2048",
  },
};
