import { parseArgs } from "node:util";
import { startDynamoDbLocal } from "../../scripts/dynamodb-local.ts";
import { bold, seconds } from "../../server/host/terminal.ts";
import { measureBundles } from "./bundles.ts";
import { type BenchCloud, startCloud } from "./cloud.ts";
import { openControlPlane } from "./control-plane.ts";
import { measureCosts } from "./costs.ts";
import { atOnce, oneAtATime } from "./latency.ts";
import { describeMachine, load } from "./machine.ts";
import { readMemory } from "./memory.ts";
import { memoryUnder } from "./memory-load.ts";
import { measurePages } from "./pages.ts";
import { measureLanggraph } from "./peers/langgraph.ts";
import { listBudgets, print, type Report } from "./report.ts";
import { runBenchmark } from "./run-benchmark.ts";
import { webScriptBytes } from "./web-script.ts";

const HELP = `Usage: npm run lab -- bench-emulator [options]

Measures a local cloud of its own, against the budgets of lab/performance.md, and leaves nothing behind.

  --runs N   runs one at a time (default 20)
  --quick    fewer of everything: a look, not a measurement
  --langgraph  measure langgraph dev beside it, which pip has to install first
  --json     print one JSON object instead of tables
  --help     show this text`;

const BURST = 16;
const LOAD = 20;

interface Options {
  readonly runs: number;
  readonly quick: boolean;
  readonly json: boolean;
  readonly langgraph: boolean;
}

const main = (args: string[]): Promise<number> =>
  runBenchmark({ help: HELP, parse: parseOptions, measure, toBudgets: listBudgets, print }, args);

async function measure({ runs, quick, langgraph }: Options): Promise<Report> {
  const before = load();
  const other = langgraph ? await step("langgraph dev", () => measureLanggraph(runs, BURST)) : undefined;
  const bundles = await step("bundles", () => measureBundles(quick ? 5 : 15));
  const cloud = await step("local cloud", startCloud);
  try {
    const atRest = await readMemory(cloud.pid);
    await step("warm up", () => oneAtATime(cloud.api, 2));
    const single = await step(`${runs} runs, one at a time`, () => oneAtATime(cloud.api, runs));
    const firstBurst = await step(`${BURST} runs at once`, () => atOnce(cloud.api, BURST));
    const secondBurst = await step(`${BURST} runs at once, again`, () => atOnce(cloud.api, BURST));
    const underLoad = await step(`memory under ${LOAD} runs`, () => memoryUnder(cloud.api, cloud.pid, LOAD));
    const counted = await step("calls and units", () => count(cloud, quick ? [1_000] : [1_000, 10_000]));
    return {
      machine: describeMachine(before),
      latency: { oneAtATime: single, firstBurst, secondBurst },
      memory: {
        ...(atRest === undefined ? {} : { atRest }),
        ...(underLoad === undefined ? {} : { underLoad }),
        runsUnderLoad: LOAD,
      },
      ...(other === undefined ? {} : { other }),
      ...counted,
      bundles,
      webScriptBytes: await webScriptBytes(),
    };
  } finally {
    await cloud.stop();
  }
}

/** Calls are the same wherever they go; units are counted by DynamoDB Local if it can be had, else by the emulator. */
async function count(
  cloud: BenchCloud,
  sizes: readonly number[],
): Promise<Pick<Report, "countedBy" | "costs" | "pages">> {
  const dynamo = await startDynamoDbLocal();
  const isThere = "endpoint" in dynamo;
  const access = isThere ? dynamo : cloud.emulator;
  const countedBy = isThere
    ? `${dynamo.name}, transactions write by write`
    : `the emulator, since there is no ${dynamo.missing}; it does not tell what batches read`;
  try {
    // The emulator gets slower with each entry of an index.
    const plane = await openControlPlane(access, !isThere);
    try {
      const costs = await measureCosts(plane);
      return { countedBy, costs, pages: await measurePages(plane, costs.lastRun, isThere ? sizes : [1_000]) };
    } finally {
      await plane.close();
    }
  } finally {
    if (isThere) await dynamo.stop();
  }
}

async function step<T>(name: string, work: () => Promise<T>): Promise<T> {
  const began = performance.now();
  const result = await work();
  console.error(`${bold("·")} ${name.padEnd(28)} ${seconds(performance.now() - began).padStart(8)}`);
  return result;
}

function parseOptions(args: string[]): Options | string {
  try {
    const { values } = parseArgs({
      args,
      options: {
        runs: { type: "string" },
        quick: { type: "boolean", default: false },
        json: { type: "boolean", default: false },
        langgraph: { type: "boolean", default: false },
        help: { type: "boolean", default: false, short: "h" },
      },
    });
    if (values.help) return HELP;
    const runs = Number(values.runs ?? (values.quick ? 5 : 20));
    if (!Number.isInteger(runs) || runs < 1 || runs > 1_000) return "--runs takes a whole number from 1 to 1000";
    return { runs, quick: values.quick, json: values.json, langgraph: values.langgraph };
  } catch (error) {
    return `${error instanceof Error ? error.message : String(error)}\n\n${HELP}`;
  }
}

if (import.meta.main) process.exitCode = await main(process.argv.slice(2));
