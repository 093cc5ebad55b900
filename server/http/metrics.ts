import { collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import * as v from "valibot";
import type { Adapters } from "../ports.ts";
import { QUEUES } from "../queue/queue-names.ts";

const StateRow = v.object({ state: v.nullable(v.string()), runs: v.number() });

/** What the HTTP server counts about itself. */
export interface Metrics {
  /** The text that Prometheus scrapes, in version 0.0.4 of its format. */
  read(): Promise<string>;
  readonly contentType: string;
  /** Counts a request of the API by its route, such as `GET /agent/runs/{runId}`. */
  countRequest(route: string, status: number, seconds: number): void;
  countModelCall(status: number, seconds: number): void;
}

/** Creates the metrics of one server. Nothing is collected until it is read, except for counters and latencies. */
export function createMetrics({ database, queues }: Pick<Adapters, "database" | "queues">): Metrics {
  const register = new Registry();
  const registers = [register];
  collectDefaultMetrics({ register, eventLoopMonitoringPrecision: 50 });
  const buckets = [0.005, 0.02, 0.1, 0.5, 2, 10, 30, 120, 600];
  const requests = new Histogram({
    name: "runyard_request_seconds",
    help: "Seconds from a request of the API to the end of its response",
    labelNames: ["route", "status"],
    buckets,
    registers,
  });
  const modelCalls = new Histogram({
    name: "runyard_model_call_seconds",
    help: "Seconds from a call of the model gateway to the start of its response",
    labelNames: ["status"],
    buckets,
    registers,
  });
  const runs = new Gauge({
    name: "runyard_runs",
    help: "Stored runs by state",
    labelNames: ["state"],
    registers,
    async collect() {
      const rows = await database.read(() =>
        database.statement("SELECT state, COUNT(*) AS runs FROM listed_runs GROUP BY state").all(),
      );
      this.reset();
      for (const { state, runs: count } of v.parse(v.array(StateRow), rows)) {
        if (state !== null) this.set({ state }, count);
      }
    },
  });
  const messages = new Gauge({
    name: "runyard_queue_messages",
    help: "Messages of a queue: waiting, in_flight or dead",
    labelNames: ["queue", "kind"],
    registers,
  });
  const age = new Gauge({
    name: "runyard_queue_oldest_seconds",
    help: "Age of the oldest message of a queue",
    labelNames: ["queue"],
    registers,
    async collect() {
      this.reset();
      for (const queue of Object.values(QUEUES)) {
        const { waiting, inFlight, oldestSentAt } = await queues.depth(queue);
        const dead = await queues.deadLetters(queue);
        messages.set({ queue: queue.name, kind: "waiting" }, waiting);
        messages.set({ queue: queue.name, kind: "in_flight" }, inFlight);
        messages.set({ queue: queue.name, kind: "dead" }, dead.waiting);
        this.set({ queue: queue.name }, oldestSentAt === undefined ? 0 : (Date.now() - oldestSentAt) / 1000);
      }
    },
  });
  void [runs, age];
  return {
    read: () => register.metrics(),
    contentType: register.contentType,
    countRequest: (route, status, seconds) => requests.observe({ route, status }, seconds),
    countModelCall: (status, seconds) => modelCalls.observe({ status }, seconds),
  };
}
