import { availableParallelism } from "node:os";

/** Maximum concurrent requests of one kind; more would not finish any sooner. */
export const ROUTE_CONCURRENCY = Math.max(2, availableParallelism());
/** Maximum concurrent requests of all kinds. */
const TOTAL_WIDTH = 4 * ROUTE_CONCURRENCY;
const PATIENCE_MS = 5_000;
/** A kind with no progress for this long counts as stalled. */
const STILL_MS = 2_000;
/** Factor by which a stalled kind may exceed its limit. */
const MAX_STRETCH = 4;
/** With the ten seconds of most functions, less than the 30 after which callers give up. */
const MAX_WAIT_MS = 15_000;

interface Waiter {
  readonly work: (leave: () => void) => void;
  readonly refuse: () => void;
  readonly since: number;
  timer?: NodeJS.Timeout;
}

/**
 * Limits the concurrent requests of each kind and queues the others. The emulator starts a process for each call while all earlier
 * processes of its function are busy; on a few processors, starting those takes many times longer than waiting. A stalled kind
 * admits one more request every two seconds, so that slow callers do not block others. A request is refused after fifteen seconds.
 */
export class ConcurrencyLimiter {
  readonly #width: number;
  readonly #totalWidth: number;
  readonly #busy = new Map<string, number>();
  /** Waiting requests by kind; kinds take turns in this order. */
  readonly #waiting = new Map<string, Waiter[]>();
  readonly #movedAt = new Map<string, number>();
  #total = 0;
  #anyMovedAt = Number.NEGATIVE_INFINITY;

  constructor(width = ROUTE_CONCURRENCY, totalWidth = TOTAL_WIDTH) {
    this.#width = width;
    this.#totalWidth = totalWidth;
  }

  /** Calls `work` once admitted, which calls `leave` when it is done, or `refuse` after the maximum wait. */
  enter(kind: string, work: (leave: () => void) => void, refuse: () => void): void {
    const waiter: Waiter = { work, refuse, since: performance.now() };
    this.#waiting.set(kind, [...(this.#waiting.get(kind) ?? []), waiter]);
    this.#admit();
    if (this.#waiting.get(kind)?.includes(waiter)) this.#lookAgain(kind, waiter, PATIENCE_MS);
  }

  #lookAgain(kind: string, waiter: Waiter, milliseconds: number): void {
    waiter.timer = setTimeout(() => {
      const now = performance.now();
      const remainingMs = waiter.since + MAX_WAIT_MS - now;
      const moved = this.#busyWith(kind) === 0 ? this.#anyMovedAt : this.#lastMove(kind);
      if (remainingMs <= 0) {
        this.#remove(kind, waiter);
        waiter.refuse();
      } else if (now - moved < STILL_MS || this.#busyWith(kind) >= this.#width * MAX_STRETCH) {
        this.#lookAgain(kind, waiter, Math.min(remainingMs, Math.max(STILL_MS - (now - moved), STILL_MS / 4)));
      } else {
        this.#remove(kind, waiter);
        this.#begin(kind, waiter);
      }
    }, milliseconds).unref();
  }

  /** Starts as many requests as the limits allow, one of each kind in turn. */
  #admit(): void {
    while (this.#total < this.#totalWidth) {
      const [kind, queue] = [...this.#waiting].find(([it]) => this.#busyWith(it) < this.#width) ?? [];
      const waiter = queue?.[0];
      if (kind === undefined || waiter === undefined) return;
      this.#remove(kind, waiter);
      this.#begin(kind, waiter);
    }
  }

  #remove(kind: string, waiter: Waiter): void {
    clearTimeout(waiter.timer);
    const others = (this.#waiting.get(kind) ?? []).filter((other) => other !== waiter);
    this.#waiting.delete(kind);
    if (others.length > 0) this.#waiting.set(kind, others);
  }

  #begin(kind: string, { work }: Waiter): void {
    this.#move(kind, 1);
    let gone = false;
    work(() => {
      if (gone) return;
      gone = true;
      this.#move(kind, -1);
      this.#admit();
    });
  }

  #move(kind: string, change: 1 | -1): void {
    this.#total += change;
    this.#busy.set(kind, this.#busyWith(kind) + change);
    this.#anyMovedAt = performance.now();
    this.#movedAt.set(kind, this.#anyMovedAt);
  }

  #busyWith(kind: string): number {
    return this.#busy.get(kind) ?? 0;
  }

  #lastMove(kind: string): number {
    return this.#movedAt.get(kind) ?? Number.NEGATIVE_INFINITY;
  }
}
