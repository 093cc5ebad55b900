import * as v from "valibot";
import { ERRORS, type ErrorCode } from "#shared/errors.ts";
import { createdAtOf } from "#shared/ids.ts";
import { PROVIDER_NAMES, type Provider, startSeconds } from "#shared/sandbox/providers.ts";
import { workerClaimSeconds } from "#shared/settings.ts";
import { batchGetAll } from "#shared/table/batch-get.ts";
import { checkShard, keys, type Owner, runPk, sortableTime } from "#shared/table/keys.ts";
import type { Item, Table, Test } from "#shared/table/table.ts";
import { Approval } from "#shared/wire/executions/approval.ts";
import { Interrupt, TurnOutcome } from "#shared/wire/executions/turn.ts";
import { Scope } from "#shared/wire/keys/scope.ts";
import { RunMode, RunStatusMessage, WaitingFor } from "#shared/wire/run.ts";
import { isExecuting, isTerminal, LEASE_SECONDS, LOCAL_LEASE_SECONDS } from "./run.ts";

/** What list filters read, projected into every list index. It changes when a skill is loaded and when the run is archived. */
export const RunFacets = v.object({
  name: v.exactOptional(v.string()),
  model: v.exactOptional(v.string()),
  creator: v.string(),
  /** Absent where it is the creator. */
  executor: v.exactOptional(v.string()),
  /** True if the executor is an identity, which has to exist when the run begins. */
  as_identity: v.exactOptional(v.literal(true)),
  source: v.string(),
  location: v.string(),
  environment: v.exactOptional(v.string()),
  skill: v.exactOptional(v.string()),
  /** `owner/repo:path/to/SKILL.md` of that skill, once an execution has found it. */
  skill_path: v.exactOptional(v.string()),
  schedule: v.exactOptional(v.string()),
  trigger: v.exactOptional(v.string()),
  /** Tags of the metadata, from `toTags`; absent where the run has no metadata. */
  tags: v.exactOptional(v.string()),
  /** True if lists leave the run out unless they are asked for archived runs. */
  archived: v.exactOptional(v.literal(true)),
});
export type RunFacets = v.InferOutput<typeof RunFacets>;

export const executorOf = ({ creator, executor }: RunFacets): string => executor ?? creator;

const Time = v.number();
const Slot = v.picklist(["owner", "tree"]);
/** The pool of a run's slot: that of its owner, or that of its run tree. */
export type SlotKind = v.InferOutput<typeof Slot>;
/** A sandbox, as its provider finds it again. */
const Placed = v.object({
  provider: v.picklist(PROVIDER_NAMES),
  handle: v.exactOptional(v.string()),
});
/** The sandbox of an ended execution, and until when stopping it is retried. */
const PendingStop = v.object({ ...Placed.entries, execution_id: v.string(), by: Time });
export type PendingStop = v.InferOutput<typeof PendingStop>;
/** Not stored while it is 0, as most counters stay. */
const Counter = v.optional(v.pipe(v.number(), v.integer()), 0);

/** The condition that a counter of the head still has this value. */
export const countUnchanged = (count: number): Test => (count === 0 ? { exists: false } : { eq: count });

