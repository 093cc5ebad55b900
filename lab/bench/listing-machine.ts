import { stat } from "node:fs/promises";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { firstFreePort } from "../../server/host/ports.ts";
import { dim, seconds } from "../../server/host/terminal.ts";
import { localUrl, startServer } from "../../server/server.ts";
import { setLogOutput } from "../../shared/log/log.ts";
import type { Table } from "../../shared/table/table.ts";
import { bootstrap } from "../../shared/teams/bootstrap.ts";
import { fillTable } from "./fill-table.ts";
import type { ListedRun } from "./listed-run.ts";
import { type Case, casesFor } from "./listing-cases.ts";
import { ACTIVE_RUNS, runNumber, type Team } from "./listing-data.ts";
import { withDirectory } from "./temporary-directory.ts";

const PAGE = 20;
const START = Date.parse("2026-05-18T00:00:00.000Z");
const EVERY_MS = 60_000;
/** Reads of a case; the first ones load code and pages of the database. */
const READS = 15;
const WARM_UP = 3;
/** A case that takes longer is read fewer times. */
const MAX_CASE_MS = 5_000;
const RETRY_MS = 300;
const MEGABYTE = 1024 * 1024;

/** What a page took, in milliseconds of processor time, which other processes of the machine do not change. */
interface MachineReading {
  readonly runs: number;
  readonly median: number;
  /** The longest part of it in which the process could do nothing else. */
  readonly blocked: number;
  /** The longest of the requests for one resource that were sent meanwhile, in milliseconds. */
  readonly other: number;
}

interface MachineRow {
  readonly name: string;
  readonly readings: readonly MachineReading[];
}

interface MachineFigures {
  readonly rows: readonly MachineRow[];
  /** Bytes of the database for each run, at the largest size. */
  readonly bytesPerRun: number;
}

interface Caller {
  readonly baseUrl: string;
  readonly key: string;
}

/** Measures pages of GET /agent/runs over HTTP on a service in this process, at each number of runs. */
export function measureMachine(sizes: readonly number[]): Promise<MachineFigures> {
  setLogOutput(() => undefined);
  return withDirectory("runyard-listing-", async (directory) => {
    const port = await firstFreePort(4_900);
    const webUrl = localUrl("127.0.0.1", port);
    const server = await startServer({
      ...{ directory, host: "127.0.0.1", port, webUrl, concurrency: 1 },
      environment: {},
      print: () => undefined,
    });
    try {
      const {
        api_key: key,
        team_uid,
        user_uid,
      } = await bootstrap(server.ports.table, Date.now(), {
        teamName: "Listing",
        displayName: "Caller",
        email: "caller@example.com",
      });
      const team = { teamUid: team_uid, userUid: user_uid, start: START, every: EVERY_MS };
      const caller = { baseUrl: `${webUrl}/api/v1`, key };
      return await measureSizes(sizes, { table: server.ports.table, team, caller, directory });
    } finally {
      await server.stop();
    }
  });
}

interface Subject {
  readonly table: Table;
  readonly team: Team;
  readonly caller: Caller;
  readonly directory: string;
}

async function measureSizes(sizes: readonly number[], subject: Subject): Promise<MachineFigures> {
  const { table, team, caller, directory } = subject;
  const readings = new Map<string, MachineReading[]>();
  const empty = await databaseBytes(directory);
  let there = 0;
  for (const size of sizes) {
    const began = performance.now();
    await fillTable(table, runsOf(team, there, size));
    there = size;
    console.error(dim(`${size} runs are there after ${seconds(performance.now() - began)}`));
    for (const one of casesFor(team, size)) {
      const reading = await readCase(caller, one);
      readings.set(one.name, [...(readings.get(one.name) ?? []), reading]);
    }
  }
  const bytesPerRun = Math.round(((await databaseBytes(directory)) - empty) / there);
  return { rows: [...readings].map(([name, all]) => ({ name, readings: all })), bytesPerRun };
}

/** Those that were the latest of the smaller size have ended in the larger one. */
function* runsOf(team: Team, from: number, to: number): Iterable<ListedRun> {
  for (let number = Math.max(0, from - ACTIVE_RUNS); number < to; number++) yield runNumber(number, to, team);
}

