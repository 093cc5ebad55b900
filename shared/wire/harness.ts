import * as v from "valibot";
import { ResolvedAgentConfig } from "./config.ts";
import { Message } from "./conversation.ts";
import { Metadata } from "./metadata.ts";
import { Count, HttpsUrl, Id, text, textOfBytes } from "./primitives.ts";
import { FollowupPolicy, RunMode } from "./run.ts";

const Positive = v.pipe(v.number(), v.integer(), v.minValue(1));

/** All that a sandbox is given; at most 4 KB, by event or standard input, never by environment. */
export const Envelope = v.object({
  version: v.literal(1),
  base_url: v.string(),
  model_url: v.string(),
  run_id: v.string(),
  execution_id: v.string(),
  key: v.string(),
  /** Milliseconds since the epoch at which the sandbox itself ends. */
  deadline_at: v.exactOptional(v.number()),
});
export type Envelope = v.InferOutput<typeof Envelope>;

export const Followup = v.object({
  number: Positive,
  message: v.string(),
  policy: FollowupPolicy,
  created_at: v.string(),
  /** True where the run was cancelled before the follow-up was taken up: it is recorded and not carried out. */
  cancelled: v.exactOptional(v.literal(true)),
});
export type Followup = v.InferOutput<typeof Followup>;

export const ResolvePromptRequest = v.object({
  skill: v.exactOptional(
    v.object({ name: text(256, 1), content: textOfBytes(262_144), path: v.exactOptional(textOfBytes(1024)) }),
  ),
  attachments_dir: v.exactOptional(textOfBytes(1024)),
});

/** A secret that the run's environment or identity names: its value, or why the run cannot have it and so ends FAILED. */
export const InjectedSecret = v.union([
  v.object({ name: v.string(), value: v.string() }),
  v.object({ name: v.string(), unavailable: v.string() }),
]);
export type InjectedSecret = v.InferOutput<typeof InjectedSecret>;

/** A token of this execution alone, for the repository with this URL and for no other. */
export const RepositoryToken = v.object({ url: v.string(), token: v.string(), expires_at: v.string() });
export type RepositoryToken = v.InferOutput<typeof RepositoryToken>;

export const ResolvePromptResponse = v.object({
  prompt: v.string(),
  system_prompt: v.exactOptional(v.string()),
  resumption_prompt: v.exactOptional(v.string()),
  context: v.exactOptional(
    v.object({
      run_id: v.string(),
      execution_id: v.string(),
      conversation_id: v.string(),
      title: v.string(),
      mode: RunMode,
      agent_config: ResolvedAgentConfig,
      /** Commands of the environment, to be run before the first turn. */
      setup_commands: v.exactOptional(v.array(v.string())),
      /** Servers of the configuration with the values of their variables and headers, which are nowhere else to be read. */
      mcp_servers: ResolvedAgentConfig.entries.mcp_servers,
      /** What commands find in their environment by its name. */
      secrets: v.exactOptional(v.array(InjectedSecret)),
      /** What opens repositories of the configuration for reading, for an hour at most; none for those that anybody may read. */
      repository_tokens: v.exactOptional(v.array(RepositoryToken)),
      attachments: v.array(
        v.object({
          attachment_id: v.string(),
          filename: v.string(),
          download_url: v.string(),
          mime_type: v.exactOptional(v.string()),
        }),
      ),
      messages: v.array(Message),
      /** How many of `messages`, the last ones, are this run's own. */
      own_messages: v.exactOptional(Count),
      next_sequence: Positive,
      /** The workspace as an earlier execution left it. */
      checkpoint: v.exactOptional(
        v.object({
          generation: v.string(),
          files: v.array(
            v.object({
              filename: v.string(),
              download_url: v.string(),
              mime_type: v.string(),
              size_bytes: Count,
            }),
          ),
        }),
      ),
      followups: v.array(Followup),
      next_heartbeat_seconds: Positive,
    }),
  ),
});
export type ResolvePromptResponse = v.InferOutput<typeof ResolvePromptResponse>;

