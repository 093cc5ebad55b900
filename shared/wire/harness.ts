import * as v from "valibot";
import { GitChanges, PullRequestStatus } from "./artifact.ts";
import { ResolvedAgentConfig } from "./config.ts";
import { Message } from "./conversation.ts";
import { ApprovalDecision } from "./execution/approval.ts";
import { Interrupt, TurnOutcome } from "./execution/turn.ts";
import { Metadata } from "./metadata.ts";
import { StoredNetwork } from "./network/stored-network.ts";
import { Count, HttpsUrl, Id, Positive, text, textOfBytes } from "./primitives.ts";
import { FollowupPolicy, RunMode } from "./run.ts";

/**
 * Everything that a sandbox receives at its start: at most 4 KB, by event or standard input, never by environment
 * variable.
 */
export const Envelope = v.object({
  version: v.literal(1),
  base_url: v.string(),
  model_url: v.string(),
  run_id: v.string(),
  execution_id: v.string(),
  key: v.string(),
  /** Milliseconds since the epoch at which the sandbox itself ends. */
  deadline_at: v.exactOptional(v.number()),
  /** True if the sandbox may stay alive while its run waits for a follow-up. */
  waits: v.exactOptional(v.literal(true)),
});
export type Envelope = v.InferOutput<typeof Envelope>;

/** A file for the agent. */
const AttachedFile = v.object({
  attachment_id: v.string(),
  filename: v.string(),
  download_url: v.string(),
  mime_type: v.exactOptional(v.string()),
});
export type AttachedFile = v.InferOutput<typeof AttachedFile>;

/** A follow-up message for the agent. */
export const Followup = v.object({
  number: Positive,
  /** Its id within the run; that of its message in the conversation. */
  followup_id: v.exactOptional(v.string()),
  message: v.string(),
  /** Files for the directory of attachments, before the turn begins. Absent without any. */
  attachments: v.exactOptional(v.array(AttachedFile)),
  policy: FollowupPolicy,
  created_at: v.string(),
  /** What the sender decided about the call that the run waits for. */
  decision: v.exactOptional(ApprovalDecision),
  /** True if the run was cancelled before the follow-up was delivered. Do not execute it. */
  cancelled: v.exactOptional(v.literal(true)),
});
export type Followup = v.InferOutput<typeof Followup>;

/** What the agent is sent with a follow-up that has no message of its own. */
export const CONTINUE_MESSAGE = "Go on from where you stopped.";

/** The first request of an execution. */
export const ResolvePromptRequest = v.object({
  skill: v.exactOptional(
    v.object({ name: text(256, 1), content: textOfBytes(262_144), path: v.exactOptional(textOfBytes(1024)) }),
  ),
  attachments_dir: v.exactOptional(textOfBytes(1024)),
});

/** A secret of the run's environment or identity: its value, or why it is unavailable, which fails the run. */
export const InjectedSecret = v.union([
  v.object({ name: v.string(), value: v.string() }),
  v.object({ name: v.string(), unavailable: v.string() }),
]);
export type InjectedSecret = v.InferOutput<typeof InjectedSecret>;

/** An access token for one repository, valid for this execution only. */
export const RepositoryToken = v.object({ url: v.string(), token: v.string(), expires_at: v.string() });
export type RepositoryToken = v.InferOutput<typeof RepositoryToken>;

/** Everything that a harness needs to start an execution. */
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
      /** By model, the API of those models of the run whose ids do not name a known provider. */
      model_apis: v.exactOptional(v.record(v.string(), v.picklist(["messages", "chat", "responses"]))),
      /** The commands of the environment to run before the first turn. */
      setup_commands: v.exactOptional(v.array(v.string())),
      /** Plain environment variables of commands. Secrets of the same name take precedence. */
      variables: v.exactOptional(v.record(v.string(), v.string())),
      /** What commands, clones and MCP servers may call. @default everything */
      network: v.exactOptional(StoredNetwork),
      /** The only place where the values of the servers' variables and headers are readable. */
      mcp_servers: ResolvedAgentConfig.entries.mcp_servers,
      /** The environment variables of commands. */
      secrets: v.exactOptional(v.array(InjectedSecret)),
      /** Read-only tokens for private repositories, valid for at most one hour. */
      repository_tokens: v.exactOptional(v.array(RepositoryToken)),
      attachments: v.array(AttachedFile),
      messages: v.array(Message),
      /** How many of `messages`, counted from the end, belong to this run. */
      own_messages: v.exactOptional(Count),
      next_sequence: Positive,
      /** The workspace of an earlier execution. */
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
      /** The interrupt of a turn that an earlier execution has not ended. */
      interrupt: v.exactOptional(Interrupt),
      next_heartbeat_seconds: Positive,
      /** Whether `finish-task` takes the last messages and the number of stored follow-ups. */
      finish_takes_messages: v.exactOptional(v.boolean()),
    }),
  ),
});
export type ResolvePromptResponse = v.InferOutput<typeof ResolvePromptResponse>;