const common = {
  run_id: v.string(),
  scope: v.string(),
  created_at: Time,
  updated_at: Time,
  /** When the reaper checks the run next, as a sortable time. */
  check_at: v.exactOptional(v.string()),
  /** When the first execution became INPROGRESS. */
  started_at: v.exactOptional(Time),
  /** Milliseconds spent INPROGRESS by executions that have ended. */
  run_time_ms: Counter,
  /** Of those, the milliseconds in sandboxes whose price is not known; absent where there are none, and in earlier versions. */
  unpriced_time_ms: v.exactOptional(v.number()),
  /** Number of the next event; the condition of every write that appends one. */
  next_sequence: Counter,
  messages: Counter,
  message_bytes: Counter,
  followups: Counter,
  followups_stored: Counter,
  /** The number of follow-ups that were sent before the first execution began; absent without any follow-up, and in earlier versions. */
  early_followups: v.exactOptional(v.number()),
  /** The number of the event with which a follow-up began the present turn of an ended run; absent in the first one, and in earlier versions. */
  turn_from: v.exactOptional(v.number()),
  /** The mode that the last follow-up which restarted the run requested; the body has the run's own. */
  mode: v.exactOptional(RunMode),
  /** Follow-ups up to this number came before a cancel, and are not executed. */
  followups_cancelled: Counter,
  /** The first and last numbers of follow-ups that were pending when a cancel removed them; absent where none were. */
  followups_removed: v.exactOptional(v.array(v.tuple([v.number(), v.number()]))),
  /** The numbers of follow-ups that were deleted before an execution has stored them, in order; absent where none were. */
  followups_deleted: v.exactOptional(v.array(v.number())),
  /** Counts the edits, deletions and promotions of follow-ups, so that writers can detect them. */
  followup_changes: Counter,
  /** True if the run waits for a follow-up after each turn. */
  interactive: v.exactOptional(v.literal(true)),
  /** Minutes for which the run waits for a follow-up; absent where they are the default. */
  idle_minutes: v.exactOptional(v.number()),
  /** The latest request to end the current turn, until the turn has ended. */
  interrupt: v.exactOptional(Interrupt),
  /** The number of the last interrupt that an execution has handled. */
  interrupts_handled: Counter,
  /** The follow-up for which the run was queued again, because an execution ended without it. */
  requeued_for: v.exactOptional(v.number()),
  artifacts: Counter,
  artifact_bytes: Counter,
  /** Number and bytes of reported artifacts, also of those whose file is not uploaded yet, and of new versions of plans. */
  placed_artifacts: Counter,
  placed_bytes: Counter,
  /** Types of the artifacts, each once; absent where the run has none. */
  artifact_types: v.exactOptional(v.array(v.string())),
  /** Number of runs that were created below this one, and of a root those of its tree. */
  children: Counter,
  descendants: Counter,
  client_events: Counter,
  notifications: Counter,
  /** When a reader last requested live output. */
  watched_at: v.exactOptional(Time),
  /** Consecutive executions that were lost without a checkpoint between them. */
  losses: Counter,
  /** Consecutive executions that ended with a restart of the service, without a checkpoint between them. */
  restarts: v.exactOptional(v.number()),
  /** True if a CHECKPOINT item stores where the run continues, or which messages it has discarded. */
  checkpoint: v.exactOptional(v.literal(true)),
  snapshots: Counter,
  /** Number of uploads of a raw transcript that were created. */
  transcripts: Counter,
  /** True if a third-party harness stores the conversation in its own format; a RAW item names it. */
  external: v.exactOptional(v.literal(true)),
  /** Number of executions. */
  executions: Counter,
  /** True if a BUDGET item stores what the run may spend on models, or has spent. The name is short because every write of the head pays for it. */
  b: v.exactOptional(v.literal(true)),
  /** The secrets with the keys of its calls of Anthropic's and OpenAI's models, where its configuration names them. */
  auth: v.exactOptional(v.object({ claude: v.exactOptional(v.string()), codex: v.exactOptional(v.string()) })),
  /** The scopes of the run's key; absent where it has all that a run's key may have. */
  scopes: v.exactOptional(v.array(Scope)),
  /** Minutes after its start in which the run has to end, and when these are over, in milliseconds; absent until it starts. */
  time_limit: v.exactOptional(v.number()),
  ends_by: v.exactOptional(Time),
  /** The runs whose limits of steps and tokens its model calls count against: itself, then its ancestors. */
  lim: v.exactOptional(v.array(v.string())),
  /** Of a child: the root of its run tree, and its depth below the root. */
  root: v.exactOptional(v.string()),
  depth: v.exactOptional(v.number()),
  /** The pool of the slot that the run holds. An ended root keeps its slot while runs below it execute. */
  slot: v.exactOptional(Slot),
  /** The part of its team's counters that counts the run; absent where it is the first one, as in a team with one item. */
  part: v.exactOptional(v.number()),
  /** The pool that the run waits for a slot of. */
  waiting: v.exactOptional(Slot),
  /** The number of runs that had entered the wait queue of its owner when it did, itself included. Those that have left it are subtracted for its position. */
  ticket: v.exactOptional(v.number()),
  /** The entry of a queued run that holds a slot and waits for an execution of the deployment: its sort key, behind the number of its partition unless that is the first. */
  deployment_entry: v.exactOptional(v.string()),
  /** Of a root: the number of runs below it that execute in slots of the tree. */
  tree_running: Counter,
  /** True once an execution has used up its time: the run takes longer than a Lambda function may. */
  sliced: v.exactOptional(v.literal(true)),
  /** The id of the self-hosted worker that executes the run. */
  worker_host: v.exactOptional(v.string()),
  /** True if the run's environment has an image of its own; the body names it. */
  own_image: v.exactOptional(v.literal(true)),
  /** Consecutive starts of a sandbox without a request from the harness. */
  silent_starts: v.exactOptional(v.number()),
  /** Consecutive starts that were deferred, and of those the ones that failed. */
  deferred_starts: v.exactOptional(v.number()),
  failed_starts: v.exactOptional(v.number()),
  /** True if the run is one of the executions that the deployment counts. */
  counted: v.exactOptional(v.literal(true)),
  /** The shard whose place the counted run has; absent where the deployment counts it without shards. */
  place: v.exactOptional(v.number()),
  /** Sandboxes that have to be stopped and may still exist. */
  stops: v.exactOptional(v.array(PendingStop)),
  /** Counts the changes of that list and of `sandbox`, which no event records, so that writers of either can detect them. */
  sandbox_changes: Counter,
  /** The last decision about a call, and the number of the follow-up that brought it. */
  decision: v.exactOptional(v.object({ approval_id: v.string(), approved: v.boolean(), number: v.number() })),
  /** Counts the changes of `p`, which no event records either. */
  facet_changes: Counter,
  p: RunFacets,
};

