/** The time that has passed in a run. Events come from two clocks, the service's and the sandbox's; this one never goes back. */
export class RunClock {
  #since: number | undefined;
  #passed = 0;

  /** @param since when time began, in milliseconds since the epoch. @default the time of the first event */
  constructor(since?: number) {
    this.#since = since;
  }

  /** Milliseconds that had passed at a time, an RFC 3339 timestamp; at least as many as at the last call. */
  passedAt(timestamp: string): number {
    const time = Date.parse(timestamp);
    if (Number.isNaN(time)) return this.#passed;
    this.#since ??= time;
    this.#passed = Math.max(this.#passed, time - this.#since);
    return this.#passed;
  }
}
