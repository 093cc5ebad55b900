import type { SQSBatchResponse } from "aws-lambda";
import type { DeliveryRef } from "#shared/queue/event-queue.ts";
import { memoryTable } from "#shared/table/memory-table.ts";
import type { Item, Value } from "#shared/table/table.ts";
import { type Client, createClient } from "../support/client.ts";
import {
  createTestControlPlane,
  decideEvent,
  type ResponseBody,
  type TestControlPlane,
} from "../support/control-plane.ts";
import { consume, createHarness, type Harness } from "../support/execution.ts";
import { Faults } from "../support/faults.ts";
import { requestDueDecisions } from "../support/hooks.ts";
import { reap } from "../support/reaper.ts";
import { reconcile, timerOff } from "../support/schedules.ts";

/** The queues' visibility timeout, after which SQS delivers a message again if its consumer died. */
const VISIBILITY_MS = 180_000;
const RECEIVES = 5;
/** The time between two passes of the reaper. */
const PASS_MS = 15_000;

/** What a message is about: the id of a run, or a delivery to a trigger. */
type Subject =
  | { readonly queue: "runs" | "ends" | "runs-dead"; readonly about: string }
  | { readonly queue: "events"; readonly about: DeliveryRef };
type Message = Subject & { readonly received: number; readonly visibleAt: number };

interface Queues {
  /** How often a new message is delivered. */
  copies(): number;
  /** Milliseconds until a copy of it is visible. */
  delayMs(): number;
  /** Which of `count` messages comes next, from 0. */
  next(count: number): number;
}

/** A service in memory, with everything that retries failures: callers, queues, harnesses and the reaper. */
export class Stage {
  readonly plane: TestControlPlane;
  readonly faults: Faults;
  readonly user: Client;
  /** What the harness of each execution does; by default, it only finishes. */
  agent: (harness: Harness, stage: Stage) => Promise<void> = async (harness, stage) => {
    await stage.send("finish-task", () => harness.finish());
  };
  /** How the queues deliver messages: by default once, immediately and in order. */
  queues: Queues = { copies: () => 1, delayMs: () => 0, next: () => 0 };
  /** Executions whose harness made its first call. */
  readonly begun: string[] = [];
  readonly #messages: Message[] = [];
  #startedSeen = 0;

  private constructor(plane: TestControlPlane, faults: Faults) {
    this.plane = plane;
    this.faults = faults;
    this.user = createClient(plane);
  }

  static async set(): Promise<Stage> {
    const faults = new Faults();
    const plane = await createTestControlPlane(memoryTable(), faults.around);
    plane.events.isHeld = true;
    return new Stage(plane, faults);
  }

  /** Sends a request, and retries it, as clients do, without a response or if the response permits a retry. */
  async send(name: string, request: () => Promise<ResponseBody>): Promise<ResponseBody> {
    for (let attempt = 0; attempt < 6; attempt++) {
      const response = await this.faults.invoke(name, request);
      if (response !== undefined && response.headers["x-should-retry"] !== "true") return response;
    }
    throw new Error(`${name} never succeeded`);
  }

  /** Like `send`, but throws if the request is refused. */
  async sendOrThrow(name: string, request: () => Promise<ResponseBody>): Promise<ResponseBody> {
    const response = await this.send(name, request);
    if (response.status >= 300) throw new Error(`${name}: ${JSON.stringify(response.body)}`);
    return response;
  }

