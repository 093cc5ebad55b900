import { availableParallelism } from "node:os";

/** So much work of one kind at once: more would not be done any sooner. */
export const LANE_WIDTH = Math.max(2, availableParallelism());
const PATIENCE_MS = 5_000;
/** A lane in which nothing was done for so long stands still. */
const STILL_MS = 2_000;

/**
 * Lets a few of each kind through at once, and the others wait their turn. The emulator makes a process for each call that
 * finds all earlier ones of its function busy; on a few processors, starting those takes many times longer than waiting.
 * Whoever has waited for five seconds goes on all the same where the lane stands still, so that callers who do keep nobody back; in a lane
 * that moves they wait on, since all of them at once would bring it to a stop.
 */
export class Lanes {
  readonly #width: number;
  readonly #busy = new Map<string, number>();
  readonly #waiting = new Map<string, (() => void)[]>();
  readonly #movedAt = new Map<string, number>();

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
    const pushOn = (): void => {
      const moved = performance.now() - (this.#movedAt.get(kind) ?? Number.NEGATIVE_INFINITY);
      if (moved >= STILL_MS) go();
      else impatient = setTimeout(pushOn, STILL_MS - moved).unref();
    };
    let impatient = setTimeout(pushOn, PATIENCE_MS).unref();
    queue.push(go);
  }

  #begin(kind: string, work: (leave: () => void) => void): void {
    this.#busy.set(kind, this.#busyWith(kind) + 1);
    let gone = false;
    work(() => {
      if (gone) return;
      gone = true;
      this.#movedAt.set(kind, performance.now());
      this.#busy.set(kind, this.#busyWith(kind) - 1);
      if (this.#busyWith(kind) < this.#width) this.#waiting.get(kind)?.[0]?.();
    });
  }

  #busyWith(kind: string): number {
    return this.#busy.get(kind) ?? 0;
  }
}