/** How a run that waits for a follow-up ends without one, and when. */
const Idle = v.object({
  until: Time,
  state: v.picklist(["SUCCEEDED", "FAILED", "BLOCKED"]),
  message: v.string(),
  code: TurnOutcome.entries.error_code,
  waiting_for: v.exactOptional(WaitingFor),
});

const execution = {
  execution_id: v.string(),
  /** SHA-256 of the execution's key; a new execution replaces it, and with it the old key. */
  key_hash: v.string(),
  /** When the execution entered its current state. */
  state_since: Time,
  /** The last request of the execution. */
  heartbeat_at: Time,
  /** Where it runs, unless in a function, so that heads stay below 1 KB; without a handle until the provider has returned one. */
  sandbox: v.exactOptional(Placed),
  /** The harness instance that sent the first request. */
  instance_id: v.exactOptional(v.string()),
  /** The last follow-up that the harness takes, which can no longer be changed although it is not stored yet. */
  followups_taken: v.exactOptional(v.number()),
  /** The heartbeat after which the lease was extended once, because too many leases expired together. */
  extended_from: v.exactOptional(Time),
  /** Set until the waiting execution takes a follow-up: until when it waits for one, and how the run ends then. */
  idle: v.exactOptional(Idle),
  /** Why the run will fail however its execution ends it, and when the service ends it if the execution has not. */
  failing: v.exactOptional(v.object({ code: v.literal("budget_exceeded"), message: v.string(), by: Time })),
};

const Queued = v.object({
  ...common,
  state: v.literal("QUEUED"),
  /** Of a LOCAL run: its only execution, which exists from the start. Other runs get one with their slot. */
  execution_id: v.exactOptional(v.string()),
  key_hash: v.exactOptional(v.string()),
});
const Executing = v.object({ ...common, ...execution, state: v.picklist(["PENDING", "CLAIMED", "INPROGRESS"]) });
const Ended = v.object({
  ...common,
  state: v.picklist(["SUCCEEDED", "FAILED", "ERROR", "BLOCKED", "CANCELLED"]),
  ended_at: Time,
  status_message: v.exactOptional(RunStatusMessage),
  /** What a BLOCKED run waits for. @default an answer */
  waiting_for: v.exactOptional(WaitingFor),
  /** The call that a BLOCKED run waits for, and its digest. */
  approval: v.exactOptional(v.object({ ...Approval.entries, digest: v.string() })),
  /** The execution that was active when the run ended. */
  execution_id: v.exactOptional(v.string()),
  /** Set until the cancelled run's sandbox reports that it has stopped; its key is valid for that report only. */
  stop_pending: v.exactOptional(v.boolean()),
  stop_by: v.exactOptional(Time),
  key_hash: v.exactOptional(v.string()),
  instance_id: v.exactOptional(v.string()),
  /** Number of events in the composed transcript; absent until it is composed. */
  transcript_events: v.exactOptional(Counter),
  /** True if its key begins with random digits; absent for one that an earlier release has composed. */
  transcript_spread: v.exactOptional(v.literal(true)),
});
const RunHead = v.variant("state", [Queued, Executing, Ended]);

/** The head of a run: its state and counters. */
export type RunHead = v.InferOutput<typeof RunHead>;
export type ExecutingHead = v.InferOutput<typeof Executing>;
export type EndedHead = v.InferOutput<typeof Ended>;

