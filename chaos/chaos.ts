import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import * as v from "valibot";
import { type BenchCloud, startCloud } from "../bench/cloud.ts";
import { load, machineOf } from "../bench/machine.ts";
import { readJson, writeJson } from "../host/files.ts";
import { projectRoot, shown } from "../host/paths.ts";
import { ProcessMark } from "../host/processes.ts";
import { dim, Problem, red, seconds } from "../host/terminal.ts";
import { check } from "./checker.ts";
import { type Callers, startCallers } from "./clients.ts";
import { type Evidence, readThrough, Store } from "./evidence.ts";
import { countInjectedFaults } from "./injected.ts";
import { generateStrikes, generateTasks } from "./plan.ts";
import { print, type Report } from "./report.ts";
import { storedRuns, type Violation } from "./run-checks.ts";
import { type Hit, Targets } from "./targets.ts";

const HELP = `Usage: npm run chaos -- [options]

Starts its own local cloud, creates runs in it, and kills processes meanwhile (kill -9): dispatcher, endpoints, reaper, sandbox,
harnesses and commands. Afterwards, a checker reads everything that is stored. The exit code is 0 if no guarantee of
docs/reliability.md was broken. Ctrl-C ends the test early and checks the runs that were created until then; a second Ctrl-C exits
immediately.

  --runs N     number of runs to create, not counting their children (default 300)
  --seed N     seed that determines the kills and the runs (default: random, printed)
  --callers N  concurrent callers (default 30)
  --faults     also inject faults into 5 % of the calls to AWS: throttled, refused, delayed, stale index, lost response, or
               delivered twice, as determined by the seed
  --no-kills   kill nothing
  --json       print one JSON object instead of a table
  --help       show this text`;

/** How long runs may take to end after the last kill; a run that has not ended by then counts as lost. */
const REST_MS = 900_000;
const PROGRESS_MS = 10_000;
/** Maximum number of kills per accepted run: on a busy machine, everything would be killed before it made progress. */
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
  if (process.platform !== "linux") throw new Problem("Chaos tests need Linux, which lists the processes to kill.");
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
  if (processes === undefined) throw new Problem("The local cloud does not list its processes.");
  const targets = new Targets(processes.scratch, processes.emulator.pid);
  const store = new Store(cloud.emulator);
  const earlier = new Set(storedRuns(await store.items()).map(({ runId }) => runId));
  const giveUp = new AbortController();
  const began = Date.now();
  const callers = startCallers({
    api: cloud.api,
    tasks: generateTasks(seed, runs),
    seed,
    atOnce,
    signal: giveUp.signal,
  });
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
  const { accepted } = callers;
  const told = await readThrough(
    cloud.api,
    accepted.map(({ runId }) => runId),
  );
  const evidence = {
    accepted,
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
    runs: accepted.length,
    callers: atOnce,
    machine: machineOf(before),
    retries: callers.retries(),
    hits,
    ...(options.faults ? { faults: await countInjectedFaults(cloud.emulator) } : {}),
    loadMs: lastKillAt - began,
    endedMs: endedAt - lastKillAt,
    ...(rested ? { restMs: restedAt - lastKillAt } : {}),
    findings,
  };
}

/** Saves everything known about the runs with a broken guarantee, since the cloud is about to be removed. */
async function keep(evidence: Evidence, violations: readonly Violation[], seed: number): Promise<void> {
  const file = path.join(projectRoot, ".runyard", `chaos-${seed}.json`);
  const concerned = (text: string): boolean =>
    violations.some(({ about }) => text.includes(about) || about.includes(text));
  const items = evidence.items.filter(({ pk }) => concerned(pk));
  const accepted = evidence.accepted.filter(({ runId }) => concerned(runId));
  await writeJson(file, { violations, accepted, hits: evidence.hits, items });
  tell(`evidence saved in ${shown(file)}`);
}

/** Kills processes until every request was sent; runs that are active then have to end by themselves. */
async function kill(targets: Targets, seed: number, callers: Callers, hits: Hit[]): Promise<number> {
  const stop = new AbortController();
  const submitted = callers.submitted.then(() => stop.abort());
  const under: Promise<void>[] = [];
  let lastKillAt = Date.now();
  for (const strike of generateStrikes(seed)) {
    do {
      await pause(strike.afterMs, undefined, { signal: stop.signal }).catch(() => undefined);
    } while (!stop.signal.aborted && strike.number > callers.accepted.length * KILLS_PER_RUN);
    if (stop.signal.aborted) break;
    // A strike may have to wait for the reaper; others continue meanwhile.
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
    const { accepted } = callers;
    const ended = accepted.filter((one) => one.ended).length;
    tell(`${accepted.length} runs accepted of ${runs} and their children, ${ended} ended, ${hits.length} kills`);
  }, PROGRESS_MS);
  try {
    return { hits, lastKillAt: await work(hits) };
  } finally {
    clearInterval(timer);
  }
}

/** Progress goes to standard error, away from the report. */
const tell = (text: string): void => console.error(dim(text));

/** The first signal calls `early`; the second one exits immediately. */
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
