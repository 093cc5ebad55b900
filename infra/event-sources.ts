import type { Scope } from "#shared/wire/keys/scope.ts";
import type { Rights } from "./rights.ts";
import { type Principal, readEvents } from "./routes.ts";

/** A function that is not invoked through a route; stacks/execution-stack.ts defines what invokes it. */
export interface EventSource {
  /** File in functions/ without its ending. */
  readonly file: string;
  readonly rights: Rights;
  /** Seconds that one invocation may take. */
  readonly timeoutSeconds: number;
  /** Megabytes; 512 by default. */
  readonly memoryMb?: number;
  /** The kinds of principals that may call it, where callers authenticate. */
  readonly who?: readonly Principal[];
  /** The scope that their credentials need. */
  readonly scope?: Scope;
}

/** The functions of the execution stack; with routes.ts, every file in functions/. */
export const eventSources = {
  /** SQS `runs`: takes a slot and starts the run's sandbox. */
  dispatchRun: {
    file: "executions/dispatch-run",
    rights: {
      table: ["GetItem", "BatchGetItem", "Query", "PutItem", "UpdateItem", "DeleteItem", "ConditionCheckItem"],
      indexes: ["gsi1"],
      runsQueue: ["SendMessage"],
      endsQueue: ["SendMessage"],
      bucket: { GetObject: ["prompt", "schedulePrompt"] },
      sandbox: ["InvokeFunction"],
      sandboxes: ["start"],
      workerSockets: ["ManageConnections"],
    },
    timeoutSeconds: 30,
  },
  /** Asynchronous invocation: the sandbox itself. It handles untrusted input; its role may only write its log. */
  runSandbox: { file: "executions/run-sandbox", rights: {}, timeoutSeconds: 900, memoryMb: 2048 },
  /** Synchronous invocation: discovers the skills of one repository through GitHub's API or a sandbox, and stores them. */
  discoverSkills: {
    file: "executions/discover-skills",
    rights: {
      table: ["BatchGetItem", "PutItem", "UpdateItem"],
      bucket: { GetObject: ["skills"], PutObject: ["skills"] },
      sandbox: ["InvokeFunction"],
      github: ["GetParameter"],
    },
    timeoutSeconds: 28,
  },
  /** Function URL: the model gateway, by which executions call models with their run's key; it streams the responses. */
  callModel: {
    file: "model/call-model",
    rights: {
      table: ["GetItem", "BatchGetItem", "PutItem", "UpdateItem"],
      endsQueue: ["SendMessage"],
      models: ["call"],
      secretsKey: ["GetParameter"],
      secrets: ["GetParameters"],
    },
    timeoutSeconds: 900,
  },
  /** SQS `ends`: after the end of a run, releases its slot, stops its remaining sandboxes, stores its uploads and composes its transcript. */
  endRun: {
    file: "executions/end-run",
    rights: {
      table: ["GetItem", "BatchGetItem", "Query", "PutItem", "UpdateItem", "DeleteItem"],
      bucket: {
        GetObject: ["prompt", "schedulePrompt", "messages", "artifact", "rawTranscript"],
        PutObject: ["transcript", "rawTranscript"],
      },
      runsQueue: ["SendMessage"],
      endsQueue: ["SendMessage"],
      sandboxes: ["stop"],
      workerSockets: ["ManageConnections"],
      tracing: ["GetParameter"],
    },
    timeoutSeconds: 60,
    memoryMb: 1024,
  },
  /** Each minute: finds executions with an expired lease, and ends the runs in the dead-letter queue of `runs`. */
  reapRuns: {
    file: "executions/reap-runs",
    rights: {
      table: ["GetItem", "BatchGetItem", "Query", "PutItem", "UpdateItem", "DeleteItem"],
      indexes: ["gsi6"],
      runsQueue: ["SendMessage"],
      endsQueue: ["SendMessage"],
      deadRunsQueue: ["ReceiveMessage", "DeleteMessage"],
    },
    // It mostly waits for the next pass.
    timeoutSeconds: 90,
    memoryMb: 256,
  },
  /** A function URL behind CloudFront: the events of runs, as JSON or as a stream. */
  streamEvents: {
    file: "runs/stream-events",
    rights: readEvents,
    timeoutSeconds: 900,
    who: ["personal", "agent", "run"],
    scope: "runs:read",
  },
  /** SQS `events`: decides what the events of triggers result in. Each minute: requests the decisions that are due. */
  decideEvents: {
    file: "executions/decide-events",
    rights: {
      table: ["GetItem", "BatchGetItem", "Query", "PutItem", "UpdateItem"],
      indexes: ["gsi6"],
      bucket: { GetObject: ["triggerEvent", "messages"], PutObject: ["followup", "followupAttachment"] },
      runsQueue: ["SendMessage"],
      endsQueue: ["SendMessage"],
      eventsQueue: ["SendMessage"],
      sandboxes: ["know"],
      systems: ["InvokeFunction"],
    },
    timeoutSeconds: 30,
  },
  /** Synchronous invocation: calls the APIs of other systems with secrets of teams. Of the table it can read encrypted values only. */
  callSystems: {
    file: "executions/call-systems",
    rights: {
      vault: ["BatchGetItem"],
      secretsKey: ["GetParameter"],
      secrets: ["GetParameters"],
      githubApp: ["GetParameter"],
    },
    timeoutSeconds: 28,
    memoryMb: 512,
  },
  /** Asynchronous invocation by EventBridge Scheduler: a timer of a schedule fired; creates its run. */
  fireSchedule: {
    file: "executions/fire-schedule",
    rights: {
      table: ["GetItem", "BatchGetItem", "PutItem", "UpdateItem", "DeleteItem"],
      runsQueue: ["SendMessage"],
      endsQueue: ["SendMessage"],
      sandboxes: ["know"],
      timers: ["DeleteSchedule"],
    },
    timeoutSeconds: 30,
  },
  /** Each minute: fires schedules whose firing was missed, and corrects timers that differ from their schedule. */
  reconcileSchedules: {
    file: "executions/reconcile-schedules",
    rights: {
      table: ["GetItem", "BatchGetItem", "Query", "PutItem", "UpdateItem", "DeleteItem"],
      indexes: ["gsi6"],
      runsQueue: ["SendMessage"],
      endsQueue: ["SendMessage"],
      sandboxes: ["know"],
      timers: ["CreateSchedule", "UpdateSchedule", "DeleteSchedule"],
    },
    timeoutSeconds: 60,
  },
  /** Each hour: deletes runs past their team's retention period, with their files. */
  deleteOldRuns: {
    file: "executions/delete-old-runs",
    rights: {
      table: ["GetItem", "BatchGetItem", "Query", "PutItem", "UpdateItem", "DeleteItem"],
      indexes: ["gsi1", "gsi6"],
      bucket: {
        ListBucket: ["runs/*", "snapshots/*"],
        // biome-ignore format: one list
        DeleteObject: ["prompt", "attachment", "followup", "followupAttachment", "messages", "artifact", "plan", "pack", "snapshot", "rawTranscript", "transcript"],
      },
    },
    timeoutSeconds: 900,
    memoryMb: 256,
  },
  /** The stream of the table: adds deliveries of new events of runs to webhooks. Each minute: requests attempts of those that are due. */
  planDeliveries: {
    file: "executions/plan-deliveries",
    rights: {
      table: ["GetItem", "BatchGetItem", "Query", "PutItem", "UpdateItem"],
      indexes: ["gsi6"],
      webhookAttempts: ["InvokeFunction"],
    },
    timeoutSeconds: 30,
  },
  /** Asynchronous invocation by plan-deliveries: attempts deliveries of one webhook, or the reply of one run. */
  attemptDeliveries: {
    file: "executions/attempt-deliveries",
    rights: {
      table: ["GetItem", "BatchGetItem", "Query", "UpdateItem"],
      bucket: { GetObject: ["messages"] },
      webhookSender: ["InvokeFunction"],
      systems: ["InvokeFunction"],
    },
    // It starts requests for half a minute, and a call of the sender takes at most 40 seconds.
    timeoutSeconds: 80,
    memoryMb: 256,
  },
  /** Synchronous invocation: sends requests to the URLs of webhooks. Of the table it can read encrypted values only. */
  sendWebhooks: {
    file: "executions/send-webhooks",
    rights: { vault: ["BatchGetItem"], webhookSecretsKey: ["GetParameter"], webhookSecrets: ["GetParameters"] },
    timeoutSeconds: 35,
    memoryMb: 256,
  },
  /** WebSocket `$connect`: accepts a self-hosted worker. */
  connectWorker: {
    file: "workers/connect-worker",
    rights: { table: ["GetItem", "BatchGetItem", "Query", "PutItem", "UpdateItem"], runsQueue: ["SendMessage"] },
    timeoutSeconds: 10,
  },
  /** WebSocket `$disconnect`: forgets the connection of a self-hosted worker. */
  disconnectWorker: {
    file: "workers/disconnect-worker",
    rights: { table: ["GetItem", "DeleteItem"] },
    timeoutSeconds: 10,
  },
  /** WebSocket `$default`: a frame of a self-hosted worker. */
  receiveFrame: {
    file: "workers/receive-frame",
    rights: {
      table: ["GetItem", "BatchGetItem", "Query", "PutItem", "UpdateItem", "DeleteItem"],
      runsQueue: ["SendMessage"],
      endsQueue: ["SendMessage"],
      workerSockets: ["ManageConnections"],
    },
    timeoutSeconds: 10,
  },
} as const satisfies Record<string, EventSource>;