/** A heartbeat of an execution. */
export const HeartbeatRequest = v.object({
  execution_id: Id,
  followups_stored: Count,
  /** The harness takes the first follow-up after this number now, so that nobody can change it any more. */
  takes_after: v.exactOptional(Count),
  /** The number of the last interrupt whose turn has ended, as the stored messages show. */
  interrupts_handled: v.exactOptional(Count),
});
/** New instructions for the harness. */
export const HeartbeatResponse = v.object({
  followups: v.array(Followup),
  /** The follow-up that the harness takes, as `takes_after` requests; null if none waits. */
  taken: v.exactOptional(v.nullable(Followup)),
  cancel: v.boolean(),
  /** Why the run fails: a limit is reached. End the turn, and finish the run. */
  failing: v.exactOptional(v.string()),
  interrupt: v.exactOptional(Interrupt),
  next_heartbeat_seconds: Positive,
  /** Whether live output is being read. */
  watched: v.exactOptional(v.boolean()),
});
export type HeartbeatResponse = v.InferOutput<typeof HeartbeatResponse>;

/** Messages to append to the conversation of a run. */
export const MessagesRequest = v.object({
  execution_id: Id,
  first_sequence: Positive,
  messages: v.pipe(v.array(Message), v.minLength(1), v.maxLength(200)),
});
/** The result of appending messages. */
export const MessagesResponse = v.object({
  next_sequence: Positive,
  /** Whether live output is being read. */
  watched: v.exactOptional(v.boolean()),
});
export type MessagesResponse = v.InferOutput<typeof MessagesResponse>;

const UploadField = v.object({
  name: v.string(),
  value: v.variant("kind", [
    v.object({ kind: v.literal("static"), value: v.string() }),
    v.object({ kind: v.literal("content_crc32c") }),
    v.object({ kind: v.literal("content_data") }),
  ]),
});

/**
 * Where and how to upload a file. The target expires after 10 minutes and accepts only the announced size and checksum.
 */
export const UploadTarget = v.object({
  url: v.string(),
  method: v.picklist(["PUT", "POST"]),
  headers: v.nullable(v.record(v.string(), v.string())),
  fields: v.exactOptional(v.array(UploadField)),
});
export type UploadTarget = v.InferOutput<typeof UploadTarget>;

const FileName = v.pipe(textOfBytes(255, 1), v.regex(/^[^/]+$/, "must be a file name without slashes"));
const MediaType = v.pipe(
  textOfBytes(255, 1),
  v.regex(/^[\w.+-]+\/[\w.+-]+(;.*)?$/, "must be a media type such as text/plain"),
);
const Sha256 = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/, "must have 64 lowercase hexadecimal digits"));

const SnapshotUpload = v.object({
  filename: FileName,
  mime_type: MediaType,
  size_bytes: v.exactOptional(v.pipe(Count, v.maxValue(2_147_483_648))),
  sha256: v.exactOptional(Sha256),
});

const Generation = v.pipe(
  v.string(),
  v.regex(
    /^(?!.*__)[A-Za-z0-9._-]{1,128}$/,
    "must have 1 to 128 of the characters A-Z a-z 0-9 . _ - and no two underscores in a row",
  ),
);

const HAS_FILES = 'must have at least 1 item unless mode is "checkpoint"';
/** The files of a snapshot. Only a checkpoint may have none: the workspace is empty. */
export const UploadSnapshotRequest = v.pipe(
  v.object({
    files: v.pipe(v.array(SnapshotUpload), v.maxLength(100)),
    mode: v.exactOptional(v.picklist(["legacy", "checkpoint"])),
    generation: v.exactOptional(Generation),
  }),
  v.forward(
    v.check(({ files, mode }) => files.length > 0 || mode === "checkpoint", HAS_FILES),
    ["files"],
  ),
  v.metadata({ not: { properties: { files: { maxItems: 0 }, mode: { const: "legacy" } } } }),
);
export type UploadSnapshotRequest = v.InferOutput<typeof UploadSnapshotRequest>;
/** The upload targets of a snapshot. */
export const UploadSnapshotResponse = v.object({ uploads: v.array(UploadTarget) });
export type UploadSnapshotResponse = v.InferOutput<typeof UploadSnapshotResponse>;

/** The snapshot to commit. */
export const CommitSnapshotRequest = v.object({
  generation: Generation,
  files: v.pipe(v.array(textOfBytes(255, 1)), v.maxLength(100)),
});
export type CommitSnapshotRequest = v.InferOutput<typeof CommitSnapshotRequest>;
/** The committed snapshot. */
export const CommitSnapshotResponse = v.object({ generation: v.string() });

/**
 * The shutdown category at the end of a time slice: the run continues from the checkpoint that the execution has just
 * committed.
 */
export const SLICE_ENDED = "slice_ended";

const ImageType = v.pipe(textOfBytes(255, 1), v.regex(/^image\/[\w.+-]+$/, "must be an image type such as image/png"));

