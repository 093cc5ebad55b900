import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { parseArgs } from "node:util";
import type { EmulatorAccess } from "../../emulator/emulator-access.ts";
import { startDynamoDbLocal } from "../../scripts/dynamodb-local.ts";
import { projectRoot } from "../../server/host/paths.ts";
import { dim, Problem, red, seconds } from "../../server/host/terminal.ts";
import { type ControlPlane, openControlPlane } from "./control-plane.ts";
import { buildItems } from "./listed-run.ts";
import { type Case, casesFor } from "./listing-cases.ts";
import { ACTIVE_RUNS, runNumber, type Team } from "./listing-data.ts";
import { bulkWriter } from "./listing-load.ts";
import { measureMachine, renderMachine } from "./listing-machine.ts";
import { describeMachine, load, type Machine } from "./machine.ts";

const HELP = `Usage: npm run lab -- bench-listing [options]

Measures on DynamoDB Local what a page of GET /agent/runs reads, at 1,000 runs and ten times as many, up to --runs.

  --runs N   the most runs (default 100000)
  --machine  measure a service on one machine instead: milliseconds of a page, and bytes of the database for each run
  --write    put the table into design/listing.md
  --help     show this text`;

const PAGE = 20;
const START = Date.parse("2026-05-18T00:00:00.000Z");
const EVERY_MS = 60_000;
const HEAP_MB = 6_144;
const DOCUMENT = path.join(projectRoot, "design/listing.md");

/** What one page used. */
interface Reading {
  readonly runs: number;
  readonly calls: number;
  readonly items: number;
  readonly units: number;
  readonly milliseconds: number;
}

interface Row {
  readonly name: string;
  readonly readings: readonly Reading[];
}

async function main(args: string[]): Promise<number> {
  const options = parseOptions(args);
  if (typeof options === "string") {
    console.error(options);
    return options === HELP ? 0 : 2;
  }
  const sizes = Array.from({ length: 9 }, (_, power) => 10 ** (power + 3)).filter((size) => size < options.runs);
  try {
    if (options.machine) {
      console.log(renderMachine(await measureMachine([...sizes, options.runs]), [...sizes, options.runs]));
      return 0;
    }
    const before = load();
    const rows = await measure([...sizes, options.runs]);
    const text = render(rows, [...sizes, options.runs], describeMachine(before));
    if (options.write) await intoDocument(text);
    else console.log(text);
    return 0;
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    console.error(red(error.message));
    return 1;
  }
}

async function measure(sizes: readonly number[]): Promise<readonly Row[]> {
  const dynamo = await startDynamoDbLocal(HEAP_MB);
  if ("missing" in dynamo) throw new Problem(`DynamoDB Local cannot be started: there is no ${dynamo.missing}.`);
  try {
    // Nothing is written that would have to be counted.
    const plane = await openControlPlane(dynamo, true);
    try {
      const team = { teamUid: plane.teamUid, userUid: await fetchCallerUid(plane), start: START, every: EVERY_MS };
      const readings = new Map<string, Reading[]>();
      let there = 0;
      for (const size of sizes) {
        const began = performance.now();
        await fill(dynamo, plane, team, { from: there, to: size });
        console.error(dim(`${size} runs are there after ${seconds(performance.now() - began)}`));
        there = size;
        for (const one of casesFor(team, size)) {
          const reading = await read(plane, one);
          readings.set(one.name, [...(readings.get(one.name) ?? []), reading]);
          console.error(dim(`${one.name}: ${JSON.stringify(reading)}`));
        }
      }
      return [...readings].map(([name, all]) => ({ name, readings: all }));
    } finally {
      await plane.close();
    }
  } finally {
    await dynamo.stop();
  }
}

/** Those that were the latest of the smaller size have ended in the larger one. */
async function fill(
  dynamo: EmulatorAccess,
  plane: ControlPlane,
  team: Team,
  { from, to }: { from: number; to: number },
): Promise<void> {
  const writer = bulkWriter(dynamo, plane.tableName);
  for (let number = Math.max(0, from - ACTIVE_RUNS); number < to; number++) {
    await writer.put(await buildItems(runNumber(number, to, team)));
  }
  await writer.end();
}

