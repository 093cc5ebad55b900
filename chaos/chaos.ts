import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import * as v from "valibot";
import { type BenchCloud, startCloud } from "../bench/cloud.ts";
import { load, machineOf } from "../bench/machine.ts";
import { readJson, writeJson } from "../local/files.ts";
import { projectRoot, shown } from "../local/paths.ts";
import { ProcessMark } from "../local/processes.ts";
import { dim, Problem, red, seconds } from "../local/terminal.ts";
import { check } from "./checker.ts";
import { type Callers, startCallers } from "./clients.ts";
import { type Evidence, readThrough, Store } from "./evidence.ts";
import { injectedFaults } from "./injected.ts";
import { strikesOf, tasksOf } from "./plan.ts";
import { print, type Report } from "./report.ts";
import { storedRuns, type Violation } from "./run-checks.ts";
import { type Hit, Targets } from "./targets.ts";

const HELP = `Usage: npm run chaos -- [options]

Starts a local cloud of its own, has callers ask it for runs, and kills its processes meanwhile (kill -9): those of dispatcher,
endpoints, reaper and sandbox, harnesses and commands. Then a checker reads all that is left. The exit code is 0 where no
promise was broken. docs/reliability.md says what is promised. Ctrl-C ends it early: what was asked for until then is checked;
once more, and it leaves at once.

  --runs N     runs that callers ask for (default 300), besides their children
  --seed N     which kills and which runs (default: a new one, printed)
  --callers N  callers at a time (default 30)
  --faults     besides, 5 of 100 calls of AWS are throttled, refused, late, answered by an index that lags behind, lost on their
               way back, or done twice, as the seed says
  --no-kills   kill nothing
  --json       print one JSON object instead of a table
  --help       show this text`;

/** How long runs may take to come to rest after the last kill; what has not ended then counts as lost. */
const REST_MS = 900_000;
const PROGRESS_MS = 10_000;
/** At most so many kills for each run that was accepted: on a machine that is busy with other things all would be killed before it got anywhere. */
const KILLS_PER_RUN = 0.75;

interface Options {
  readonly runs: number;
  readonly seed: number;
  readonly callers: number;
  readonly faults: boolean;
  readonly kills: boolean;
  readonly json: boolean;
}

async function main(args: string[]): Promise<number> {
  const options = parseOptions(args);
  if (typeof options === "string") {
    console.error(options);
    return options === HELP ? 0 : 2;
  }
  try {
    const report = await chaos(options);
    if (options.json) console.log(JSON.stringify(report, null, 2));
    else print(report);
    return report.findings.violations.length === 0 ? 0 : 1;
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    console.error(red(error.message));
    for (const detail of error.details) console.error(`  ${detail}`);
    return 1;
  }
}

async function chaos(options: Options): Promise<Report> {
  if (process.platform !== "linux") throw new Problem("Only Linux tells which processes there are to kill.");
  tell(`seed ${options.seed}`);
  const cloud = await startCloud(options.faults ? ["--faults", String(options.seed)] : []);
  try {
    return await disturb(cloud, options);
  } finally {
    await cloud.stop();
  }
}

const Processes = v.object({ emulator: ProcessMark, scratch: v.string() });

async function disturb(cloud: BenchCloud, options: Options): Promise<Report> {
  const { runs, seed, callers: atOnce } = options;
  const before = load();
  const processes = await readJson(path.join(cloud.home, "pids.json"), Processes);
  if (processes === undefined) throw new Problem("The local cloud does not say which its processes are.");
  const targets = new Targets(processes.scratch, processes.emulator.pid);
  const store = new Store(cloud.emulator);
  const earlier = new Set(storedRuns(await store.items()).map(({ runId }) => runId));
  const giveUp = new AbortController();
  const began = Date.now();
  const callers = startCallers({ api: cloud.api, tasks: tasksOf(seed, runs), seed, atOnce, signal: giveUp.signal });
  const release = onSignals(cloud, callers.stop);
  const { hits, lastKillAt } = await withProgress(callers, runs, (hits) =>
    options.kills ? kill(targets, seed, callers, hits) : callers.submitted.then(() => Date.now()),
  );
  const deadline = lastKillAt + REST_MS;
  const timer = setTimeout(() => giveUp.abort(), Math.max(0, deadline - Date.now()));
  await callers.done;
  clearTimeout(timer);
  const endedAt = Date.now();
  const rested = await store.rest(deadline);
  const restedAt = Date.now();
  tell(`at rest ${seconds(restedAt - lastKillAt)} after the last kill`);
  const { asked } = callers;
  const told = await readThrough(
    cloud.api,
    asked.map(({ runId }) => runId),
  );
  const evidence = {
    asked,
    items: await store.items(),
    before: earlier,
    objects: await store.objects(),
    told,
    hits,
    lastKillAt,
    processes: await targets.leftovers(),
  };
  store.close();
  release();
  const findings = check(evidence, seed);
  if (findings.violations.length > 0) await keep(evidence, findings.violations, seed);
  return {
    seed,
    runs: asked.length,
    callers: atOnce,
    machine: machineOf(before),
    retries: callers.retries(),
    hits,
    ...(options.faults ? { faults: await injectedFaults(cloud.emulator) } : {}),
    loadMs: lastKillAt - began,
    endedMs: endedAt - lastKillAt,
    ...(rested ? { restMs: restedAt - lastKillAt } : {}),
    findings,
  };
}

