import * as v from "valibot";
import { PageInfo } from "./list.ts";
import { Count } from "./primitives.ts";

/** A connected self-hosted worker. Several connections may share its id. */
export const WorkerItem = v.object({
  /** The worker's id, the value for `worker_host` of a configuration. */
  worker_host: v.string(),
  /** The number of connections with this id. */
  connection_count: Count,
  /** The start time of the oldest connection. @format date-time */
  connected_at: v.string(),
  /** The time of the latest message from the worker. @format date-time */
  last_seen_at: v.string(),
});
export type WorkerItem = v.InferOutput<typeof WorkerItem>;

/** A page of workers. */
export const ListWorkersResponse = v.object({
  /** The connected workers, sorted by id. */
  workers: v.array(WorkerItem),
  /** The address that workers connect to. */
  ws_url: v.exactOptional(v.string()),
  /** The position of the page in the list. */
  page_info: v.exactOptional(PageInfo),
});

// The frames between the service and a self-hosted worker: JSON texts {"type": T, "data": {...}}.

/** Bytes of a frame, in both directions: the limit of API Gateway. */
export const MAX_FRAME_BYTES = 128 * 1024;

const Text = v.pipe(v.string(), v.maxLength(MAX_FRAME_BYTES));

/** What all reports about a task have in common. `execution_id` is sent by Runyard's own worker only. */
const task = { task_id: v.pipe(v.string(), v.maxLength(64)), execution_id: v.exactOptional(v.string()) };

const TaskClaimed = v.object({
  type: v.literal("task_claimed"),
  data: v.object({ ...task, worker_id: v.exactOptional(v.string()) }),
});
const TaskCompleted = v.object({
  type: v.literal("task_completed"),
  data: v.object({ ...task, message: v.exactOptional(Text), task_state: v.exactOptional(v.string()) }),
});
const TaskFailed = v.object({
  type: v.literal("task_failed"),
  data: v.object({
    ...task,
    message: v.exactOptional(Text),
    failure_reason: v.exactOptional(v.string()),
    exit_code: v.exactOptional(v.number()),
  }),
});
const TaskRejected = v.object({
  type: v.literal("task_rejected"),
  data: v.object({ ...task, reason: v.exactOptional(Text) }),
});

/** The worker shuts down: it accepts no more tasks, and reports the ends of those that it has. */
const WorkerDraining = v.object({ type: v.literal("worker_draining"), data: v.exactOptional(v.object({})) });

/** A frame about a task. */
const TaskFrame = v.variant("type", [TaskClaimed, TaskCompleted, TaskFailed, TaskRejected]);
export type TaskFrame = v.InferOutput<typeof TaskFrame>;

/** A frame from a worker to the service. */
export const WorkerFrame = v.variant("type", [...TaskFrame.options, WorkerDraining]);
export type WorkerFrame = v.InferOutput<typeof WorkerFrame>;

const TaskAssignment = v.object({
  type: v.literal("task_assignment"),
  data: v.object({
    task_id: v.string(),
    execution_id: v.string(),
    task: v.object({
      id: v.string(),
      title: v.string(),
      task_definition: v.object({ prompt: v.string() }),
      created_at: v.string(),
      updated_at: v.string(),
      /** Workers drop an assignment whose `Id` is no integer. */
      owner: v.object({ Type: v.picklist(["USER", "TEAM"]), Id: v.pipe(v.number(), v.integer()) }),
      agent_config_snapshot: v.exactOptional(v.record(v.string(), v.unknown())),
      agent_conversation_id: v.exactOptional(v.string()),
    }),
    docker_image: v.exactOptional(v.string()),
    /** How the run's environment limits its network; the harness gets the domains by resolve-prompt. */
    network: v.exactOptional(v.picklist(["allowlist", "none"])),
    env_vars: v.record(v.string(), v.string()),
  }),
});
export type TaskAssignment = v.InferOutput<typeof TaskAssignment>;

const TaskCancellation = v.object({
  type: v.literal("task_cancellation"),
  data: v.object({ task_id: v.string(), execution_id: v.exactOptional(v.string()) }),
});
export type TaskCancellation = v.InferOutput<typeof TaskCancellation>;

/** A frame from the service to a worker. */
export const ServiceFrame = v.variant("type", [TaskAssignment, TaskCancellation]);
export type ServiceFrame = v.InferOutput<typeof ServiceFrame>;
