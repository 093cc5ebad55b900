import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { writeJson } from "../../server/host/files.ts";
import { projectRoot, toDisplayPath } from "../../server/host/paths.ts";
import { dim, Problem, red, seconds } from "../../server/host/terminal.ts";
import { describeMachine, load } from "../bench/machine.ts";
import { check } from "./checker.ts";
import { type Callers, startCallers } from "./clients.ts";
import { startDeployment } from "./deployment-stage.ts";
import { type Evidence, readThrough } from "./evidence.ts";
import { startMachine } from "./machine-stage.ts";
import { generateTasks, type Strike } from "./plan.ts";
import { print, type Report } from "./report.ts";
import { storedRuns, type Violation } from "./run-checks.ts";
import type { Stage } from "./stage.ts";
import type { Hit } from "./targets.ts";

const HELP = `Usage: npm run lab -- chaos [options]

Starts a service of its own and two self-hosted workers, creates runs, and kills processes meanwhile: the service and the workers, which
are started again, harnesses and commands, each at least once by SIGKILL, and the service, workers and harnesses by SIGTERM too, at least
once and every third time. Some runs are cancelled by force. With --emulator, it deploys to the AWS emulator and kills
the processes of functions too. Afterwards, a checker reads everything that is stored. The exit code is 0 if no guarantee of
docs/reliability.md was broken. Ctrl-C ends the test early and checks the runs that were created until then; a second Ctrl-C exits
immediately.

  --runs N     number of runs to create, not counting their children (default 300)
  --seed N     seed that determines the kills and the runs (default: random, printed)
  --callers N  concurrent callers (default 30)
  --restarts N kill nothing but the service, N times, evenly over the runs
  --no-kills   kill nothing
  --emulator   use the deployment on the AWS emulator
  --faults     with --emulator: also inject faults into 5 % of the calls to AWS: throttled, refused, delayed, stale index, lost
               response, or delivered twice, as determined by the seed
  --json       print one JSON object instead of a table
  --help       show this text`;

/** How long runs may take to end after the last kill; a run that has not ended by then counts as lost. */
const REST_MS = 900_000;
const PROGRESS_MS = 10_000;
const LOOK_MS = 50;
interface Options {
  readonly runs: number;
  readonly seed: number;
  readonly callers: number;
  readonly emulator: boolean;
  readonly faults: boolean;
  readonly kills: boolean;
  readonly restarts: number | undefined;
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
  reportProgress(`seed ${options.seed}`);
  const stage = options.emulator
    ? await startDeployment(options.faults ? options.seed : undefined)
    : await startMachine();
  try {
    return await disturb(stage, options);
  } finally {
    await stage.stop();
  }
}

async function disturb(stage: Stage, options: Options): Promise<Report> {
  const { runs, seed, callers: atOnce } = options;
  const { api, targets, store } = stage;
  const before = load();
  const earlier = new Set(storedRuns(await store.items()).map(({ runId }) => runId));
  const giveUp = new AbortController();
  const began = Date.now();
  const callers = startCallers({
    api,
    workerId: stage.workerId,
    tasks: generateTasks(seed, runs),
    seed,
    atOnce,
    signal: giveUp.signal,
  });
  const release = onSignals(stage, callers.stop);
  const { hits, lastKillAt } = await withProgress(callers, runs, (hits) =>
    killProcesses(stage, options, callers, hits),
  );
  const deadline = lastKillAt + REST_MS;
  const timer = setTimeout(() => giveUp.abort(), Math.max(0, deadline - Date.now()));
  await callers.done;
  clearTimeout(timer);
  const endedAt = Date.now();
  const rested = await store.rest(deadline);
  const restedAt = Date.now();
  reportProgress(`at rest ${seconds(restedAt - lastKillAt)} after the last kill`);
  const { accepted } = callers;
  const responses = await readThrough(
    api,
    accepted.map(({ runId }) => runId),
  );
  const faults = await stage.countFaults();
  await stage.quiesce();
  const evidence = {
    accepted,
    items: await store.items(),
    before: earlier,
    objects: await store.objects(),
    responses,
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
    machine: describeMachine(before),
    retries: callers.retries(),
    hits,
    ...(faults === undefined ? {} : { faults }),
    loadMs: lastKillAt - began,
    endedMs: endedAt - lastKillAt,
    ...(rested ? { restMs: restedAt - lastKillAt } : {}),
    findings,
  };
}