async function readCase(caller: Caller, one: Case): Promise<MachineReading> {
  const cursor = await fetchCursor(caller, one);
  const times: number[] = [];
  let runs = 0;
  const began = performance.now();
  for (let read = 0; read < READS + WARM_UP; read++) {
    const at = processorMs();
    runs = countRuns(await page(caller, one, cursor));
    if (read >= WARM_UP) times.push(processorMs() - at);
    if (performance.now() - began > MAX_CASE_MS && times.length > 0) break;
  }
  const sorted = times.toSorted((a, b) => a - b);
  const blocked = await longestTurn(() => page(caller, one, cursor));
  const other = await longestOther(caller, () => page(caller, one, cursor));
  return { runs, median: sorted[Math.floor(sorted.length / 2)] ?? Number.NaN, blocked, other };
}

/** The longest request for the caller's own profile, one after the other, during some work. */
async function longestOther({ baseUrl, key }: Caller, work: () => Promise<unknown>): Promise<number> {
  let longest = 0;
  let isOver = false;
  const ended = work().finally(() => {
    isOver = true;
  });
  while (!isOver) {
    const began = performance.now();
    const response = await fetch(`${baseUrl}/agent/me`, { headers: { authorization: `Bearer ${key}` } });
    await response.arrayBuffer();
    longest = Math.max(longest, performance.now() - began);
  }
  await ended;
  return longest;
}

function processorMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** The processor time of the longest turn of the event loop during some work. */
async function longestTurn(work: () => Promise<unknown>): Promise<number> {
  let longest = 0;
  let isOver = false;
  let last = processorMs();
  const turn = () => {
    const now = processorMs();
    longest = Math.max(longest, now - last);
    last = now;
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);
  await work();
  isOver = true;
  return longest;
}

/** The cursor of the page to measure. */
async function fetchCursor(caller: Caller, one: Case): Promise<string> {
  let cursor = "";
  for (let number = 1; number < (one.page ?? 1); number++) {
    cursor = `&cursor=${/"next_cursor":"([^"]+)"/.exec(await page(caller, one, cursor))?.[1] ?? ""}`;
  }
  return cursor;
}

const countRuns = (text: string): number => text.match(/"task_id":/g)?.length ?? 0;

async function page({ baseUrl, key }: Caller, { name, query }: Case, cursor: string): Promise<string> {
  const response = await fetch(`${baseUrl}/agent/runs?limit=${PAGE}&${query}${cursor}`, {
    headers: { authorization: `Bearer ${key}` },
  });
  const text = await response.text();
  if (response.status === 503) {
    // Other processes keep this one waiting, so that the service takes itself for overloaded.
    await pause(RETRY_MS);
    return page({ baseUrl, key }, { name, query }, cursor);
  }
  // A list that found nothing within its time limit is refused, with the filter that would narrow it.
  if (response.status !== 200 && response.status !== 400) throw new Error(`${query}: ${response.status} ${text}`);
  return text;
}

/** What the write-ahead log holds is in the database sooner or later. */
async function databaseBytes(directory: string): Promise<number> {
  const sizes = await Promise.all(
    ["runyard.db", "runyard.db-wal"].map((name) =>
      stat(path.join(directory, name)).then(
        (found) => found.size,
        () => 0,
      ),
    ),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** Renders the figures as a table in Markdown, with how many times as long the largest size takes. */
export function renderMachine({ rows, bytesPerRun }: MachineFigures, sizes: readonly number[]): string {
  const names = sizes.map((size) => size.toLocaleString("en"));
  const cells = (values: readonly number[], digits: number) =>
    values.map((value) => value.toLocaleString("en", { maximumFractionDigits: digits })).join(" · ");
  const lines = rows.map(({ name, readings }) => {
    const medians = readings.map(({ median }) => median);
    const ratio = (medians.at(-1) ?? 0) / (medians[0] ?? 1);
    const runs = readings.map((reading) => reading.runs);
    const blocked = readings.map((reading) => reading.blocked);
    const others = readings.map((reading) => reading.other);
    const columns = [name, cells(runs, 0), cells(medians, 1), ratio.toFixed(2), cells(blocked, 0), cells(others, 0)];
    return `| ${columns.join(" | ")} |`;
  });
  return [
    `Each cell has the figures at ${names.join(" · ")} runs. ${bytesPerRun.toLocaleString("en")} bytes of the database for each run`,
    `(${Math.round((bytesPerRun * (sizes.at(-1) ?? 0)) / MEGABYTE).toLocaleString("en")} MB).`,
    "",
    "| list | runs shown | processor time, ms | ratio | longest turn of the event loop, ms | longest GET meanwhile, ms |",
    "|---|---:|---:|---:|---:|---:|",
    ...lines,
  ].join("\n");
}
