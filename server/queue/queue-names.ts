/** A queue, with the limits that its messages are handled by. Its dead letters are in a queue called `‹name›-dead`. */
export interface QueueDefinition {
  readonly name: string;
  /** Seconds that one delivery may take; after that it counts as failed. */
  readonly timeoutSeconds: number;
  /** Seconds after which a delivered message is delivered again, unless it was completed. */
  readonly visibilitySeconds: number;
  /** Deliveries after which a message becomes a dead letter; unlimited where it is undefined. */
  readonly maxReceives: number | undefined;
}

const MAX_RECEIVES = 5;

/** The limits of the same queues on AWS. */
const queue = (name: string, timeoutSeconds: number, maxReceives: number | undefined = MAX_RECEIVES) => ({
  name,
  timeoutSeconds,
  visibilitySeconds: 6 * timeoutSeconds,
  maxReceives,
});

export const deadLettersOf = (name: string): string => `${name}-dead`;

/** The queues of the control plane, and that of the runs that could not be dispatched, which has a consumer of its own. */
export const QUEUES = {
  runs: queue("runs", 30),
  ends: queue("ends", 60),
  reaper: queue("reaper", 60),
  ticks: queue("ticks", 30),
  deadRuns: { ...queue(deadLettersOf("runs"), 30), maxReceives: undefined },
} as const satisfies Record<string, QueueDefinition>;