  /** Runs queues, harnesses and the reaper until nothing is left to do. */
  async settle(): Promise<void> {
    for (let idle = 0; idle < 100; ) {
      if ((await this.#deliverOne()) || (await this.#workOne())) continue;
      if (this.#isSettled()) return;
      this.plane.clock.now += PASS_MS;
      await this.faults.invoke("reap-runs", () => reap(this.plane));
      if (this.#schedules().length > 0) await this.#reconcile();
      if (this.#undecided().length > 0)
        await this.faults.invoke("decide-events", () => requestDueDecisions(this.plane));
      idle++;
    }
    throw new Error("it never settled");
  }

  /** Fires a schedule's timer, and repeats that until its message is handled. */
  async timerOff(scheduleId: string, time: string): Promise<void> {
    for (let received = 0; received < RECEIVES; received++) {
      const failed = await this.faults.invoke("fire-schedule", () => timerOff(this.plane, scheduleId, time));
      if (failed === 0) return;
      this.plane.clock.now += VISIBILITY_MS;
    }
    throw new Error("the firing was never handled");
  }

  /** Delivers the messages that are visible now. */
  async deliverAll(): Promise<void> {
    while (await this.#deliverOne());
  }

  async #deliverOne(): Promise<boolean> {
    const { plane } = this;
    const runs = plane.sent.splice(0).map(({ queue, runId }): Subject => ({ queue, about: runId }));
    const events = plane.events.requested.splice(0).map((about): Subject => ({ queue: "events", about }));
    for (const message of [...runs, ...events]) {
      const copies = this.queues.copies();
      for (let copy = 0; copy < copies; copy++) {
        this.#messages.push({ ...message, received: 0, visibleAt: plane.clock.now + this.queues.delayMs() });
      }
    }
    const visible = this.#messages.filter(({ visibleAt }) => visibleAt <= plane.clock.now);
    const message = visible[this.queues.next(visible.length)];
    if (message === undefined) return false;
    this.#messages.splice(this.#messages.indexOf(message), 1);
    const response = await this.faults.invoke<SQSBatchResponse>(message.queue, () => deliver(message, plane));
    if (response?.batchItemFailures.length === 0) return true;
    const received = message.received + 1;
    const visibleAt = plane.clock.now + VISIBILITY_MS;
    if (received < RECEIVES) this.#messages.push({ ...message, received, visibleAt });
    else if (message.queue === "runs") this.#messages.push({ ...message, queue: "runs-dead", received: 0, visibleAt });
    return true;
  }

  async #workOne(): Promise<boolean> {
    const envelope = this.plane.started[this.#startedSeen];
    if (envelope === undefined) return false;
    this.#startedSeen++;
    const harness = createHarness(this.plane, envelope);
    const { status } = await this.send("resolve-prompt", () => harness.resolve());
    if (status !== 200) return true;
    this.begun.push(envelope.execution_id);
    await this.agent(harness, this);
    return true;
  }

  #isSettled(): boolean {
    const heads = this.plane.table.all().filter(({ sk }) => sk === "HEAD");
    const areTimersSet = this.#schedules().every((schedule) => schedule["pending_since"] === null);
    const areDecided = this.#undecided().length === 0;
    return (
      this.#messages.length === 0 &&
      areTimersSet &&
      areDecided &&
      heads.every((head) => head["check_shard"] === undefined)
    );
  }

  /** Deliveries to triggers without an outcome. */
  #undecided(): readonly Item[] {
    const isDelivery = ({ pk, sk }: Item) => pk.startsWith("TRIGGER#") && sk.startsWith("DELIVERY#");
    return this.plane.table.all().filter((item) => isDelivery(item) && item["outcome"] === undefined);
  }

  #schedules(): readonly Item[] {
    return this.plane.table.all().filter(({ sk }) => sk === "SCHEDULE");
  }

  async #reconcile(): Promise<void> {
    await this.faults.invoke("reconcile-schedules", () => reconcile(this.plane));
  }

  /** See `listRemains`. */
  remains(alike: readonly (readonly [RegExp, string])[] = []): string[] {
    return listRemains(this.plane, alike);
  }

  /** The types of the timeline's events that recoveries added. */
  recoveries(): string[] {
    return this.plane.table
      .all()
      .filter(isRecovery)
      .map(({ type }) => String(type));
  }
}

/**
 * Lists the contents of the table, without values that differ between executions and without traces of a recovery. `alike` are
 * patterns that a scenario treats as equal, with their replacements.
 */
export function listRemains({ table }: TestControlPlane, alike: readonly (readonly [RegExp, string])[] = []): string[] {
  return table
    .all()
    .filter((item) => !isTrace(item))
    .map((item) => JSON.stringify(toComparable(item, "")))
    .map((line) => alike.reduce((text, [pattern, name]) => text.replace(pattern, name), line))
    .filter((line) => line !== "")
    .sort();
}

/** Formats the missing and the additional lines. */
export function formatDifference(expected: readonly string[], remains: readonly string[]): string {
  const rest = [...remains];
  const missing = expected.filter((line) => {
    const index = rest.indexOf(line);
    if (index >= 0) rest.splice(index, 1);
    return index < 0;
  });
  return [...missing.map((line) => `  - ${line}`), ...rest.map((line) => `  + ${line}`)].join("\n");
}

/** Invokes the consumer of a message. */
const deliver = (message: Message, plane: TestControlPlane): Promise<SQSBatchResponse> =>
  message.queue === "events" ? decideEvent(message.about, plane.ports) : consume(plane, message.queue, message.about);

/** State transitions that a recovery adds to a run. */
const isRecovery = ({ sk, type }: Item): boolean =>
  sk.startsWith("EVENT#") && (type === "run_queued" || type === "execution_lost");

const PENDING_AGAIN = "run_pending";
const isTrace = (item: Item): boolean =>
  isRecovery(item) || (item.sk.startsWith("EVENT#") && item["type"] === PENDING_AGAIN) || item.pk.startsWith("BUCKET#");

/** Attributes that count attempts, hold a time, or hold characters of a key that is made at random. */
const COUNTED = [
  "next_sequence",
  "turn_from",
  "executions",
  "sandbox_changes",
  "sequence",
  "transcript_events",
  "changes",
  "left",
  "ticket",
  "duration_ms",
  "run_time_ms",
  "token",
  "suffix",
  "key_suffix",
  "secret",
];

function toComparable(value: Value | undefined, name: string): unknown {
  if (COUNTED.includes(name) || /_at(_ms)?$|_key$|^check_shard$/.test(name)) return undefined;
  // The id of the run chooses the part.
  if (name === "updated_scope") return withoutIds(String(value)).replace(/#ACTIVE#\d+$/, "#ACTIVE");
  if (typeof value === "number" && value > MIN_TIME_MS) return "<time>";
  if (typeof value === "string") return withoutIds(value);
  if (typeof value !== "object" || value === null || value instanceof Uint8Array) return value;
  if (Array.isArray(value)) return value.map((entry: Value) => toComparable(entry, ""));
  const entries = Object.entries(value).map(([key, entry]) => [withoutIds(key), toComparable(entry, key)] as const);
  return Object.fromEntries(entries.filter(([, entry]) => entry !== undefined && entry !== 0).sort());
}

const MIN_TIME_MS = 1_000_000_000_000;

/** A text whose ids, hashes and padded numbers are replaced. */
const withoutIds = (text: string): string =>
  text
    .replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, "<id>")
    // The keys of files begin with the end of an id.
    .replace(/\b(runs|attachments|snapshots)\/[0-9a-f]{4}\/<id>/g, "$1/<id>")
    .replace(/\b[0-9a-f]{20,64}\b/g, "<hash>")
    .replace(/#\d{10,}/g, "#<n>");
