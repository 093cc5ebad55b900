import * as v from "valibot";
import { PageInfo } from "./list.ts";
import { Count, Id, Timestamp, text, textOfBytes } from "./primitives.ts";

const TIMELINE_TYPES = [
  "run_created",
  "run_queued",
  "run_pending",
  "run_claimed",
  "worker_container_ready",
  "setup_environment_resolution",
  "setup_repo_clone",
  "setup_commands",
  "setup_mcp_servers",
  "setup_skill_loading",
  "agent_started",
  "network_blocked",
  "followup_received",
  "checkpoint_saved",
  "execution_lost",
  "run_succeeded",
  "run_failed",
  "run_errored",
  "run_blocked",
  "approval_requested",
  "approved",
  "denied",
  "run_interrupted",
  "run_idle",
  "run_cancelled",
  "run_stopped",
  "artifact_created",
  "branch_pushed",
] as const;
/** The type of a timeline event. */
export const TimelineType = v.picklist(TIMELINE_TYPES);

/**
 * The types of stored events: those of the timeline, and those that only say what the run waits for, notifies its user or calls
 * models for.
 */
const EVENT_TYPES = [
  ...TIMELINE_TYPES,
  "user_notified",
  "run_waiting",
  "setup_started",
  "model_retry",
  "model_called",
] as const;
export const EventType = v.picklist(EVENT_TYPES);
export type EventType = v.InferOutput<typeof EventType>;

/** The types that an execution may report. Only the service writes run_* events. */
const ClientEventName = v.picklist([
  "setup_environment_resolution",
  "setup_repo_clone",
  "setup_commands",
  "setup_mcp_servers",
  "setup_skill_loading",
  "agent_started",
  "network_blocked",
  "checkpoint_saved",
  "setup_started",
  "model_retry",
]);

/** The most files of repositories that instruct the agent of one run when it starts. */
export const MAX_INSTRUCTION_FILES = 50;

/** An event that an execution reports for its timeline. */
export const ClientEvent = v.object({
  /** The event's id. */
  event_uuid: Id,
  /** The type of the event. */
  event_name: ClientEventName,
  /** The time of the event. @format date-time */
  timestamp: Timestamp,
  /** Details of the event, such as `latency_ms` and `is_error`. */
  payload: v.exactOptional(
    v.object({
      /** The start time of the step. @format date-time */
      start_ts: v.exactOptional(Timestamp),
      /** The end time of the step. @format date-time */
      finish_ts: v.exactOptional(Timestamp),
      /** The duration of the step, in milliseconds. */
      latency_ms: v.exactOptional(v.pipe(v.number(), v.minValue(0), v.maxValue(Number.MAX_SAFE_INTEGER))),
      /** Whether the step failed. */
      is_error: v.exactOptional(v.boolean()),
      /** The error message of the step. */
      detail: v.exactOptional(textOfBytes(4096)),
      /** `setup_started`: the event that reports the end of this part of the setup, such as `setup_commands`. */
      step: v.exactOptional(text(64, 1)),
      /** `setup_commands`: the id of the command's live output, if there was any. */
      action_id: v.exactOptional(Id),
      /** `setup_commands`: the end of what the command printed. */
      output: v.exactOptional(textOfBytes(8192)),
      /** `agent_started`: the id of the model. */
      model_id: v.exactOptional(text(256, 1)),
      /** `agent_started`: the isolation boundary of the run's commands. */
      isolation: v.exactOptional(v.picklist(["bubblewrap", "machine", "none"])),
      /** `agent_started`: the files of repositories that instruct the agent, relative to the workspace. */
      instruction_files: v.exactOptional(v.pipe(v.array(text(1024, 1)), v.maxLength(MAX_INSTRUCTION_FILES))),
      /** `model_retry`: the number of the attempt that failed, from 1. */
      attempt: v.exactOptional(Count),
      /** `model_retry`: the maximum number of attempts. */
      of: v.exactOptional(Count),
      /** `model_retry`: why the attempt failed. */
      reason: v.exactOptional(textOfBytes(1024)),
      /** `model_retry`: the delay before the next attempt, in milliseconds. */
      next_in_ms: v.exactOptional(Count),
    }),
  ),
});
export type ClientEvent = v.InferOutput<typeof ClientEvent>;

