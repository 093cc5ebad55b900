/** The timer of a schedule, which EventBridge Scheduler or another adapter runs. */
export interface Timer {
  /** The schedule's id, and the timer's name. */
  readonly id: string;
  /** A cron in the dialect of EventBridge Scheduler. */
  readonly expression: string;
  /** An IANA time zone name that every time zone database contains. */
  readonly timeZone: string;
}

export interface Scheduler {
  /** Creates or replaces a timer. Throws TimerRefused if the timer is not possible, TimersExhausted if there may be no further one. */
  put(timer: Timer): Promise<void>;
  /** Deletes a timer; does nothing if there is none. */
  remove(id: string): Promise<void>;
}

/** The account has as many timers as it may have. */
export class TimersExhausted extends Error {
  override readonly name = "TimersExhausted";
}

/** The timer is not possible, so a retry would not help. */
export class TimerRefused extends Error {
  override readonly name = "TimerRefused";
}