async function fetchCallerUid(plane: ControlPlane): Promise<string> {
  const { body } = await plane.call("GET", "/agent/me");
  const uid = typeof body === "object" && body !== null && "uid" in body ? body.uid : undefined;
  if (typeof uid !== "string") throw new Error("the caller has no uid");
  return uid;
}

async function read(plane: ControlPlane, { query, page = 1 }: Case): Promise<Reading> {
  let cursor = "";
  for (let number = 1; ; number++) {
    const began = performance.now();
    const { status, body, calls, items, units } = await atOnce(() =>
      plane.call("GET", `/agent/runs?limit=${PAGE}&${query}${cursor}`),
    );
    const milliseconds = performance.now() - began;
    if (status !== 200) throw new Error(`${query} returned ${status}: ${JSON.stringify(body)}`);
    const text = JSON.stringify(body);
    if (number === page) {
      const runs = text.match(/"task_id":/g)?.length ?? 0;
      const sum = units.reduce((total, one) => total + one.units, 0);
      return { runs, calls: calls.length, items, units: sum, milliseconds };
    }
    cursor = `&cursor=${/"next_cursor":"([^"]+)"/.exec(text)?.[1] ?? ""}`;
  }
}

/**
 * The service's clock stands still meanwhile, so that a slow machine does not cut the page short: a page that would
 * exceed its time limit shows in the measured time.
 */
async function atOnce<T>(work: () => Promise<T>): Promise<T> {
  const { now } = Date;
  const began = now();
  Date.now = () => began;
  try {
    return await work();
  } finally {
    Date.now = now;
  }
}

function render(rows: readonly Row[], sizes: readonly number[], machine: Machine): string {
  const { date, cpu, cores, memoryGb, node, load: loads } = machine;
  const names = sizes.map((size) => size.toLocaleString("en"));
  const cells = (readings: readonly Reading[], value: (reading: Reading) => number) =>
    readings.map((reading) => value(reading).toLocaleString("en", { maximumFractionDigits: 1 })).join(" · ");
  return [
    `Measured on ${date} on ${cores} cores of ${cpu}, ${memoryGb} GB, Node ${node}, DynamoDB Local; load average ${loads.before}`,
    `before, ${loads.after} after. Each cell has the figures at ${names.join(" · ")} runs.`,
    "",
    "| list | runs shown | AWS calls | entries and items | read units | milliseconds |",
    "|---|---:|---:|---:|---:|---:|",
    ...rows.map(({ name, readings }) =>
      [
        "",
        name,
        cells(readings, ({ runs }) => runs),
        cells(readings, ({ calls }) => calls),
        cells(readings, ({ items }) => items),
        cells(readings, ({ units }) => units),
        cells(readings, ({ milliseconds }) => Math.round(milliseconds)),
        "",
      ]
        .join(" | ")
        .trim(),
    ),
  ].join("\n");
}

const BEGIN = "<!-- npm run lab -- bench-listing --write: begin -->";
const END = "<!-- end -->";

async function intoDocument(text: string): Promise<void> {
  const document = await readFile(DOCUMENT, "utf8");
  const [begin, end] = [document.indexOf(BEGIN), document.indexOf(END)];
  if (begin < 0 || end < begin) throw new Problem("design/listing.md has no place for the table.");
  await writeFile(DOCUMENT, `${document.slice(0, begin + BEGIN.length)}\n${text}\n${document.slice(end)}`);
}

function parseOptions(args: string[]): { runs: number; machine: boolean; write: boolean } | string {
  try {
    const { values } = parseArgs({
      args,
      options: {
        runs: { type: "string", default: "100000" },
        machine: { type: "boolean", default: false },
        write: { type: "boolean", default: false },
        help: { type: "boolean", default: false, short: "h" },
      },
    });
    if (values.help) return HELP;
    const runs = Number(values.runs);
    if (!Number.isInteger(runs) || runs < 1_000 || runs > 10_000_000) return "--runs takes a whole number from 1000";
    return { runs, machine: values.machine, write: values.write };
  } catch (error) {
    return `${error instanceof Error ? error.message : String(error)}\n\n${HELP}`;
  }
}

if (import.meta.main) process.exitCode = await main(process.argv.slice(2));