/** An event in the timeline of a run. */
export const TimelineEvent = v.object({
  /** The event's id. */
  event_uuid: v.string(),
  /** The run's id. */
  run_id: v.string(),
  /** The type of the event. */
  event_type: TimelineType,
  /** The time of the event. @format date-time */
  occurred_at: v.string(),
  /** The id of the execution, one attempt to execute the run. */
  execution_id: v.exactOptional(v.string()),
  /** Details of the event, such as `duration_ms` and `is_error`. */
  payload: v.exactOptional(v.record(v.string(), v.unknown())),
});
export type TimelineEvent = v.InferOutput<typeof TimelineEvent>;

/** A page of a run's timeline. */
export const Timeline = v.object({
  /** The events, oldest first. */
  events: v.array(TimelineEvent),
  /** The position of the page in the list. */
  page_info: v.exactOptional(PageInfo),
});

/** An entry of a run's event sequence: a timeline event, a notification or a batch of messages. */
export const RunEvent = v.object({
  /** The event's number within its run. Numbers start at 1 and have no gaps. */
  sequence: Count,
  /** The type of the event; `messages` is a batch of messages. */
  type: v.picklist([...EVENT_TYPES, "messages"]),
  /** The time of the event. @format date-time */
  occurred_at: v.string(),
  /** The content of the event. Its shape depends on `type`. */
  data: v.record(v.string(), v.unknown()),
});
export type RunEvent = v.InferOutput<typeof RunEvent>;

/** Bytes of each stream that are kept: its end. */
export const LIVE_TAIL_BYTES = 16_384;
/** Frames of one request. */
const MAX_FRAMES = 16;

/** The streams of live output: the output of a command, or the text of the model. */
const LiveStream = v.picklist(["stdout", "stderr", "text"]);

/**
 * A piece of output that is still being produced. It is not part of the event sequence: the event with the whole output
 * replaces it.
 */
export const LiveFrame = v.pipe(
  v.object({
    /** The id of the action that produces the output. Absent for the text of a message. */
    action_id: v.exactOptional(Id),
    /** The id of the message whose text this is. Absent for the output of an action. */
    message_id: v.exactOptional(Id),
    /** `stdout` and `stderr` of an action, or `text` of a message. */
    stream: LiveStream,
    /** The position of the text in its stream, in bytes of UTF-8. A gap means that output was skipped. */
    offset: v.pipe(Count, v.maxValue(Number.MAX_SAFE_INTEGER)),
    /** The text, at most 16 KiB. */
    text: textOfBytes(LIVE_TAIL_BYTES, 1),
  }),
  v.check(
    ({ action_id, message_id }) => (action_id === undefined) !== (message_id === undefined),
    "must have either action_id or message_id",
  ),
  v.metadata({ oneOf: [{ required: ["action_id"] }, { required: ["message_id"] }] }),
);
export type LiveFrame = v.InferOutput<typeof LiveFrame>;

/** A part of a run's event sequence. */
export const RunEvents = v.object({
  /** The events, oldest first. */
  events: v.array(RunEvent),
  /** The value of `after` for the next request. */
  next: Count,
  /** Whether the run has ended and no further events follow. */
  ended: v.boolean(),
  /** Output that is still being produced, if the request asked for it. */
  live: v.exactOptional(v.array(LiveFrame)),
  /** Pass it as `live_after` to receive only newer live output. */
  live_next: v.exactOptional(v.string()),
  /** Where the run waits for capacity, if it does and the request asked for live output. */
  waiting: v.exactOptional(
    v.object({
      /** The position in the wait queue; 1 is the next run to start. */
      position: v.pipe(Count, v.minValue(1)),
    }),
  ),
});
export type RunEvents = v.InferOutput<typeof RunEvents>;

/** Live output of an execution. */
export const LiveRequest = v.object({
  /** The id of the execution, one attempt to execute the run. */
  execution_id: Id,
  /** The pieces of output, in order, 1 to 16. */
  frames: v.pipe(v.array(LiveFrame), v.minLength(1), v.maxLength(MAX_FRAMES)),
});
/** Whether the live output is being read. */
export const LiveResponse = v.object({
  /** If false, stop sending frames until a heartbeat or a request for messages returns true. */
  watched: v.boolean(),
});