export const HeartbeatRequest = v.object({ execution_id: Id, followups_stored: Count });
export const HeartbeatResponse = v.object({
  followups: v.array(Followup),
  cancel: v.boolean(),
  next_heartbeat_seconds: Positive,
});
export type HeartbeatResponse = v.InferOutput<typeof HeartbeatResponse>;

export const MessagesRequest = v.object({
  execution_id: Id,
  first_sequence: Positive,
  messages: v.pipe(v.array(Message), v.minLength(1), v.maxLength(200)),
});
export const MessagesResponse = v.object({ next_sequence: Positive });
export type MessagesResponse = v.InferOutput<typeof MessagesResponse>;

const UploadField = v.object({
  name: v.string(),
  value: v.variant("kind", [
    v.object({ kind: v.literal("static"), value: v.string() }),
    v.object({ kind: v.literal("content_crc32c") }),
    v.object({ kind: v.literal("content_data") }),
  ]),
});

/** Where and how to upload the bytes; lives 10 minutes and is bound to length and checksum. */
export const UploadTarget = v.object({
  url: v.string(),
  method: v.picklist(["PUT", "POST"]),
  headers: v.nullable(v.record(v.string(), v.string())),
  fields: v.exactOptional(v.array(UploadField)),
});
export type UploadTarget = v.InferOutput<typeof UploadTarget>;

const FileName = v.pipe(textOfBytes(255, 1), v.regex(/^[^/]+$/, "must be a file name"));
const MediaType = v.pipe(textOfBytes(255, 1), v.regex(/^[\w.+-]+\/[\w.+-]+(;.*)?$/, "must be a media type"));
const Sha256 = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/, "must be 64 hexadecimal digits"));

const SnapshotUpload = v.object({
  filename: FileName,
  mime_type: MediaType,
  size_bytes: v.exactOptional(v.pipe(Count, v.maxValue(2_147_483_648))),
  sha256: v.exactOptional(Sha256),
});

const Generation = v.pipe(
  v.string(),
  v.regex(/^(?!.*__)[A-Za-z0-9._-]{1,128}$/, "must be 1 to 128 of A-Z a-z 0-9 . _ - without two underscores in a row"),
);

export const UploadSnapshotRequest = v.object({
  files: v.pipe(v.array(SnapshotUpload), v.minLength(1), v.maxLength(100)),
  mode: v.exactOptional(v.picklist(["legacy", "checkpoint"])),
  generation: v.exactOptional(Generation),
});
export type UploadSnapshotRequest = v.InferOutput<typeof UploadSnapshotRequest>;
/** Where to upload each file, in the order of the request. */
export const UploadSnapshotResponse = v.object({ uploads: v.array(UploadTarget) });
export type UploadSnapshotResponse = v.InferOutput<typeof UploadSnapshotResponse>;

export const CommitSnapshotRequest = v.object({
  generation: Generation,
  files: v.pipe(v.array(textOfBytes(255, 1)), v.maxLength(100)),
});
export type CommitSnapshotRequest = v.InferOutput<typeof CommitSnapshotRequest>;
export const CommitSnapshotResponse = v.object({ generation: v.string() });

/** The category of a shutdown at the end of a slice: the run goes on from the checkpoint that the execution has just committed. */
export const SLICE_ENDED = "slice_ended";

const ImageType = v.pipe(textOfBytes(255, 1), v.regex(/^image\/[\w.+-]+$/, "must be the media type of an image"));

const PLAN_BYTES = 262_144;
/** What is uploaded is named by its length and its content. */
const upload = { size_bytes: v.pipe(Count, v.maxValue(5_368_709_120)), sha256: Sha256 };

