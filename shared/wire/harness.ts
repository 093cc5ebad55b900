import * as v from "valibot";
import { ResolvedAgentConfig } from "./config.ts";
import { Message } from "./conversation.ts";
import { ApprovalDecision } from "./executions/approval.ts";
import { Providers } from "./executions/providers.ts";
import { RunSetup, SavedFile } from "./executions/setup-snapshot.ts";
import { Interrupt, TurnOutcome } from "./executions/turn.ts";
import { StoredNetwork } from "./network/stored-network.ts";
import { Count, Id, Positive, text, textOfBytes } from "./primitives.ts";
import { RunMode } from "./run.ts";
import { FollowupPolicy } from "./runs/followup.ts";
import { InjectedSecret } from "./secrets/injected-secret.ts";
import { SecretName } from "./secrets/secret-name.ts";

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
  /** The attachment's id. */
  attachment_id: v.string(),
  /** The file's name. */
  filename: v.string(),
  /** A time-limited URL of the file. Do not send credentials to it. @format uri */
  download_url: v.string(),
  /** The file's media type. */
  mime_type: v.exactOptional(v.string()),
});
export type AttachedFile = v.InferOutput<typeof AttachedFile>;

/** A follow-up message for the agent. */
export const Followup = v.object({
  /** The follow-up's place in the order of delivery, starting at 1. */
  number: Positive,
  /** The follow-up's id within its run, which is also the id of its message in the conversation. */
  followup_id: v.exactOptional(v.string()),
  /** The message to the agent. */
  message: v.string(),
  /** The files to download into the attachments directory before the turn begins. Absent if there are none. */
  attachments: v.exactOptional(v.array(AttachedFile)),
  /** The policy that the follow-up was sent with. */
  policy: FollowupPolicy,
  /** The time of creation. @format date-time */
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
  /** The skill that the harness has loaded, to be shown with the run. */
  skill: v.exactOptional(
    v.object({
      /** The skill's name, at most 256 characters. */
      name: text(256, 1),
      /** The text of the skill's file. */
      content: textOfBytes(262_144),
      /** The path of the skill's file in its repository. */
      path: v.exactOptional(textOfBytes(1024)),
    }),
  ),
  /** The directory for attachments. Has no effect in this release. */
  attachments_dir: v.exactOptional(textOfBytes(1024)),
  /** The names of secrets whose tokens a server has refused. They are renewed first, if possible. */
  refused_secrets: v.exactOptional(v.pipe(v.array(SecretName), v.maxLength(50))),
});

/** An access token for one repository, valid for this execution only. */
export const RepositoryToken = v.object({
  /** The URL of the repository that the token is for. */
  url: v.string(),
  /** The token. */
  token: v.string(),
  /** The expiry time of the token. @format date-time */
  expires_at: v.string(),
});
export type RepositoryToken = v.InferOutput<typeof RepositoryToken>;

