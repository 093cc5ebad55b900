import { availableParallelism } from "node:os";

/** So much work of one kind at once: more would not be done any sooner. */
export const LANE_WIDTH = Math.max(2, availableParallelism());
const PATIENCE_MS = 5_000;

/**
 * Lets a few of each kind through at once, and the others wait their turn. The emulator makes a process for each call that
 * finds all earlier ones of its function busy; on a few processors, starting those takes many times longer than waiting.
 * Whoever has waited for five seconds goes on all the same, so that a caller that stands still keeps nobody back.
 */
export class Lanes {
  readonly #width: number;
  readonly #busy = new Map<string, number>();
  readonly #waiting = new Map<string, (() => void)[]>();

  constructor(width = LANE_WIDTH) {
    this.#width = width;
  }

  /** Calls `work` when it is its turn; it calls `leave` when it is done. */
  enter(kind: string, work: (leave: () => void) => void): void {
    if (this.#busyWith(kind) < this.#width) {
      this.#begin(kind, work);
      return;
    }
    const queue = this.#waiting.get(kind) ?? [];
    this.#waiting.set(kind, queue);
    const go = (): void => {
      clearTimeout(impatient);
      queue.splice(queue.indexOf(go), 1);
      this.#begin(kind, work);
    };
    const impatient = setTimeout(go, PATIENCE_MS).unref();
    queue.push(go);
  }

  #begin(kind: string, work: (leave: () => void) => void): void {
    this.#busy.set(kind, this.#busyWith(kind) + 1);
    let gone = false;
    work(() => {
      if (gone) return;
      gone = true;
      this.#busy.set(kind, this.#busyWith(kind) - 1);
      if (this.#busyWith(kind) < this.#width) this.#waiting.get(kind)?.[0]?.();
    });
  }

  #busyWith(kind: string): number {
    return this.#busy.get(kind) ?? 0;
  }
}
