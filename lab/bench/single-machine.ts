import { parseArgs } from "node:util";
import { type Api, callApi } from "../../server/host/api.ts";
import { bold, Problem, red, seconds } from "../../server/host/terminal.ts";
import { RunAgentResponse } from "../../shared/wire/runs/new-run.ts";
import { oneAtATime, untilEnded } from "./latency.ts";
import { describeMachine, load } from "./machine.ts";
import { readMemory } from "./memory.ts";
import { measureLanggraph } from "./peers/langgraph.ts";
import { measureOpenhands } from "./peers/openhands.ts";
import { runBenchmark } from "./run-benchmark.ts";
import { recordHistory } from "./single/history.ts";
import { measureOverload } from "./single/overload.ts";
import { measureReads } from "./single/reads.ts";
import { type MissingPeer, printReport, type SingleReport, toBudgets } from "./single/report.ts";
import { startServer, stateDirectory } from "./single/server.ts";
import { measureThroughput } from "./single/throughput.ts";
import { readUsage, usagePerRun } from "./single/usage.ts";

const HELP = `Usage: npm run lab -- bench [options]

Measures a single-machine server of its own against the budgets of lab/performance.md, and leaves nothing behind.

  --runs N      runs one at a time (default 20)
  --many N      runs from 16 callers (default 2000)
  --peers       measure OpenHands' agent server and langgraph dev in the same benchmark; pip installs them first
  --overload N  let 200 callers create and read runs for N seconds (default: not at all)
  --json        print one JSON object instead of tables
  --record NAME append the figures to lab/bench/history.jsonl under this name
  --help        show this text

npm run lab -- bench-emulator measures the deployment on an emulator, and what AWS bills.`;

const CALLERS = 16;
const OVERLOADING = 200;
const REQUESTS = 1_000;
const REST_MS = 2_000;
/** The budget gives the memory a minute to come back. */
const REST_AFTER_BURST_MS = 60_000;

interface Options {
  readonly runs: number;
  readonly many: number;
  readonly peers: boolean;
  readonly overload: number;
  readonly json: boolean;
  readonly record: string | undefined;
}

const main = (args: string[]): Promise<number> =>
  runBenchmark({ help: HELP, parse: parseOptions, measure: measureAndRecord, toBudgets, print: printReport }, args);

async function measureAndRecord(options: Options): Promise<SingleReport> {
  const report = await measure(options);
  if (options.record !== undefined) await recordHistory(options.record, report);
  return report;
}

async function measure({ runs, many, peers, overload }: Options): Promise<SingleReport> {
  const before = load();
  const missing: MissingPeer[] = [];
  const measurePeer = async <T>(name: string, work: () => Promise<T>): Promise<T | undefined> =>
    peers ? step(name, () => ifItStarts(name, work(), missing)) : undefined;
  const openhands = await measurePeer("OpenHands", () => measureOpenhands(runs));
  const langgraph = await measurePeer("langgraph dev", () => measureLanggraph(runs, CALLERS));
  const state = await stateDirectory();
  try {
    const first = await step("first start", () => startServer(state.path));
    await first.stop();
    const server = await step("second start", () => startServer(state.path));
    const { api, pid } = server;
    try {
      const ready = { firstMs: first.readyMs, laterMs: server.readyMs };
      // The first executions load the sources, and write the cache of compiled code.
      await step("warm up", () => measureThroughput(api, 8, 2));
      const atRest = await step("memory at rest", () => rest(REST_MS).then(() => readMemory(pid)));
      const single = await step(`${runs} runs, one at a time`, () => oneAtATime(api, runs));
      const four = await step("40 runs from 4 callers", () => measureThroughput(api, 40, 4));
      const used = await readUsage(pid);
      const sixteen = await step(`${many} runs from ${CALLERS} callers`, () => measureThroughput(api, many, CALLERS));
      const usage = usagePerRun(used, await readUsage(pid), many);
      const afterBurst = await step("memory after it", () => rest(REST_AFTER_BURST_MS).then(() => readMemory(pid)));
      const reads = await step("reads", () => measureAllReads(api));
      const overloaded =
        overload === 0 ? undefined : await step("overload", () => measureOverload(api, OVERLOADING, overload));
      return {
        machine: describeMachine(before),
        missing,
        ...{ ready, single, four, sixteen, usage, reads },
        memory: { atRest, afterBurst },
        ...(openhands === undefined ? {} : { openhands }),
        ...(langgraph === undefined ? {} : { langgraph }),
        ...(overloaded === undefined ? {} : { overload: overloaded }),
      };
    } finally {
      await server.stop();
    }
  } finally {
    await state.remove();
  }
}

/** Leaves a peer that cannot be installed or started here out of the comparison, and notes why. */
async function ifItStarts<T>(name: string, peer: Promise<T>, missing: MissingPeer[]): Promise<T | undefined> {
  try {
    return await peer;
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    console.error([red(`${name}: ${error.message}`), ...error.details].join("\n  "));
    missing.push({ name, reason: error.message, details: error.details });
    return undefined;
  }
}

const rest = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds));

async function measureAllReads(api: Api) {
  const { run } = await createEndedRun(api);
  const paths = { run: `/agent/runs/${run}`, list: "/agent/runs?limit=20", events: `/agent/runs/${run}/events` };
  return {
    run: await measureReads(api, paths.run, 1, REQUESTS / 2),
    runByEight: await measureReads(api, paths.run, 8, REQUESTS * 2),
    list: await measureReads(api, paths.list, 1, REQUESTS / 2),
    events: await measureReads(api, paths.events, 1, REQUESTS / 2),
  };
}

async function createEndedRun(api: Api): Promise<{ readonly run: string }> {
  const { run_id: run } = await callApi(api, "POST", "/agent/runs", RunAgentResponse, { prompt: "```sh\ndate\n```" });
  await untilEnded(api, run);
  return { run };
}

async function step<T>(name: string, work: () => Promise<T>): Promise<T> {
  const began = performance.now();
  const result = await work();
  console.error(`${bold("·")} ${name.padEnd(28)} ${seconds(performance.now() - began).padStart(8)}`);
  return result;
}

function parseOptions(args: string[]): Options | string {
  const text = { type: "string" } as const;
  const flag = { type: "boolean", default: false } as const;
  try {
    const options = {
      runs: text,
      many: text,
      overload: text,
      record: text,
      peers: flag,
      json: flag,
      help: { ...flag, short: "h" },
    };
    const { values } = parseArgs({ args, options });
    if (values.help) return HELP;
    const numbers = {
      runs: Number(values.runs ?? 20),
      many: Number(values.many ?? 2_000),
      overload: Number(values.overload ?? 0),
    };
    if (!Object.values(numbers).every(Number.isInteger)) return "--runs, --many and --overload take whole numbers";
    return { ...numbers, peers: values.peers, json: values.json, record: values.record };
  } catch (error) {
    return `${error instanceof Error ? error.message : String(error)}\n\n${HELP}`;
  }
}

if (import.meta.main) process.exitCode = await main(process.argv.slice(2));
