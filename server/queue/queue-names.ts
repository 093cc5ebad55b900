/** A queue and its limits. Its dead letters are in the queue `‹name›-dead`. */
export interface QueueDefinition {
  readonly name: string;
  /** Seconds after which the handling of a message counts as failed. */
  readonly timeoutSeconds: number;
  /** Seconds after which a message is delivered again unless it was handled. */
  readonly visibilitySeconds: number;
  /** Deliveries after which a message becomes a dead letter. Unlimited if undefined. */
  readonly maxReceives: number | undefined;
}

const MAX_RECEIVES = 5;
/**
 * Deliveries of a message that requests a dispatch. Lambda counts those that it throttles too, and these are no failures of the
 * run.
 */
const MAX_DISPATCHES = 1_000;

/** Defines a queue with the limits that it has on AWS. */
const defineQueue = (name: string, timeoutSeconds: number, maxReceives: number | undefined = MAX_RECEIVES) => ({
  name,
  timeoutSeconds,
  visibilitySeconds: 6 * timeoutSeconds,
  maxReceives,
});

export const toDeadLetterQueue = (name: string): string => `${name}-dead`;

/**
 * The queues of the control plane. The runs of self-hosted workers have a queue of their own, since they need no room on this machine. The
 * dead letters of both have a consumer, which fails the runs.
 */
export const QUEUES = {
  runs: defineQueue("runs", 30, MAX_DISPATCHES),
  workerRuns: defineQueue("worker-runs", 30, MAX_DISPATCHES),
  ends: defineQueue("ends", 60),
  events: defineQueue("events", 30),
  reaper: defineQueue("reaper", 60),
  ticks: defineQueue("ticks", 30),
  webhookEvents: defineQueue("webhook-events", 30),
  webhookAttempts: defineQueue("webhook-attempts", 80),
  deadRuns: { ...defineQueue(toDeadLetterQueue("runs"), 30), maxReceives: undefined },
  deadWorkerRuns: { ...defineQueue(toDeadLetterQueue("worker-runs"), 30), maxReceives: undefined },
} as const satisfies Record<string, QueueDefinition>;
