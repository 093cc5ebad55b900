import * as v from "valibot";
import { ERRORS, type ErrorCode } from "#shared/errors.ts";
import { createdAtOf } from "#shared/ids.ts";
import { batchGetAll } from "#shared/table/batch-get.ts";
import { checkShard, keys, type Owner, runPk, sortableTime } from "#shared/table/keys.ts";
import type { Item, Table } from "#shared/table/table.ts";
import { RunMode, RunStatusMessage } from "#shared/wire/run.ts";
import { isExecuting, LEASE_SECONDS, LOCAL_LEASE_SECONDS, START_LEASE_SECONDS } from "./run.ts";

/** What list filters look at; written once, projected into every list index. */
export const RunFacets = v.object({
  name: v.exactOptional(v.string()),
  model: v.exactOptional(v.string()),
  creator: v.string(),
  /** Absent where it is the creator. */
  executor: v.exactOptional(v.string()),
  /** True where the executor is an identity, which has to be there still when the run begins. */
  as_identity: v.exactOptional(v.literal(true)),
  source: v.string(),
  location: v.string(),
  environment: v.exactOptional(v.string()),
  skill: v.exactOptional(v.string()),
  /** `owner/repo:path/to/SKILL.md` of that skill, once an execution has found it. */
  skill_path: v.exactOptional(v.string()),
  schedule: v.exactOptional(v.string()),
  /** Of the metadata, as `toTags` makes them; absent where there is none. */
  tags: v.exactOptional(v.string()),
});
export type RunFacets = v.InferOutput<typeof RunFacets>;

export const executorOf = ({ creator, executor }: RunFacets): string => executor ?? creator;

const Time = v.number();
const Slot = v.picklist(["owner", "tree"]);
/** Where a run's slot is from: its owner's, or those of the tree of runs that it is a child in. */
export type SlotKind = v.InferOutput<typeof Slot>;
/** A sandbox that its provider can stop, as it is found again; Lambda's cannot be, so there is nothing to be kept of them. */
const Placed = v.object({ provider: v.picklist(["microvm", "fargate"]), handle: v.exactOptional(v.string()) });
/** One that an execution has left behind, and until when its stop is tried. */
const PendingStop = v.object({ ...Placed.entries, execution_id: v.string(), by: Time });
export type PendingStop = v.InferOutput<typeof PendingStop>;
/** Not stored while it is 0, which most of these stay. */
const Counter = v.optional(v.pipe(v.number(), v.integer()), 0);

const common = {
  run_id: v.string(),
  scope: v.string(),
  created_at: Time,
  updated_at: Time,
  /** When the reaper looks at the run next, as a sortable time. */
  check_at: v.exactOptional(v.string()),
  /** When the first execution began to work. */
  started_at: v.exactOptional(Time),
  /** Milliseconds spent INPROGRESS by executions that have ended. */
  run_time_ms: Counter,
  /** Number of the next event; the condition of every write that appends one. */
  next_sequence: Counter,
  messages: Counter,
  message_bytes: Counter,
  followups: Counter,
  followups_stored: Counter,
  /** Of the last follow-up that brought the run back and named one; the body has the run's own. */
  mode: v.exactOptional(RunMode),
  /** Follow-ups up to this number came before a cancel, and are not carried out any more. */
  followups_cancelled: Counter,
  artifacts: Counter,
  artifact_bytes: Counter,
  /** Of artifacts that were reported, also where the file is not there yet, and of new versions of plans. */
  placed_artifacts: Counter,
  placed_bytes: Counter,
  /** Types of the artifacts, each once; absent where there is none. */
  artifact_types: v.exactOptional(v.array(v.string())),
  client_events: Counter,
  notifications: Counter,
  /** Executions lost one after the other without a checkpoint between them. */
  losses: Counter,
  /** True where a CHECKPOINT item says from where the run goes on, or what it has left behind. */
  checkpoint: v.exactOptional(v.literal(true)),
  snapshots: Counter,
  /** True where a harness of others keeps the conversation in its own format; a RAW item says which. */
  external: v.exactOptional(v.literal(true)),
  /** Executions so far. */
  executions: Counter,
  /** True where a BUDGET item says what the run may spend on models, or has spent. A long name would cost every write of the head. */
  b: v.exactOptional(v.literal(true)),
  /** Of a child: the run that its tree begins with, and how deep below it this one is. */
  root: v.exactOptional(v.string()),
  depth: v.exactOptional(v.number()),
  /** Where the slot is from that the run holds. An ended root keeps one while runs below it execute. */
  slot: v.exactOptional(Slot),
  /** Whose free slot the run waits for. */
  waiting: v.exactOptional(Slot),
  /** Of a root: runs below it that execute in slots of the tree. */
  tree_running: Counter,
  /** True once an execution has come to the end of its time: the run takes longer than a function may. */
  sliced: v.exactOptional(v.literal(true)),
  /** True where the run's environment names an image of its own; the body says which. */
  own_image: v.exactOptional(v.literal(true)),
  /** Starts in a row of that image without a word of the harness. */
  silent_starts: v.exactOptional(v.number()),
  /** Sandboxes that are to be stopped, and are not known to be gone. */
  stops: v.exactOptional(v.array(PendingStop)),
  /** Changes of that list, and of `sandbox`, that no event tells of: whoever goes by either sees them by this. */
  sandbox_changes: Counter,
  p: RunFacets,
};