/** Saves everything known about the runs with a broken guarantee, since the service is about to be removed. */
async function keep(evidence: Evidence, violations: readonly Violation[], seed: number): Promise<void> {
  const file = path.join(projectRoot, ".runyard", `chaos-${seed}.json`);
  const concerned = (text: string): boolean =>
    violations.some(({ about }) => text.includes(about) || about.includes(text));
  const items = evidence.items.filter(({ pk }) => concerned(pk));
  const accepted = evidence.accepted.filter(({ runId }) => concerned(runId));
  await writeJson(file, { violations, accepted, hits: evidence.hits, items });
  reportProgress(`evidence saved in ${toDisplayPath(file)}`);
}

function killProcesses(stage: Stage, options: Options, callers: Callers, hits: Hit[]): Promise<number> {
  if (!options.kills) return callers.submitted.then(() => Date.now());
  const { restarts } = options;
  return restarts === undefined
    ? kill(stage, options.seed, callers, hits)
    : killService(stage, restarts, options, callers, hits);
}

/** Kills the service a number of times, evenly over what the callers see accepted and ended. Returns when the last one was. */
async function killService(
  { targets }: Stage,
  restarts: number,
  { runs }: Options,
  { accepted }: Callers,
  hits: Hit[],
): Promise<number> {
  const progress = () => accepted.length + accepted.filter(({ ended }) => ended).length;
  const signal = new AbortController().signal;
  for (let number = 1; number <= restarts; number++) {
    while (progress() < (number * 2 * runs) / (restarts + 1)) await pause(LOOK_MS);
    // Right after a kill, there may be no process yet.
    let hit: Hit | undefined;
    while (hit === undefined) {
      hit = await targets.strike({ number, afterMs: 0, kind: "service", nth: 0, delayMs: 0 }, signal);
    }
    hits.push(hit);
  }
  return hits.at(-1)?.at ?? Date.now();
}

/** Kills processes until every request was sent; runs that are active then have to end by themselves. */
async function kill(
  { targets, strikes, killsPerRun }: Stage,
  seed: number,
  callers: Callers,
  hits: Hit[],
): Promise<number> {
  const stop = new AbortController();
  const submitted = callers.submitted.then(() => stop.abort());
  const under: Promise<void>[] = [];
  /** Strikes that found no process and are repeated: nothing ran, or the strike before had just ended it. */
  const missed: Strike[] = [];
  let lastKillAt = Date.now();
  for (const planned of strikes(seed)) {
    const { kind, terminates = false } = missed.shift() ?? planned;
    const strike = { ...planned, kind, terminates };
    do {
      await pause(strike.afterMs, undefined, { signal: stop.signal }).catch(() => undefined);
    } while (!stop.signal.aborted && strike.number > callers.accepted.length * killsPerRun);
    if (stop.signal.aborted) break;
    // A kill may have to wait for the reaper; others continue meanwhile.
    under.push(
      targets.strike(strike, stop.signal).then((hit) => {
        if (hit === undefined) {
          missed.push(strike);
          return;
        }
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
    reportProgress(
      `${accepted.length} runs accepted of ${runs} and their children, ${ended} ended, ${hits.length} kills`,
    );
  }, PROGRESS_MS);
  try {
    return { hits, lastKillAt: await work(hits) };
  } finally {
    clearInterval(timer);
  }
}

/** Progress goes to standard error, away from the report. */
const reportProgress = (text: string): void => console.error(dim(text));

/** The first signal calls `early`; the second one exits immediately. */
function onSignals(stage: Stage, early: () => void): () => void {
  let interrupted = false;
  const stop = (): void => {
    if (interrupted) void stage.stop().finally(() => process.exit(130));
    interrupted = true;
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
      options: {
        ...{ runs: text, seed: text, callers: text, restarts: text },
        ...{ emulator: flag, faults: flag, "no-kills": flag, json: flag, help: flag },
      },
    });
    if (values.help) return HELP;
    const runs = Number(values.runs ?? 300);
    const seed = Number(values.seed ?? Math.floor(Math.random() * 1_000_000));
    const callers = Number(values.callers ?? 30);
    if (!Number.isInteger(runs) || runs < 1) return "--runs takes a number from 1";
    if (!Number.isInteger(seed) || seed < 0) return "--seed takes a number from 0";
    if (!Number.isInteger(callers) || callers < 1) return "--callers takes a number from 1";
    const restarts = values.restarts === undefined ? undefined : Number(values.restarts);
    if (restarts !== undefined && (!Number.isInteger(restarts) || restarts < 1))
      return "--restarts takes a number from 1";
    const { emulator, faults, json } = values;
    if (faults && !emulator) return "--faults needs --emulator";
    if (restarts !== undefined && emulator) return "--restarts kills the service of one machine, not an emulator";
    return { runs, seed, callers, emulator, faults, kills: !values["no-kills"], restarts, json };
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

if (import.meta.main) process.exitCode = await main(process.argv.slice(2));