export const ReportArtifactRequest = v.variant("artifact_type", [
  v.object({
    artifact_type: v.literal("PLAN"),
    data: v.object({
      /** Names the plan among those of its run: reported again, it is replaced. */
      document_uid: v.exactOptional(Id),
      notebook_uid: v.exactOptional(Id),
      title: v.exactOptional(text(512)),
      url: v.exactOptional(HttpsUrl),
      content: textOfBytes(PLAN_BYTES, 1),
    }),
  }),
  v.object({
    artifact_type: v.literal("PULL_REQUEST"),
    data: v.object({ url: HttpsUrl, branch: textOfBytes(256, 1) }),
  }),
  v.object({
    artifact_type: v.literal("SCREENSHOT"),
    data: v.object({ mime_type: ImageType, ...upload, description: v.exactOptional(text(1024)) }),
  }),
  v.object({
    artifact_type: v.literal("FILE"),
    data: v.object({
      filepath: v.pipe(
        textOfBytes(1024, 1),
        v.regex(/^(?!\/)(?![\s\S]*(^|\/)\.\.?(\/|$))[\s\S]+$/, "must be a relative path without . or .. segments"),
      ),
      filename: FileName,
      mime_type: MediaType,
      ...upload,
      description: v.exactOptional(text(1024)),
      title: v.exactOptional(text(512)),
    }),
  }),
  v.object({
    artifact_type: v.literal("EXTERNAL_REFERENCE"),
    data: v.object({
      /** What kind of thing it is elsewhere, such as `issue`. */
      reference_type: text(64, 1),
      url: HttpsUrl,
      title: v.exactOptional(text(512)),
      metadata: v.exactOptional(Metadata),
    }),
  }),
]);
export type ReportArtifactRequest = v.InferOutput<typeof ReportArtifactRequest>;
export const ReportArtifactResponse = v.object({
  artifact_uid: v.string(),
  upload: v.exactOptional(UploadTarget),
});
export type ReportArtifactResponse = v.InferOutput<typeof ReportArtifactResponse>;

/** A harness of others tells in which format it writes the conversation, such as `claude`. */
export const ExternalConversationRequest = v.object({
  format: v.pipe(v.string(), v.regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, "must be 1 to 64 of A-Z a-z 0-9 . _ -")),
});
export const ExternalConversationResponse = v.object({ conversation_id: v.string() });

/** With length and checksum the upload is bound to them, else to a greatest length. */
export const TranscriptRequest = v.pipe(
  v.object({
    conversation_id: Id,
    size_bytes: v.exactOptional(v.pipe(Count, v.minValue(1), v.maxValue(67_108_864))),
    sha256: v.exactOptional(Sha256),
  }),
  v.metadata({ dependentRequired: { size_bytes: ["sha256"], sha256: ["size_bytes"] } }),
);
export type TranscriptRequest = v.InferOutput<typeof TranscriptRequest>;

/** Codes by which a harness may say that the caller or the agent, not the platform, ended the run. */
const FINISH_ERROR_CODES = [
  "invalid_request",
  "environment_setup_failed",
  "operation_not_supported",
  "external_authentication_required",
] as const;

const NOT_DONE = "is for a run that is not done: success must be false";
export const FinishTaskRequest = v.pipe(
  v.object({
    success: v.boolean(),
    summary: textOfBytes(65_536),
    error_code: v.exactOptional(v.picklist(FINISH_ERROR_CODES)),
    /** The agent has asked its user the question that `summary` is: the run is BLOCKED until a follow-up answers it. */
    blocked: v.exactOptional(v.boolean()),
  }),
  v.forward(
    v.check(({ success, blocked }) => !(success && blocked === true), NOT_DONE),
    ["blocked"],
  ),
  v.metadata({ not: { required: ["blocked"], properties: { blocked: { const: true }, success: { const: true } } } }),
);
export type FinishTaskRequest = v.InferOutput<typeof FinishTaskRequest>;

export const ReportShutdownRequest = v.object({
  error: v.exactOptional(v.object({ category: text(128, 1), message: textOfBytes(4096) })),
});
export type ReportShutdownRequest = v.InferOutput<typeof ReportShutdownRequest>;

/** A short word to the run's user, while the run goes on. */
export const NotifyUserRequest = v.object({ message: textOfBytes(4096, 1) });

export const Empty = v.object({});
