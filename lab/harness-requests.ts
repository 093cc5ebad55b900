import type * as v from "valibot";
import { ClientEvent, LiveRequest } from "../shared/wire/event.ts";
import { PushBranchRequest } from "../shared/wire/executions/push-branch.ts";
import { ReportArtifactRequest } from "../shared/wire/executions/report-artifact.ts";
import { CommitSnapshotRequest, UploadSnapshotRequest } from "../shared/wire/executions/snapshot.ts";
import {
  ExternalConversationRequest,
  FinishTaskRequest,
  HeartbeatRequest,
  MessagesRequest,
  NotifyUserRequest,
  ReportShutdownRequest,
  ResolvePromptRequest,
  TranscriptRequest,
} from "../shared/wire/harness.ts";

/** The schema of each POST request, as the service checks it. */
export const REQUESTS: Readonly<Record<string, v.GenericSchema>> = {
  "resolve-prompt": ResolvePromptRequest,
  "client-events": ClientEvent,
  messages: MessagesRequest,
  heartbeat: HeartbeatRequest,
  live: LiveRequest,
  "report-artifact": ReportArtifactRequest,
  "push-branch": PushBranchRequest,
  "notify-user": NotifyUserRequest,
  "external-conversation": ExternalConversationRequest,
  transcript: TranscriptRequest,
  "upload-snapshot": UploadSnapshotRequest,
  "commit-snapshot": CommitSnapshotRequest,
  "finish-task": FinishTaskRequest,
  "report-shutdown": ReportShutdownRequest,
};
