import { AsyncLocalStorage } from "node:async_hooks";
import * as v from "valibot";
import { logLine } from "#shared/log/log.ts";
import type { Scheduler, Timer } from "#shared/schedules/scheduler.ts";
import type { Database } from "../database/database.ts";
import { type TimerCron, timerCron } from "./timer-cron.ts";

const ALL = "SELECT id, expression, time_zone FROM timers";
const PUT = `
  INSERT INTO timers (id, expression, time_zone) VALUES (?, ?, ?)
  ON CONFLICT (id) DO UPDATE SET expression = excluded.expression, time_zone = excluded.time_zone`;
const REMOVE = "DELETE FROM timers WHERE id = ?";
const TimerRow = v.object({ id: v.string(), expression: v.string(), time_zone: v.string() });

/** The longest wait: a clock that was changed, or a machine that slept, is noticed after it. */
const MAX_WAIT_MS = 60_000;

interface SetTimer {
  readonly cron: TimerCron;
  readonly next: number | undefined;
}

interface TimerPorts {
  readonly database: Database;
  readonly now: () => number;
  /** Sends the message of a timer; `time` is when it was to go off. */
  send(id: string, time: number): Promise<void>;
}

/**
 * The timers of schedules, in place of EventBridge Scheduler. They are stored, and go off while the process runs; what
 * is missed meanwhile, the reconciler of schedules makes up for.
 */
export class Timers implements Scheduler {
  readonly #ports: TimerPorts;
  readonly #set = new Map<string, SetTimer>();
  /** Leaves the asynchronous context of whoever sets a timer. */
  readonly #inOwnContext = AsyncLocalStorage.snapshot();
  #running = false;
  #waiting: NodeJS.Timeout | undefined;

  /** Reads the timers that are stored. */
  constructor(ports: TimerPorts) {
    this.#ports = ports;
    for (const row of ports.database.statement(ALL).all()) this.#restore(v.parse(TimerRow, row));
  }

  async put({ id, expression, timeZone }: Timer): Promise<void> {
    const cron = timerCron(expression, timeZone);
    await this.#ports.database.write(() => this.#ports.database.statement(PUT).run(id, expression, timeZone));
    this.#set.set(id, { cron, next: cron.next(this.#ports.now()) });
    this.#wait();
  }

  async remove(id: string): Promise<void> {
    await this.#ports.database.write(() => this.#ports.database.statement(REMOVE).run(id));
    this.#set.delete(id);
    this.#wait();
  }

  /** Lets the timers go off from now on. */
  start(): void {
    this.#running = true;
    this.#wait();
  }

  stop(): void {
    this.#running = false;
    clearTimeout(this.#waiting);
  }

  #restore({ id, expression, time_zone }: v.InferOutput<typeof TimerRow>): void {
    try {
      const cron = timerCron(expression, time_zone);
      this.#set.set(id, { cron, next: cron.next(this.#ports.now()) });
    } catch (error) {
      // One that cannot be read must not stop the others; the reconciler fires its schedule.
      logLine("error", "a timer cannot be restored", { schedule_id: id, error });
    }
  }

  #wait(): void {
    clearTimeout(this.#waiting);
    if (!this.#running) return;
    const times = [...this.#set.values()].flatMap(({ next }) => (next === undefined ? [] : [next]));
    if (times.length === 0) return;
    const first = times.reduce((a, b) => Math.min(a, b));
    const wait = Math.min(Math.max(first - this.#ports.now(), 0), MAX_WAIT_MS);
    this.#waiting = setTimeout(() => this.#inOwnContext(() => this.#goOff()), wait);
  }

  /** Sends the messages of the timers that are due. After a long sleep each goes off once, for the time it was set to. */
  #goOff(): void {
    const now = this.#ports.now();
    for (const [id, { cron, next }] of this.#set) {
      if (next === undefined || next > now) continue;
      this.#set.set(id, { cron, next: cron.next(now) });
      this.#ports.send(id, next).catch((error: unknown) => {
        logLine("error", "a timer could not send its message", { schedule_id: id, error });
      });
    }
    this.#wait();
  }
}
