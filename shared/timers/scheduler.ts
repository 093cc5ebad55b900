/** What wakes a schedule: one timer each, kept by EventBridge Scheduler. */
export interface Timer {
  /** The schedule's id, and the timer's name. */
  readonly id: string;
  /** A cron in the dialect of EventBridge Scheduler. */
  readonly expression: string;
  /** In the spelling that every database of time zones has. */
  readonly timeZone: string;
}

export interface Scheduler {
  /** Sets a timer, whether there was one or not. Throws TimerRefused where it cannot be set at all. */
  put(timer: Timer): Promise<void>;
  /** Takes a timer away; where there is none, nothing happens. */
  remove(id: string): Promise<void>;
}

/** No timer can be set to this: trying again would not help. */
export class TimerRefused extends Error {}
