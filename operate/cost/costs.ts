import * as v from "valibot";
import { type Deployed, functionOf } from "./deployed.ts";
import { type BillLine, toBill } from "./price-table.ts";

const Count = v.pipe(v.number(), v.minValue(0));
/** Calls that a test counts on a control plane in memory, by DynamoDB's published rules. */
export const CountedCalls = v.object({
  /** A pass of the reaper, one of the reconciler and one of the attempts of webhooks, with nothing to do. */
  idleMinute: v.object({ reads: Count, writes: Count }),
  /** A run of ten minutes. */
  run: v.object({
    minutes: Count,
    modelCalls: Count,
    /** Requests of the HTTP API, and those of them whose function logs nothing. */
    httpRequests: Count,
    quietRequests: Count,
    /** Messages of the queues. */
    messages: Count,
    puts: Count,
    reads: Count,
    writes: Count,
  }),
});
export type CountedCalls = v.InferOutput<typeof CountedCalls>;

/** What is not counted, because only AWS shows it. */
const ASSUMPTIONS = {
  /** Lambda polls a queue that is empty with five connections, each for 20 seconds. */
  pollsPerMinute: 15,
  /** Seconds of an invocation that waits for DynamoDB. */
  invocationSeconds: 0.03,
  /** Seconds of a pass with nothing to do. */
  passSeconds: 0.1,
  /** GB of logs of an invocation, the lines of Lambda included. */
  logGb: 1.5 / 1024 ** 2,
  /** GB of the compressed sandbox image. */
  imageGb: 1.5,
  /** Seconds of each model call. The gateway is busy as long. */
  modelCallSeconds: 15,
  /** Seconds of a minute for which the reaper stays awake while a run is in progress. */
  reaperSeconds: 30.2,
} as const;

const HOURS = 730;
const MINUTES = HOURS * 60;

/** The bill of a month in which nothing happens. */
export function idleMonth(deployed: Deployed, { idleMinute }: CountedCalls): BillLine[] {
  const { mappings, alarms, minutely, hourly } = deployed;
  const functions = minutely.map((name) => functionOf(deployed, name));
  const memoryGb = functions.reduce((sum, one) => sum + one.memoryGb, 0);
  const invocations = minutely.length * MINUTES + hourly.length * HOURS;
  const images = [...deployed.functions.values()].some(({ isImage }) => isImage) ? 1 : 0;
  return toBill([
    [`polls of ${mappings} queues`, "queueRequests", mappings * ASSUMPTIONS.pollsPerMinute * MINUTES],
    ["looks into the dead letters of runs", "queueRequests", MINUTES],
    [`${minutely.length} functions each minute, ${hourly.length} each hour`, "invocations", invocations],
    ["… their time", "gbSeconds", memoryGb * ASSUMPTIONS.passSeconds * MINUTES],
    ["… their traces", "traces", functions.filter(({ isTraced }) => isTraced).length * MINUTES],
    ["… their reads", "readUnits", idleMinute.reads * MINUTES],
    ["… their writes", "writeUnits", idleMinute.writes * MINUTES],
    ["… their logs", "logGb", invocations * ASSUMPTIONS.logGb],
    ["alarms", "alarms", alarms],
    ["dashboards", "dashboards", deployed.dashboards],
    ["KMS keys of secrets", "kmsKeys", deployed.kmsKeys],
    ["the sandbox image", "imageGb", images * ASSUMPTIONS.imageGb],
  ]);
}

/** The bill of a run, the only one at its time, in a Lambda sandbox. Tokens are not in it. */
export function oneRun(deployed: Deployed, { run }: CountedCalls): BillLine[] {
  const sandbox = functionOf(deployed, "runyard-run-sandbox");
  const gateway = functionOf(deployed, "runyard-call-model");
  const reaper = functionOf(deployed, "runyard-reap-runs");
  const seconds = run.minutes * 60;
  const calls = run.httpRequests + run.messages;
  return toBill([
    ["the sandbox", "gbSeconds", sandbox.memoryGb * seconds],
    ["… its disk", "diskGbSeconds", sandbox.diskGb * seconds],
    [`${run.modelCalls} model calls`, "gbSeconds", gateway.memoryGb * run.modelCalls * ASSUMPTIONS.modelCallSeconds],
    ["the reaper", "gbSeconds", reaper.memoryGb * run.minutes * ASSUMPTIONS.reaperSeconds],
    ["requests of the API", "httpRequests", run.httpRequests],
    ["functions of the API and of queues", "invocations", calls + run.modelCalls],
    ["… their time", "gbSeconds", calls * 0.5 * ASSUMPTIONS.invocationSeconds],
    ["… their logs", "logGb", (calls + run.modelCalls - run.quietRequests) * ASSUMPTIONS.logGb],
    ["messages of queues", "queueRequests", 3 * run.messages],
    ["… their message groups", "fairQueueRequests", 3 * run.messages],
    ["reads of the table", "readUnits", run.reads],
    ["writes of the table", "writeUnits", run.writes],
    ["files", "puts", run.puts],
  ]);
}