/** Everything that a harness needs to start an execution. */
export const ResolvePromptResponse = v.object({
  /** The task of the run. */
  prompt: v.string(),
  /** The system prompt of the agent. */
  system_prompt: v.exactOptional(v.string()),
  /** The instructions for continuing after an interruption. Absent for a first execution. */
  resumption_prompt: v.exactOptional(v.string()),
  /** Everything else that the harness needs to start. */
  context: v.exactOptional(
    v.object({
      /** The run's id. */
      run_id: v.string(),
      /** The id of the execution, one attempt to execute the run. */
      execution_id: v.string(),
      /** The conversation's id. */
      conversation_id: v.string(),
      /** The run's title. */
      title: v.string(),
      /** The person who created the run, whom its commits name. Absent for an identity, and for a person without an email address. */
      creator: v.exactOptional(
        v.object({
          /** The person's display name, or their email address. */
          name: v.string(),
          /** The person's email address. */
          email: v.string(),
        }),
      ),
      /** The mode of the execution. */
      mode: RunMode,
      /** The resolved configuration, with all defaults applied. */
      agent_config: ResolvedAgentConfig,
      /** The models of the run that accept images. */
      vision_models: v.exactOptional(v.array(v.string())),
      /** By model, the API of those models of the run whose ids do not name a known provider. */
      model_apis: v.exactOptional(v.record(v.string(), v.picklist(["messages", "chat", "responses"]))),
      /** The commands of the environment to run before the first turn, in order. */
      setup_commands: v.exactOptional(v.array(v.string())),
      /** The container image of the environment, for a harness whose sandbox is not a container of that image. */
      docker_image: v.exactOptional(v.string()),
      /** The plain environment variables of commands. Secrets of the same name take precedence. */
      variables: v.exactOptional(v.record(v.string(), v.string())),
      /** The cloud providers that commands sign in to with identity tokens of the run. */
      providers: v.exactOptional(Providers),
      /** What commands, clones and MCP servers may call. */
      network: v.exactOptional(StoredNetwork),
      /** The MCP servers by name, including the values of environment variables and headers. */
      mcp_servers: ResolvedAgentConfig.entries.mcp_servers,
      /** The secrets to set as environment variables of commands. */
      secrets: v.exactOptional(v.array(InjectedSecret)),
      /** Read-only tokens for private repositories of the configuration, valid for at most one hour. */
      repository_tokens: v.exactOptional(v.array(RepositoryToken)),
      /** The branch that `push-branch` pushes to, at the end of each turn that commits to it. Absent if the run may push none. */
      push: v.exactOptional(
        v.object({
          /** The URL of the repository in `agent_config`. */
          url: v.string(),
          /** The branch, which is checked out. */
          branch: v.string(),
        }),
      ),
      /** Identifies the owner of the run. What a machine keeps between runs, only runs with the same value use. */
      cache_scope: v.exactOptional(v.string()),
      /** The attachments of the run and of its follow-ups. */
      attachments: v.array(AttachedFile),
      /** The messages of the conversation so far, in order. */
      messages: v.array(Message),
      /** How many of `messages`, counted from the end, belong to this run. */
      own_messages: v.exactOptional(Count),
      /** The `first_sequence` of the next messages. */
      next_sequence: Positive,
      /** The workspace of an earlier execution, to restore before the first turn. Absent for a first execution. */
      checkpoint: v.exactOptional(
        v.object({
          /** The name of the snapshot within its execution. */
          generation: v.string(),
          /** The files of the checkpoint. */
          files: v.array(SavedFile),
        }),
      ),
      /** The setup snapshot of the environment. Absent for a run without setup commands, and with a `checkpoint`. */
      setup_snapshot: v.exactOptional(RunSetup),
      /** The follow-ups that the harness has not stored yet, in order. */
      followups: v.array(Followup),
      /** The request to end the current turn. Absent if there is none, or the conversation already shows it. */
      interrupt: v.exactOptional(Interrupt),
      /** Seconds until the next heartbeat is due. */
      next_heartbeat_seconds: Positive,
      /** Whether `finish-task` takes the last messages and the number of stored follow-ups. */
      finish_takes_messages: v.exactOptional(v.boolean()),
    }),
  ),
});
export type ResolvePromptResponse = v.InferOutput<typeof ResolvePromptResponse>;

/** A heartbeat of an execution. */
export const HeartbeatRequest = v.object({
  /** The id of the caller's execution. */
  execution_id: Id,
  /** The number of the latest follow-up that the harness has stored; 0 if none. */
  followups_stored: Count,
  /** The harness takes the first follow-up after this number now, so that nobody can change it any more. */
  takes_after: v.exactOptional(Count),
  /** The number of the last interrupt whose turn has ended, as the stored messages show. */
  interrupts_handled: v.exactOptional(Count),
});
/** New instructions for the harness. */
export const HeartbeatResponse = v.object({
  /** The follow-ups that the harness has not stored yet, in order. */
  followups: v.array(Followup),
  /** The follow-up that the harness takes, as `takes_after` requests; null if none waits. */
  taken: v.exactOptional(v.nullable(Followup)),
  /** True if the run is cancelled. Stop all processes and report the shutdown. */
  cancel: v.boolean(),
  /** Why the run fails: a limit is reached. End the turn, and finish the run. */
  failing: v.exactOptional(v.string()),
  /** The request to end the current turn. Absent if there is none, or the conversation already shows it. */
  interrupt: v.exactOptional(Interrupt),
  /** Seconds until the next heartbeat is due. */
  next_heartbeat_seconds: Positive,
  /** Whether live output is being read. */
  watched: v.exactOptional(v.boolean()),
});
export type HeartbeatResponse = v.InferOutput<typeof HeartbeatResponse>;

/** Messages to append to the conversation of a run. */
export const MessagesRequest = v.object({
  /** The id of the caller's execution. */
  execution_id: Id,
  /** The number of the first of these messages within the run. */
  first_sequence: Positive,
  /** The messages to append, 1 to 200. */
  messages: v.pipe(v.array(Message), v.minLength(1), v.maxLength(200)),
});
/** The result of appending messages. */
export const MessagesResponse = v.object({
  /** The `first_sequence` of the next messages. */
  next_sequence: Positive,
  /** Whether live output is being read. */
  watched: v.exactOptional(v.boolean()),
});
export type MessagesResponse = v.InferOutput<typeof MessagesResponse>;

