/** A clock of this process that stands still while an action is carried out, and then goes on to the next one. */
export class VirtualTime {
  readonly #real = Date.now;
  readonly #actions: { readonly at: number; readonly perform: () => Promise<unknown> }[] = [];
  #now = Math.floor(Date.now() / 60_000) * 60_000;

  constructor() {
    Date.now = () => Math.floor(this.#now);
  }

  /** Has an action carried out after these milliseconds. */
  after(milliseconds: number, perform: () => Promise<unknown>): void {
    const at = this.#now + milliseconds;
    let [low, high] = [0, this.#actions.length];
    // The latest is the first, so that the next one is taken from the end.
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#actions[middle]?.at ?? 0) > at) low = middle + 1;
      else high = middle;
    }
    this.#actions.splice(low, 0, { at, perform });
  }

  /** Carries out all actions, and those that they add, in the order of their times. */
  async run(): Promise<void> {
    for (let next = this.#actions.pop(); next !== undefined; next = this.#actions.pop()) {
      this.#now = Math.max(this.#now, next.at);
      await next.perform();
    }
  }

  /** Gives this process the real clock back. */
  restore(): void {
    Date.now = this.#real;
  }
}