const execution = {
  execution_id: v.string(),
  /** SHA-256 of the execution's key; a new execution replaces it, and with it the old key. */
  key_hash: v.string(),
  /** When the execution entered its present state. */
  state_since: Time,
  /** The last call of the execution. */
  heartbeat_at: Time,
  /** Where it runs, unless that is a Lambda function; without a handle until the provider has told one. */
  sandbox: v.exactOptional(Placed),
  /** The harness that made the first call with its instance header. */
  instance_id: v.exactOptional(v.string()),
  /** The beat after which the lease was extended once, because too many ran out together. */
  extended_from: v.exactOptional(Time),
};

const Queued = v.object({
  ...common,
  state: v.literal("QUEUED"),
  /** Of a run that its caller executes: its one execution, ready from the first. Others get theirs with the slot. */
  execution_id: v.exactOptional(v.string()),
  key_hash: v.exactOptional(v.string()),
});
const Executing = v.object({ ...common, ...execution, state: v.picklist(["PENDING", "CLAIMED", "INPROGRESS"]) });
const Ended = v.object({
  ...common,
  state: v.picklist(["SUCCEEDED", "FAILED", "ERROR", "BLOCKED", "CANCELLED"]),
  ended_at: Time,
  status_message: v.exactOptional(RunStatusMessage),
  /** The execution that was at work when the run ended. */
  execution_id: v.exactOptional(v.string()),
  /** Set while the cancelled run's sandbox has not said that it stopped; its key is good for that alone. */
  stop_pending: v.exactOptional(v.boolean()),
  stop_by: v.exactOptional(Time),
  key_hash: v.exactOptional(v.string()),
  instance_id: v.exactOptional(v.string()),
  /** Number of events in the composed transcript; absent until it is composed. */
  transcript_events: v.exactOptional(Counter),
});
const RunHead = v.variant("state", [Queued, Executing, Ended]);

/** The head of a run: its state and counters. */
export type RunHead = v.InferOutput<typeof RunHead>;
export type ExecutingHead = v.InferOutput<typeof Executing>;
export type EndedHead = v.InferOutput<typeof Ended>;

/** True where the caller executes the run itself: it is never dispatched, holds no slot, and has one execution for life. */
export const isLocal = (head: RunHead): boolean => head.p.location === "LOCAL";

/** True while nobody has said yet that the cancelled run's sandbox has stopped. */
export const isStopAwaited = (head: RunHead): boolean => "stop_pending" in head && head.stop_pending === true;

/** Milliseconds of silence after which the run's execution counts as lost. */
export const leaseMs = (head: RunHead): number => (isLocal(head) ? LOCAL_LEASE_SECONDS : LEASE_SECONDS) * 1000;

/** Milliseconds that the sandbox of a PENDING run has for its first call. */
export const startLeaseMs = (head: ExecutingHead): number =>
  START_LEASE_SECONDS[head.sandbox?.provider ?? "lambda"] * 1000;

export const isExecutingHead = (head: RunHead): head is ExecutingHead => isExecuting(head.state);

/** The id of the run that an item or index entry is of. */
export const runIdOf = ({ pk }: Pick<Item, "pk">): string => pk.slice(runPk("").length);

/**
 * What the keys say is not stored beside them: the run's id, which holds the time of its creation, and the time of the last
 * update. A head of at most 1 KB costs half as much to write as a larger one.
 */
export function parseRunHead(item: Item): RunHead {
  const id = runIdOf(item);
  const [updatedAt] = String(item["updated_key"]).split("#");
  return v.parse(RunHead, { run_id: id, created_at: createdAtOf(id), updated_at: Number(updatedAt), ...item });
}

/** Reads the head of a run; undefined where the run does not exist. */
export async function readHead(runId: string, table: Pick<Table, "get">): Promise<RunHead | undefined> {
  const item = await table.get(keys.head(runId));
  return item === undefined ? undefined : parseRunHead(item);
}

/** Reads the heads of any number of runs, in their order; undefined where a run does not exist. */
export async function readHeads(
  runIds: readonly string[],
  table: Pick<Table, "batchGet">,
): Promise<(RunHead | undefined)[]> {
  const items = await batchGetAll(runIds.map(keys.head), table);
  return items.map((item) => (item === undefined ? undefined : parseRunHead(item)));
}

/** The attributes by which the reaper finds the run at `at`, in milliseconds. */
export const toCheckAttributes = (runId: string, at: number) => ({
  check_shard: checkShard(runId),
  check_at: sortableTime(at),
});

/** The owner of the run, read from its scope key. */
export function ownerOf(head: RunHead): Owner {
  const [type, uid] = head.scope.split("#");
  return { type: type === "TEAM" ? "Team" : "User", uid: uid ?? "" };
}

/** The status message of an error of the closed list. */
export function statusOf(code: ErrorCode, message: string): RunStatusMessage {
  return { message, error_code: code, retryable: ERRORS[code].retryable };
}
