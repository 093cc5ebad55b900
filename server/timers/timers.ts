import { AsyncLocalStorage } from "node:async_hooks";
import * as v from "valibot";
import { logLine } from "#shared/log/log.ts";
import type { Scheduler, Timer } from "#shared/timers/scheduler.ts";
import type { Database } from "../database/database.ts";
import { parseTimerCron, type TimerCron } from "./timer-cron.ts";

const ALL = "SELECT id, expression, time_zone FROM timers";
const PUT = `
  INSERT INTO timers (id, expression, time_zone) VALUES (?, ?, ?)
  ON CONFLICT (id) DO UPDATE SET expression = excluded.expression, time_zone = excluded.time_zone`;
const REMOVE = "DELETE FROM timers WHERE id = ?";
const TimerRow = v.object({ id: v.string(), expression: v.string(), time_zone: v.string() });

/** Maximum wait, so that a changed clock or a suspended machine is noticed. */
const MAX_WAIT_MS = 60_000;

interface SetTimer {
  readonly cron: TimerCron;
  readonly next: number | undefined;
}

interface TimerPorts {
  readonly database: Database;
  readonly now: () => number;
  /** Sends the message of a timer; `time` is the scheduled time. */
  send(id: string, time: number): Promise<void>;
}

/**
 * The timers of schedules, in place of EventBridge Scheduler. They are stored in the database and fire while the process
 * runs. The schedule reconciler handles firings that were missed while it did not run.
 */
export class Timers implements Scheduler {
  readonly #ports: TimerPorts;
  readonly #set = new Map<string, SetTimer>();
  /** Keeps the asynchronous context of callers out of the timers. */
  readonly #inOwnContext = AsyncLocalStorage.snapshot();
  #running = false;
  #timeout: NodeJS.Timeout | undefined;

  /** Restores the stored timers. */
  constructor(ports: TimerPorts) {
    this.#ports = ports;
    for (const row of ports.database.statement(ALL).all()) this.#restore(v.parse(TimerRow, row));
  }

  async put({ id, expression, timeZone }: Timer): Promise<void> {
    const cron = parseTimerCron(expression, timeZone);
    await this.#ports.database.write(() => this.#ports.database.statement(PUT).run(id, expression, timeZone));
    this.#set.set(id, { cron, next: cron.next(this.#ports.now()) });
    this.#arm();
  }

  async remove(id: string): Promise<void> {
    await this.#ports.database.write(() => this.#ports.database.statement(REMOVE).run(id));
    this.#set.delete(id);
    this.#arm();
  }

  /** Starts firing. */
  start(): void {
    this.#running = true;
    this.#arm();
  }

  stop(): void {
    this.#running = false;
    clearTimeout(this.#timeout);
  }

  #restore({ id, expression, time_zone }: v.InferOutput<typeof TimerRow>): void {
    try {
      const cron = parseTimerCron(expression, time_zone);
      this.#set.set(id, { cron, next: cron.next(this.#ports.now()) });
    } catch (error) {
      // An invalid timer must not stop the others; the reconciler fires its schedule.
      logLine("error", "a timer cannot be restored", { schedule_id: id, error });
    }
  }

  #arm(): void {
    clearTimeout(this.#timeout);
    if (!this.#running) return;
    const times = [...this.#set.values()].flatMap(({ next }) => (next === undefined ? [] : [next]));
    if (times.length === 0) return;
    const first = times.reduce((a, b) => Math.min(a, b));
    const wait = Math.min(Math.max(first - this.#ports.now(), 0), MAX_WAIT_MS);
    this.#timeout = setTimeout(() => this.#inOwnContext(() => this.#fireDue()), wait);
  }

  /** Fires the timers that are due. After the machine was suspended, each fires once, with its scheduled time. */
  #fireDue(): void {
    const now = this.#ports.now();
    for (const [id, { cron, next }] of this.#set) {
      if (next === undefined || next > now) continue;
      this.#set.set(id, { cron, next: cron.next(now) });
      void this.#ports.send(id, next).catch((error: unknown) => {
        logLine("error", "a timer could not send its message", { schedule_id: id, error });
      });
    }
    this.#arm();
  }
}
