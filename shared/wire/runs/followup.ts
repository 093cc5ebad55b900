import * as v from "valibot";
import { PageInfo } from "../list.ts";
import { Count, Id, textOfBytes } from "../primitives.ts";
import { FileName, RunMode, UserProfile } from "../run.ts";

/** What happens to the current turn: it ends first, it is interrupted, or the follow-up is refused. */
export const FollowupPolicy = v.picklist(["enqueue", "interrupt", "reject"]);
export type FollowupPolicy = v.InferOutput<typeof FollowupPolicy>;

/** The size limit of an uploaded attachment. */
export const UPLOAD_BYTES = 100 * 1024 * 1024;
/** The most attachments of one follow-up. */
export const FOLLOWUP_FILES = 25;

/** An uploaded file for the agent. */
const FollowupAttachment = v.object({
  /** The attachment's id. */
  attachment_id: Id,
  /** The file's name, without directories. */
  file_name: v.exactOptional(FileName),
});

/** A follow-up message for a run. */
export const RunFollowupRequest = v.object({
  /** The message to the agent. Optional with attachments, and if the run has ended, to continue where it stopped. */
  message: v.exactOptional(textOfBytes(262_144)),
  /** Files for the agent: prepared and uploaded for this run, or by the caller with `POST /agent/attachments`. */
  attachments: v.exactOptional(v.pipe(v.array(FollowupAttachment), v.maxLength(FOLLOWUP_FILES))),
  /** The mode of the next execution. Ignored by an active run. Defaults to the run's mode. */
  mode: v.exactOptional(RunMode),
  /**
   * `enqueue` (default) waits for the current turn, `interrupt` stops it, `reject` returns 409 unless the run has
   * ended.
   */
  policy: v.exactOptional(FollowupPolicy),
  /**
   * The `approval_id` of the call that the run waits for: carries out exactly this call, once. Needs a person's key
   * or session. Excludes `deny`.
   */
  approve: v.exactOptional(Id),
  /**
   * The `approval_id` of the call that the run waits for: the agent learns who denied it, with `message` as the
   * reason. Needs a person's key or session.
   */
  deny: v.exactOptional(Id),
});
export type RunFollowupRequest = v.InferOutput<typeof RunFollowupRequest>;

/** The new message of a pending follow-up. */
export const UpdateFollowupRequest = v.object({
  /** The new message to the agent. */
  message: textOfBytes(262_144, 1),
});

export const FOLLOWUP_OUTCOMES = ["queue_pending", "queued_prompt", "live_session", "handoff_execution"] as const;
/**
 * The outcome of a follow-up: it waits behind another one or for capacity, is delivered with the first turn, is delivered to the
 * running agent, or continues a run that had ended in a new execution.
 */
export const FollowupOutcome = v.picklist(FOLLOWUP_OUTCOMES);
export type FollowupOutcome = v.InferOutput<typeof FollowupOutcome>;

/** A stored follow-up. */
export const RunFollowupResponse = v.object({
  /** The follow-up's id within its run. */
  followup_id: v.string(),
  /** The run's id. */
  run_id: v.string(),
  /** How the follow-up reaches the agent. */
  outcome: FollowupOutcome,
});

/** A follow-up as responses show it. */
export const FollowupItem = v.object({
  /** The follow-up's id within its run. */
  followup_id: v.string(),
  /** The follow-up's place in the order of delivery, starting at 1. */
  number: Count,
  /** The message to the agent. */
  message: v.string(),
  /** The files that the agent gets with the message. */
  attachments: v.array(
    v.object({
      /** The attachment's id. */
      attachment_id: v.string(),
      /** The file's name, without directories. */
      file_name: v.string(),
    }),
  ),
  /** The mode that the follow-up requested, if it did. */
  mode: v.exactOptional(RunMode),
  /** The policy that the follow-up was sent with. */
  policy: FollowupPolicy,
  /** The time of creation. @format date-time */
  created_at: v.string(),
  /** Who sent the follow-up. Absent in follow-ups that earlier versions stored. */
  created_by: v.exactOptional(UserProfile),
  /**
   * `pending` until the agent takes it, then `delivered`; `removed` if it was deleted, or the run was cancelled,
   * before.
   */
  state: v.picklist(["pending", "delivered", "removed"]),
});
export type FollowupItem = v.InferOutput<typeof FollowupItem>;

/** A page of follow-ups. */
export const ListFollowupsResponse = v.object({
  /** The follow-ups, in the order of delivery. */
  followups: v.array(FollowupItem),
  /** The position of the page in the list. */
  page_info: v.exactOptional(PageInfo),
});