/** True if the caller executes the run: it is never dispatched, holds no slot, and has a single execution. */
export const isLocal = (head: RunHead): boolean => head.p.location === "LOCAL";

/** Whether the service starts the run's sandbox: neither a worker nor the caller executes the run. */
export const isOnOwnSandbox = (head: RunHead): boolean => !isLocal(head) && head.worker_host === undefined;

/** Whether the run waits for capacity: for a slot, or for an execution of the deployment. */
export const isWaitingForCapacity = (head: RunHead): boolean =>
  head.waiting !== undefined || head.deployment_entry !== undefined;

/** Whether the run waits with its execution until that takes a follow-up. */
export const isIdle = (head: RunHead): boolean => head.state === "INPROGRESS" && head.idle !== undefined;

/** The interrupt that no execution has handled. */
export const findPendingInterrupt = ({ interrupt, interrupts_handled }: RunHead): Interrupt | undefined =>
  interrupt !== undefined && interrupt.number > interrupts_handled ? interrupt : undefined;

/** True until it is reported that the cancelled run's sandbox has stopped. */
export const isStopAwaited = (head: RunHead): boolean => "stop_pending" in head && head.stop_pending === true;

/** Milliseconds without a heartbeat after which the lease of the run's execution expires. */
export function leaseMs(head: RunHead): number {
  if (isLocal(head)) return LOCAL_LEASE_SECONDS * 1000;
  return (head.state === "CLAIMED" ? workerClaimSeconds() : LEASE_SECONDS) * 1000;
}

/** Milliseconds within which the sandbox of a PENDING run must send its first request. */
export const startLeaseMs = (head: ExecutingHead): number => startSeconds(providerOf(head)) * 1000;

/** The provider of the run's sandbox: a function where the head names none. */
export const providerOf = (head: RunHead): Provider => ("sandbox" in head && head.sandbox?.provider) || "lambda";

/** What the head stores of a sandbox that is to be started, as `providerOf` reads it. */
export const toSandboxAttribute = (provider: Provider): Pick<ExecutingHead, "sandbox"> =>
  provider === "lambda" ? {} : { sandbox: { provider } };

/** Parses the head of an ended run that was parsed before, as other items store it. */
export const parseEndedHead = (value: unknown): EndedHead => v.parse(Ended, value);

export const isEndedHead = (head: RunHead): head is EndedHead => isTerminal(head.state);
export const isExecutingHead = (head: RunHead): head is ExecutingHead => isExecuting(head.state);

/** The id of the run that an item or index entry belongs to. */
export const parseRunId = ({ pk }: Pick<Item, "pk">): string => pk.slice(runPk("").length);

/**
 * Parses a head. What its keys contain is not stored a second time: the run's id, which holds the time of its creation, and the
 * time of the last update. A head of at most 1 KB costs half as much to write as a larger one.
 */
export function parseRunHead(item: Item): RunHead {
  const id = parseRunId(item);
  const [updatedAt] = String(item["updated_key"]).split("#");
  return v.parse(RunHead, { run_id: id, created_at: createdAtOf(id), updated_at: Number(updatedAt), ...item });
}

/** Reads the head of a run; undefined if the run does not exist. */
export async function readHead(runId: string, table: Pick<Table, "get">): Promise<RunHead | undefined> {
  const item = await table.get(keys.head(runId));
  return item === undefined ? undefined : parseRunHead(item);
}

/** Reads the heads of any number of runs, in their order; undefined if a run does not exist. */
export async function readHeads(
  runIds: readonly string[],
  table: Pick<Table, "batchGet">,
): Promise<(RunHead | undefined)[]> {
  const items = await batchGetAll(runIds.map(keys.head), table);
  return items.map((item) => (item === undefined ? undefined : parseRunHead(item)));
}

/** The attributes that make the reaper check the run at `at`, in milliseconds. */
export const toCheckAttributes = (runId: string, at: number) => ({
  check_shard: checkShard(runId),
  check_at: sortableTime(at),
});

/** The owner of the run, read from its scope key. */
export function parseOwner(head: Pick<RunHead, "scope">): Owner {
  const [type, uid] = head.scope.split("#");
  return { type: type === "TEAM" ? "Team" : "User", uid: uid ?? "" };
}

/** The status message of an error code. */
export function toStatusMessage(code: ErrorCode, message: string): RunStatusMessage {
  return { message, error_code: code, retryable: ERRORS[code].retryable };
}
