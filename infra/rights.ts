/** Rights as data: what a function's role may do, as written in routes.ts and event-sources.ts. The types have no `Scan` and no `*`. */

/** Reads of the table. `BatchGetItem` is a right of its own in IAM; TransactGetItems needs `GetItem`. */
export type TableRead = "GetItem" | "BatchGetItem" | "Query";

/** Writes of the table. A transaction has no right of its own: it needs those of the writes and checks in it. */
export type TableWrite = "PutItem" | "UpdateItem" | "DeleteItem" | "ConditionCheckItem";

/** The table's indexes, by name; stacks/data-stack.ts defines their keys. */
export type IndexName = "gsi1" | "gsi2" | "gsi3" | "gsi4" | "gsi5" | "gsi6" | "gsi7";

/**
 * The keys of each kind of file in the bucket, as IAM writes them. Each pattern matches only the keys of its own kind; a test compares them with
 * the keys that files are stored under.
 */
export const FILE_PATTERNS = {
  prompt: "requests/*/prompt-*",
  schedulePrompt: "schedules/*/prompt-*",
  attachment: "requests/*/attachments/*",
  upload: "attachments/*",
  followup: "runs/*/followups/*",
  followupAttachment: "runs/*/attachments/*",
  messages: "runs/*/messages/*",
  artifact: "runs/*/artifacts/*",
  plan: "runs/*/plans/*",
  pack: "runs/*/packs/*",
  skills: "skills/*",
  snapshot: "snapshots/*",
  triggerEvent: "events/*",
  rawTranscript: "runs/*/raw/*",
  transcript: "runs/*/transcript-*",
} as const;
export type FileKind = keyof typeof FILE_PATTERNS;

/** Rights on the table of live output. */
export type LiveAction = "GetItem" | "PutItem" | "DeleteItem";

/** What a function that only reads may have. */
export interface ReadRights {
  readonly table?: readonly TableRead[];
  /** Indexes that `Query` reaches besides the table itself. */
  readonly indexes?: readonly IndexName[];
  /** Also needed to sign a download: a signed URL can do what its signer can. */
  readonly bucket?: { readonly GetObject: readonly FileKind[] };
  /** Triggers the discovery of skills in a repository; the invoked function stores the result itself. */
  readonly discovery?: readonly "InvokeFunction"[];
  /** Live output: a new reader removes the items of earlier readers. */
  readonly live?: readonly ("GetItem" | "DeleteItem")[];
  /** Records in the head of a run that live output is being read; no other attribute can be written with this right. */
  readonly watch?: readonly "UpdateItem"[];
  /** Records refused requests in the audit log; no other item can be written with this right. */
  readonly refusals?: readonly ("PutItem" | "UpdateItem")[];
  /** The keys that sign the identity tokens of runs, as a parameter below a separate path. */
  readonly identityKeys?: readonly "GetParameter"[];
}

/** What a function that also writes may have. */
export interface Rights {
  readonly table?: readonly (TableRead | TableWrite)[];
  readonly indexes?: readonly IndexName[];
  /** Kinds of files that may be read and written; a copy reads the one and writes the other. */
  readonly bucket?: {
    readonly GetObject?: readonly FileKind[];
    readonly PutObject?: readonly FileKind[];
    readonly DeleteObject?: readonly FileKind[];
    /** Patterns of the prefixes whose keys may be listed. */
    readonly ListBucket?: readonly ("runs/*" | "snapshots/*")[];
  };
  /** The attributes contain the queue depth, which the reaper reads before it dispatches a run again. */
  readonly runsQueue?: readonly ("SendMessage" | "GetQueueAttributes")[];
  readonly endsQueue?: readonly "SendMessage"[];
  /** The queue of events for triggers. */
  readonly eventsQueue?: readonly "SendMessage"[];
  /** The dead letters of the runs queue. */
  readonly deadRunsQueue?: readonly ("ReceiveMessage" | "DeleteMessage")[];
  readonly sandbox?: readonly "InvokeFunction"[];
  /**
   * The deployment's sandboxes other than functions: MicroVMs of the one image, tasks of the one cluster. `know` only tells the
   * function which kinds exist.
   */
  readonly sandboxes?: readonly ("know" | "start" | "stop")[];
  /** Frames to self-hosted workers, and the end of their connections: the one WebSocket API. */
  readonly workerSockets?: readonly "ManageConnections"[];
  readonly discovery?: readonly "InvokeFunction"[];
  /** The credentials of this deployment for GitHub, its token and its App's key: the parameters that the settings name. */
  readonly github?: readonly "GetParameter"[];
  /** The key of the deployment's GitHub App only: its tokens are for one repository and one hour. */
  readonly githubApp?: readonly "GetParameter"[];
  /** The key and the client secret of the App, by which a team claims an installation. */
  readonly githubAppClient?: readonly "GetParameter"[];
  /** The secret of the App's webhook. */
  readonly githubAppWebhook?: readonly "GetParameter"[];
  /** The client secret for the OIDC issuer by which people sign in: the parameter that the settings name, if any. */
  readonly signInIssuer?: readonly "GetParameter"[];
  /** Sends traces to the collector that the settings name, if any, with the headers of their parameter. */
  readonly tracing?: readonly "GetParameter"[];
  /** The models of the deployment's providers, with the keys for them: the parameters that the settings name, and no others. */
  readonly models?: readonly "call"[];
  readonly live?: readonly LiveAction[];
  readonly watch?: readonly "UpdateItem"[];
  readonly refusals?: readonly ("PutItem" | "UpdateItem")[];
  /** The key that encrypts values of secrets: one parameter, which can be created but not replaced. */
  readonly secretsKey?: readonly ("GetParameter" | "PutParameter")[];
  /** The same for the secrets of webhooks and triggers. */
  readonly webhookSecretsKey?: readonly ("GetParameter" | "PutParameter")[];
  /** Encrypted values in the table, for functions without other rights on it. */
  readonly vault?: readonly "BatchGetItem"[];
  /** Values of secrets that an earlier release stored, as parameters below one path. */
  readonly secrets?: readonly ("GetParameters" | "DeleteParameter")[];
  /** The same for the secrets of webhooks and triggers, below a separate path. */
  readonly webhookSecrets?: readonly ("GetParameters" | "DeleteParameter")[];
  readonly identityKeys?: readonly ("GetParameter" | "PutParameter")[];
  /** Requests attempts of deliveries from the function that makes them. */
  readonly webhookAttempts?: readonly "InvokeFunction"[];
  /** Calls the function that sends requests to the URLs of webhooks. */
  readonly webhookSender?: readonly "InvokeFunction"[];
  /** Calls the function that calls the APIs of other systems for triggers. */
  readonly systems?: readonly "InvokeFunction"[];
  /** Timers of schedules, in the one group. Setting a timer passes it the role with which it fires. */
  readonly timers?: readonly ("CreateSchedule" | "UpdateSchedule" | "DeleteSchedule")[];
}

/** The indexes that a list of runs may read: all except `gsi6`, which is the reaper's. */
export const listIndexes = ["gsi1", "gsi2", "gsi3", "gsi4", "gsi5", "gsi7"] as const satisfies readonly IndexName[];
