import { randomBytes } from "node:crypto";
import * as v from "valibot";
import { readJson, writeJson } from "../server/host/files.ts";
import { ACCOUNT, REGION } from "./account.ts";
import { type TimerCron, timerCron } from "./timer-cron.ts";

const MINUTE = 60_000;
/** Attempts to send a message, one second apart. */
const SENDINGS = 5;

/** A timer as AWS's API takes it, as far as the local cloud knows it. */
export const TimerInput = v.looseObject({
  GroupName: v.optional(v.string(), "default"),
  ScheduleExpression: v.string(),
  ScheduleExpressionTimezone: v.optional(v.string(), "UTC"),
  State: v.optional(v.picklist(["ENABLED", "DISABLED"]), "ENABLED"),
  FlexibleTimeWindow: v.object({ Mode: v.literal("OFF") }),
  Target: v.looseObject({
    Arn: v.pipe(v.string(), v.regex(/^arn:aws:lambda:[\w-]+:\d{12}:function:[\w-]+$/, "must be the ARN of a function")),
    RoleArn: v.pipe(v.string(), v.regex(/^arn:aws:iam::\d{12}:role\/.+$/, "must be the ARN of a role")),
    Input: v.pipe(v.string(), v.nonEmpty()),
  }),
});
const StoredTimer = v.object({ ...TimerInput.entries, Name: v.string(), Arn: v.string(), CreationDate: v.number() });
export type StoredTimer = v.InferOutput<typeof StoredTimer>;

/** How a function is invoked, with its event as JSON. */
export type Send = (functionName: string, event: string) => Promise<void>;

/**
 * The timers of schedules, on disk at each change: the emulator's own know no time zones, and one that they cannot read
 * stops all others. They fire at the beginning of each minute while the cloud is running; the service makes up for the
 * firings that a stopped cloud has missed.
 */
export class Timers {
  readonly #file: string;
  readonly #timers = new Map<string, StoredTimer>();
  readonly #crons = new Map<string, TimerCron>();
  #writing: Promise<void> = Promise.resolve();
  #ticking: NodeJS.Timeout | undefined;

  private constructor(file: string) {
    this.#file = file;
  }

  static async open(file: string): Promise<Timers> {
    const timers = new Timers(file);
    for (const timer of (await readJson(file, v.array(StoredTimer))) ?? []) timers.#set(timer);
    return timers;
  }

  get(group: string, name: string): StoredTimer | undefined {
    return this.#timers.get(toKey(group, name));
  }

  /** Sets a timer; throws an error if its expression or time zone is wrong. */
  async put(name: string, input: v.InferOutput<typeof TimerInput>): Promise<StoredTimer> {
    const group = input.GroupName;
    const before = this.get(group, name);
    const Arn = `arn:aws:scheduler:${REGION}:${ACCOUNT}:schedule/${group}/${name}`;
    const timer = { ...input, Name: name, Arn, CreationDate: before?.CreationDate ?? Math.floor(Date.now() / 1000) };
    this.#set(timer);
    await this.#save();
    return timer;
  }

  async remove(group: string, name: string): Promise<void> {
    this.#timers.delete(toKey(group, name));
    this.#crons.delete(toKey(group, name));
    await this.#save();
  }

  /** Starts the timers, which fire from the next minute on. */
  begin(send: Send, after = 0): void {
    // A clock timer that fires a moment too early must not fire twice.
    const next = Math.max(Math.floor(Date.now() / MINUTE + 1) * MINUTE, after + MINUTE);
    this.#ticking = setTimeout(() => {
      void this.goOff(next, send);
      this.begin(send, next);
    }, next - Date.now());
    this.#ticking.unref();
  }

  async end(): Promise<void> {
    clearTimeout(this.#ticking);
    await this.#writing;
  }

  /** Sends the messages of all timers that are due at the minute. */
  async goOff(minute: number, send: Send): Promise<void> {
    const due = [...this.#timers].filter(
      ([key, timer]) => timer.State === "ENABLED" && this.#crons.get(key)?.isDue(minute),
    );
    await Promise.all(due.map(([, timer]) => deliver(timer, minute, send)));
  }

  #set(timer: StoredTimer): void {
    const key = toKey(timer.GroupName, timer.Name);
    this.#crons.set(key, timerCron(timer.ScheduleExpression, timer.ScheduleExpressionTimezone));
    this.#timers.set(key, timer);
  }

  /** One write after the other, each with all that has changed by then. */
  #save(): Promise<void> {
    this.#writing = this.#writing.then(() => writeJson(this.#file, [...this.#timers.values()]));
    return this.#writing;
  }
}

const toKey = (group: string, name: string): string => `${group}/${name}`;

async function deliver(timer: StoredTimer, minute: number, send: Send): Promise<void> {
  const functionName = timer.Target.Arn.split(":").at(-1) ?? "";
  for (let attempt = 1; attempt <= SENDINGS; attempt++) {
    try {
      await send(functionName, filled(timer, minute, attempt));
      return;
    } catch (error) {
      if (attempt === SENDINGS) console.error(`The timer ${timer.Name} could not send its message: ${error}`);
      else await new Promise((resolve) => setTimeout(resolve, 1_000));
    }
  }
}

/** The message with what AWS puts in the place of its keywords. */
function filled({ Arn, Target }: StoredTimer, minute: number, attempt: number): string {
  const keywords: Readonly<Record<string, string>> = {
    "schedule-arn": Arn,
    "scheduled-time": new Date(minute).toISOString().replace(".000Z", "Z"),
    "execution-id": randomBytes(8).toString("hex"),
    "attempt-number": String(attempt),
  };
  return Target.Input.replace(/<aws\.scheduler\.([a-z-]+)>/g, (whole, name: string) => keywords[name] ?? whole);
}