/** Keeps what is known of the runs of which a promise was broken: the cloud is gone in a moment. */
async function keep(evidence: Evidence, violations: readonly Violation[], seed: number): Promise<void> {
  const file = path.join(projectRoot, ".runyard", `chaos-${seed}.json`);
  const concerned = (text: string): boolean =>
    violations.some(({ about }) => text.includes(about) || about.includes(text));
  const items = evidence.items.filter(({ pk }) => concerned(pk));
  const asked = evidence.asked.filter(({ runId }) => concerned(runId));
  await writeJson(file, { violations, asked, hits: evidence.hits, items });
  tell(`what is known of it is in ${shown(file)}`);
}

/** Kills until every request was sent: what is under way then has to come to its end by itself. */
async function kill(targets: Targets, seed: number, callers: Callers, hits: Hit[]): Promise<number> {
  const stop = new AbortController();
  const submitted = callers.submitted.then(() => stop.abort());
  const under: Promise<void>[] = [];
  let lastKillAt = Date.now();
  for (const strike of strikesOf(seed)) {
    do {
      await pause(strike.afterMs, undefined, { signal: stop.signal }).catch(() => undefined);
    } while (!stop.signal.aborted && strike.number > callers.asked.length * KILLS_PER_RUN);
    if (stop.signal.aborted) break;
    // The reaper may have to be waited for; the others go on meanwhile.
    under.push(
      targets.strike(strike, stop.signal).then((hit) => {
        if (hit === undefined) return;
        hits.push(hit);
        lastKillAt = Math.max(lastKillAt, hit.at);
      }),
    );
  }
  await Promise.all(under);
  await submitted;
  return lastKillAt;
}

async function withProgress(
  callers: Callers,
  runs: number,
  work: (hits: Hit[]) => Promise<number>,
): Promise<{ hits: readonly Hit[]; lastKillAt: number }> {
  const hits: Hit[] = [];
  const timer = setInterval(() => {
    const { asked } = callers;
    const ended = asked.filter((one) => one.ended).length;
    tell(`${asked.length} runs accepted of ${runs} and their children, ${ended} ended, ${hits.length} kills`);
  }, PROGRESS_MS);
  try {
    return { hits, lastKillAt: await work(hits) };
  } finally {
    clearInterval(timer);
  }
}

/** Progress, where it is in nobody's way. */
const tell = (text: string): void => console.error(dim(text));

/** The first signal calls `early`, where there is somebody to tell; the next one leaves at once. */
function onSignals(cloud: BenchCloud, early: () => void): () => void {
  let told = false;
  const stop = (): void => {
    if (told) void cloud.stop().finally(() => process.exit(130));
    told = true;
    early();
  };
  process.on("SIGINT", stop);
  process.on("SIGTERM", stop);
  return () => {
    process.off("SIGINT", stop);
    process.off("SIGTERM", stop);
  };
}

function parseOptions(args: string[]): Options | string {
  const flag = { type: "boolean", default: false } as const;
  const text = { type: "string" } as const;
  try {
    const { values } = parseArgs({
      args,
      options: { runs: text, seed: text, callers: text, faults: flag, "no-kills": flag, json: flag, help: flag },
    });
    if (values.help) return HELP;
    const runs = Number(values.runs ?? 300);
    const seed = Number(values.seed ?? Math.floor(Math.random() * 1_000_000));
    const callers = Number(values.callers ?? 30);
    if (!Number.isInteger(runs) || runs < 1) return "--runs takes a number from 1";
    if (!Number.isInteger(seed) || seed < 0) return "--seed takes a number from 0";
    if (!Number.isInteger(callers) || callers < 1) return "--callers takes a number from 1";
    return { runs, seed, callers, faults: values.faults, kills: !values["no-kills"], json: values.json };
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

if (import.meta.main) process.exitCode = await main(process.argv.slice(2));