const UploadField = v.object({
  /** The name of the form field. */
  name: v.string(),
  /** The value of the form field. */
  value: v.variant("kind", [
    v.object({
      /**
       * `static`: send `value`. `content_crc32c`: send the CRC-32C checksum of the file. `content_data`: send the file.
       */
      kind: v.literal("static"),
      /** The text to send. */
      value: v.string(),
    }),
    v.object({ kind: v.literal("content_crc32c") }),
    v.object({ kind: v.literal("content_data") }),
  ]),
});

/**
 * Where and how to upload a file. The target expires after 10 minutes and accepts only the announced size and checksum.
 */
export const UploadTarget = v.object({
  /** A time-limited URL. Do not send credentials to it. @format uri */
  url: v.string(),
  /** The HTTP method of the upload. */
  method: v.picklist(["PUT", "POST"]),
  /** The headers to send with the upload. Null if there are none. */
  headers: v.nullable(v.record(v.string(), v.string())),
  /** The form fields to send, in this order. Present if `method` is `POST`. */
  fields: v.exactOptional(v.array(UploadField)),
});
export type UploadTarget = v.InferOutput<typeof UploadTarget>;

export const FileName = v.pipe(textOfBytes(255, 1), v.regex(/^[^/]+$/, "must be a file name without slashes"));
export const MediaType = v.pipe(
  textOfBytes(255, 1),
  v.regex(/^[\w.+-]+\/[\w.+-]+(;.*)?$/, "must be a media type such as text/plain"),
);
export const Sha256 = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/, "must have 64 lowercase hexadecimal digits"));

/**
 * The shutdown category at the end of a time slice: the run continues from the checkpoint that the execution has just
 * committed.
 */
export const SLICE_ENDED = "slice_ended";

/** The conversation of a third-party harness. */
export const ExternalConversationRequest = v.object({
  /** The format of the conversation, such as `claude`. */
  format: v.pipe(
    v.string(),
    v.regex(
      /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/,
      "must have 1 to 64 of the characters A-Z a-z 0-9 . _ - and start with a letter or digit",
    ),
  ),
});
/** The registered conversation. */
export const ExternalConversationResponse = v.object({
  /** The conversation's id. */
  conversation_id: v.string(),
});

/**
 * The transcript to upload. With `size_bytes` and `sha256`, the upload must match both; otherwise it can have up to 64
 * MiB.
 */
export const TranscriptRequest = v.pipe(
  v.object({
    /** The conversation's id. */
    conversation_id: Id,
    /** The file's size in bytes. */
    size_bytes: v.exactOptional(v.pipe(Count, v.minValue(1), v.maxValue(67_108_864))),
    /** The SHA-256 digest of the file. */
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
    /** The number of the first of these messages within the run. */
    first_sequence: v.exactOptional(Positive),
    /** The last messages of the conversation, 1 to 200; requires `first_sequence`. */
    messages: v.exactOptional(MessagesRequest.entries.messages),
    /** The number of follow-ups that the conversation has with `messages`. If more wait, the run continues. */
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
  /** The follow-ups that keep the run from ending. */
  followups: v.exactOptional(v.array(Followup)),
  /** The request to end the current turn. Absent if there is none, or the conversation already shows it. */
  interrupt: v.exactOptional(Interrupt),
  /** True if the run waits for a follow-up, which a heartbeat delivers. */
  waiting: v.exactOptional(v.literal(true)),
});
export type FinishTaskResponse = v.InferOutput<typeof FinishTaskResponse>;

/** The shutdown of a sandbox. */
export const ReportShutdownRequest = v.object({
  /** The cause of the shutdown. Absent if the sandbox stopped normally. */
  error: v.exactOptional(
    v.object({
      /** The category of the failure. */
      category: text(128, 1),
      /** The error message. */
      message: textOfBytes(4096),
    }),
  ),
});
export type ReportShutdownRequest = v.InferOutput<typeof ReportShutdownRequest>;

/** A notification of the run's user. */
export const NotifyUserRequest = v.object({
  /** The message to the user, at most 4,096 bytes. */
  message: textOfBytes(4096, 1),
});

/** An empty object. */
export const Empty = v.object({});