const PLAN_BYTES = 262_144;
/** The size and digest that the upload must match. */
const upload = { size_bytes: v.pipe(Count, v.maxValue(5_368_709_120)), sha256: Sha256 };

/** The artifact to report. The members of `data` depend on `artifact_type`. */
export const ReportArtifactRequest = v.variant("artifact_type", [
  v.object({
    artifact_type: v.literal("PLAN"),
    data: v.object({
      /** Identifies the plan within its run: reporting it again replaces it. */
      document_uid: v.exactOptional(Id),
      notebook_uid: v.exactOptional(Id),
      title: v.exactOptional(text(512)),
      url: v.exactOptional(HttpsUrl),
      content: textOfBytes(PLAN_BYTES, 1),
    }),
  }),
  v.object({
    artifact_type: v.literal("PULL_REQUEST"),
    data: v.object({
      url: HttpsUrl,
      branch: textOfBytes(256, 1),
      /** Reporting the same pull request with another status updates its artifact. */
      status: v.exactOptional(PullRequestStatus),
    }),
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
      /** Marks the file as the patch of a repository's changes. */
      git: v.exactOptional(GitChanges),
    }),
  }),
  v.object({
    artifact_type: v.literal("EXTERNAL_REFERENCE"),
    data: v.object({
      /** The type of the external resource, such as `issue`. */
      reference_type: text(64, 1),
      url: HttpsUrl,
      title: v.exactOptional(text(512)),
      metadata: v.exactOptional(Metadata),
    }),
  }),
]);
export type ReportArtifactRequest = v.InferOutput<typeof ReportArtifactRequest>;
/** The reported artifact, with its upload target if the file is still to be uploaded. */
export const ReportArtifactResponse = v.object({
  artifact_uid: v.string(),
  upload: v.exactOptional(UploadTarget),
});
export type ReportArtifactResponse = v.InferOutput<typeof ReportArtifactResponse>;

/** The conversation of a third-party harness. */
export const ExternalConversationRequest = v.object({
  format: v.pipe(
    v.string(),
    v.regex(
      /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/,
      "must have 1 to 64 of the characters A-Z a-z 0-9 . _ - and start with a letter or digit",
    ),
  ),
});
/** The registered conversation. */
export const ExternalConversationResponse = v.object({ conversation_id: v.string() });

/**
 * The transcript to upload. With `size_bytes` and `sha256`, the upload must match both; otherwise it can have up to 64
 * MiB.
 */
export const TranscriptRequest = v.pipe(
  v.object({
    conversation_id: Id,
    size_bytes: v.exactOptional(v.pipe(Count, v.minValue(1), v.maxValue(67_108_864))),
    sha256: v.exactOptional(Sha256),
  }),
  v.metadata({ dependentRequired: { size_bytes: ["sha256"], sha256: ["size_bytes"] } }),
);
export type TranscriptRequest = v.InferOutput<typeof TranscriptRequest>;

const NOT_DONE = "must not be true if success is true";
/** The result of a run, and what its execution has not reported yet. */
export const FinishTaskRequest = v.pipe(
  v.object({
    ...TurnOutcome.entries,
    /** The number of the first of `messages`. */
    first_sequence: v.exactOptional(Positive),
    /** The last messages, which are stored with the result. */
    messages: v.exactOptional(MessagesRequest.entries.messages),
    /** If further follow-ups wait, the run does not end, and the response has them. */
    followups_stored: v.exactOptional(Count),
    /** The number of the last interrupt whose turn has ended. A later one is in the response, and the run does not end. */
    interrupts_handled: v.exactOptional(Count),
    /** Whether the execution can stay alive and wait for follow-ups, if the run is to wait for one. */
    waits: v.exactOptional(v.boolean()),
  }),
  v.forward(
    v.check(({ success, blocked }) => !(success && blocked === true), NOT_DONE),
    ["blocked"],
  ),
  v.metadata({
    not: { required: ["blocked"], properties: { blocked: { const: true }, success: { const: true } } },
    dependentRequired: { first_sequence: ["messages"], messages: ["first_sequence"] },
  }),
);
export type FinishTaskRequest = v.InferOutput<typeof FinishTaskRequest>;
/** What keeps the run from ending; an empty object if it has ended. */
export const FinishTaskResponse = v.object({
  followups: v.exactOptional(v.array(Followup)),
  interrupt: v.exactOptional(Interrupt),
  /** True if the run waits for a follow-up, which a heartbeat delivers. */
  waiting: v.exactOptional(v.literal(true)),
});
export type FinishTaskResponse = v.InferOutput<typeof FinishTaskResponse>;

/** The shutdown of a sandbox. */
export const ReportShutdownRequest = v.object({
  error: v.exactOptional(v.object({ category: text(128, 1), message: textOfBytes(4096) })),
});
export type ReportShutdownRequest = v.InferOutput<typeof ReportShutdownRequest>;

/** A notification of the run's user. */
export const NotifyUserRequest = v.object({ message: textOfBytes(4096, 1) });

/** An empty object. */
export const Empty = v.object({});
