import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { isStillOurs, type ProcessMark, readMark } from "../../server/host/processes.ts";
import type { Kind, Strike } from "./plan.ts";

/** A process of the local cloud that may be killed. */
export interface Target {
  readonly kind: Kind;
  readonly pid: number;
  /** Name of the function or program. */
  readonly name: string;
  /** The execution that it works on; for the function of a sandbox, that of its harness. */
  readonly executionId?: string;
}

/** A kill that was made. */
export interface Hit {
  readonly number: number;
  readonly kind: Kind;
  readonly name: string;
  readonly executionId?: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** False if the process was idle, so that the kill lost no work. */
  readonly busy: boolean;
  /** @default SIGKILL */
  readonly signal?: "SIGTERM";
}

/** What a process that executes no run is; undefined if it is never killed. */
export type Classify = (
  variables: ReadonlyMap<string, string>,
  command: string,
) => Pick<Target, "kind" | "name"> | undefined;

/** Functions that are not endpoints. Those without a kind are never killed. */
const FUNCTIONS: Readonly<Record<string, Kind | undefined>> = {
  "runyard-dispatch-run": "dispatcher",
  "runyard-reap-runs": "reaper",
  "runyard-end-run": "end",
  "runyard-run-sandbox-zip": "sandbox",
  "runyard-fire-schedule": undefined,
  "runyard-reconcile-schedules": undefined,
  "runyard-discover-skills": undefined,
  "runyard-delete-old-runs": undefined,
};

/** The functions of the deployment. */
export const classifyFunction: Classify = (variables) => {
  const name = variables.get("AWS_LAMBDA_FUNCTION_NAME");
  if (name === undefined) return undefined;
  const kind = name in FUNCTIONS ? FUNCTIONS[name] : "endpoint";
  return kind === undefined ? undefined : { kind, name };
};

/** The one process of a service on one machine, and its workers. */
export const classifyService: Classify = (_, command) => {
  if (command.includes("server/command/serve.ts")) return { kind: "service", name: "service" };
  return command.includes("runyard-server.ts worker") ? { kind: "worker", name: "worker" } : undefined;
};

/** How long to wait for a busy process of a kind. The reaper runs every 15 seconds. */
const WATCH_MS: Readonly<Record<Kind, number>> = {
  service: 1_000,
  worker: 1_000,
  endpoint: 1_500,
  dispatcher: 4_000,
  reaper: 20_000,
  end: 4_000,
  sandbox: 4_000,
  harness: 4_000,
  command: 6_000,
};
const LOOK_MS = 15;
/** Maximum age of the list of processes. */
const LIST_MS = 200;
/** Processor time between two samples; a process that used less is idle. */
const WORK_NS = 1_000_000;

const MARKER = "RUNYARD_EXECUTION";
/** Processes of the isolation boundary, which are there before a run's commands are. */
const HELPERS = ["bwrap", "slirp4netns", "node"];

const isHarness = (command: string): boolean =>
  /harness\.mjs|harness\/main\.ts|harness-[0-9a-f]+\/main\.mjs/.test(command);

/**
 * The processes of one service, distinguished from all others on the machine by their temporary directory, which they inherit, and by
 * the execution id in their environment.
 */
export class Targets {
  readonly #scratch: string;
  readonly #self: number | undefined;
  readonly #classify: Classify;
  /** Every process that harnesses have started, to find leftovers. */
  readonly #seen = new Map<number, ProcessMark>();
  #listed: { readonly at: number; readonly targets: Promise<readonly Target[]> } | undefined;

  /** `scratch`: the service's temporary directory. `emulator`: its process, which is never killed. */
  constructor(scratch: string, classify: Classify, emulator?: number) {
    this.#scratch = scratch;
    this.#classify = classify;
    this.#self = emulator;
  }

  /** Kills a busy process of the strike's kind, or an idle one if none becomes busy in time. */
  async strike({ number, kind, nth, delayMs, terminates }: Strike, signal: AbortSignal): Promise<Hit | undefined> {
    const how = terminates === true ? ({ signal: "SIGTERM" } as const) : {};
    const deadline = Date.now() + WATCH_MS[kind];
    let spent = new Map<number, number>();
    let idle: Target | undefined;
    while (Date.now() < deadline && !signal.aborted) {
      const targets = (await this.#list()).filter((target) => target.kind === kind && isWorthIt(target, nth));
      const now = new Map<number, number>();
      await Promise.all(targets.map(async ({ pid }) => now.set(pid, await processorNs(pid))));
      const busy = targets.filter(({ pid }) => {
        const before = spent.get(pid);
        // A command mostly sleeps; it counts as busy as long as it exists.
        return kind === "command" || (before !== undefined && (now.get(pid) ?? 0) - before >= WORK_NS);
      });
      const target = busy[nth % Math.max(1, busy.length)];
      if (target !== undefined) {
        await pause(delayMs);
        const at = Date.now();
        if (await this.#kill(target, how.signal)) return { number, ...toSummary(target), at, busy: true, ...how };
      }
      idle = targets[nth % Math.max(1, targets.length)];
      spent = now;
      await pause(LOOK_MS);
    }
    if (idle === undefined || signal.aborted || !(await this.#kill(idle, how.signal))) return undefined;
    return { number, ...toSummary(idle), at: Date.now(), busy: false, ...how };
  }

  /** The processes that executions left over: harnesses, their commands and helpers. */
  async leftovers(): Promise<string[]> {
    const now = await this.#look();
    const working = now.filter(({ kind }) => kind === "harness" || kind === "command");
    const remaining = new Map(working.map(({ pid, name }) => [pid, `${pid} ${name}`]));
    for (const mark of this.#seen.values()) {
      if (await isStillOurs(mark)) remaining.set(mark.pid, `${mark.pid} ${mark.command.slice(0, 120)}`);
    }
    return [...remaining.values()];
  }

  /** Records the processes that executions have started since the last call. */
  async note(): Promise<void> {
    await this.#list();
  }

  #list(): Promise<readonly Target[]> {
    if (this.#listed === undefined || Date.now() - this.#listed.at > LIST_MS) {
      this.#listed = { at: Date.now(), targets: this.#look() };
    }
    return this.#listed.targets;
  }

  async #look(): Promise<Target[]> {
    const entries = await processes();
    const byPid = new Map(entries.map((entry) => [entry.pid, entry]));
    const targets: Target[] = [];
    for (const entry of entries) {
      if (entry.pid === this.#self) continue;
      const target = this.#toTarget(entry, byPid);
      if (target !== undefined) targets.push(target);
    }
    const withExecution = addExecutions(targets, byPid);
    await this.#remember(entries, byPid, targets);
    return withExecution.sort((a, b) => a.pid - b.pid);
  }

  #toTarget(entry: Entry, byPid: ReadonlyMap<number, Entry>): Target | undefined {
    const { pid, variables, command } = entry;
    const isOurs = isWithin(variables.get("TMPDIR"), this.#scratch);
    const marker = variables.get(MARKER);
    if (isOurs && isHarness(command)) {
      return { kind: "harness", pid, name: "harness", ...(marker !== undefined && { executionId: marker }) };
    }
    if (isOurs && marker === undefined) {
      const found = this.#classify(variables, command);
      return found === undefined ? undefined : { ...found, pid };
    }
    // A command's own environment names neither our directory nor its execution; its ancestors, up to the harness, do.
    const above = ancestors(entry, byPid);
    const at = above.findIndex((one) => isWithin(one.variables.get("TMPDIR"), this.#scratch) && isHarness(one.command));
    if (at === -1) return undefined;
    const executionId = [entry, ...above.slice(0, at)].map((one) => one.variables.get(MARKER)).find(Boolean);
    const name = path.basename(command.split(" ", 1)[0] ?? "");
    if (executionId === undefined || HELPERS.includes(name)) return undefined;
    return { kind: "command", pid, name, executionId };
  }

  async #remember(entries: readonly Entry[], byPid: ReadonlyMap<number, Entry>, targets: readonly Target[]) {
    const harnesses = new Set(targets.filter(({ kind }) => kind === "harness").map(({ pid }) => pid));
    const below = entries.filter(
      (entry) => harnesses.has(entry.pid) || ancestors(entry, byPid).some(({ pid }) => harnesses.has(pid)),
    );
    const unknown = below.filter(({ pid, started }) => !this.#seen.get(pid)?.started.endsWith(`/${started}`));
    await Promise.all(
      unknown.map(async ({ pid }) => {
        const mark = await readMark(pid);
        if (mark !== undefined) this.#seen.set(pid, mark);
      }),
    );
  }

  async #kill({ pid, kind }: Target, signal: NodeJS.Signals = "SIGKILL"): Promise<boolean> {
    // The list is slightly out of date: by now, the process id may belong to a process that is not ours to kill.
    const now = (await this.#look()).find((target) => target.pid === pid && target.kind === kind);
    if (now === undefined) return false;
    try {
      process.kill(pid, signal);
      return true;
    } catch {
      return false;
    }
  }
}

/**
 * Adds the execution of each sandbox, that of its harness. A harness that was started ahead of its run has a mark of its own, and the
 * id of its execution is in the environment of what it starts.
 */
function addExecutions(targets: readonly Target[], byPid: ReadonlyMap<number, Entry>): Target[] {
  const byHarness = new Map<number, string>();
  for (const entry of byPid.values()) {
    const executionId = entry.variables.get(MARKER);
    const harness = executionId && ancestors(entry, byPid).find(({ command }) => isHarness(command));
    if (harness && harness.variables.get(MARKER) !== executionId) byHarness.set(harness.pid, executionId);
  }
  const known = targets.map((target) => ({ ...target, ...pick(byHarness.get(target.pid)) }));
  const bySandbox = new Map(
    known.flatMap(({ kind, pid, executionId }) =>
      kind === "harness" && executionId !== undefined ? [[byPid.get(pid)?.parent ?? 0, executionId]] : [],
    ),
  );
  return known.map((target) =>
    target.kind === "sandbox" ? { ...target, ...pick(bySandbox.get(target.pid)) } : target,
  );
}

const pick = (executionId: string | undefined) => (executionId === undefined ? {} : { executionId });

/** Callers poll their runs so often that reads would otherwise take most of the kills. */
const isWorthIt = ({ name }: Target, nth: number): boolean => name !== "runyard-get-run" || nth % 4 === 0;

const toSummary = ({ kind, name, executionId }: Target) => ({
  kind,
  name,
  ...(executionId === undefined ? {} : { executionId }),
});

const isWithin = (file: string | undefined, folder: string): boolean =>
  file !== undefined && (file === folder || file.startsWith(`${folder}${path.sep}`));

interface Entry {
  readonly pid: number;
  readonly parent: number;
  /** Clock ticks from the machine's start to that of the process. */
  readonly started: string;
  readonly command: string;
  readonly variables: ReadonlyMap<string, string>;
}

function ancestors(entry: Entry | undefined, byPid: ReadonlyMap<number, Entry>): Entry[] {
  const found: Entry[] = [];
  for (let above = byPid.get(entry?.parent ?? 0); above !== undefined && !found.includes(above); ) {
    found.push(above);
    above = byPid.get(above.parent);
  }
  return found;
}

/** A process keeps its command and environment for its lifetime, unless it executes another program. */
const known = new Map<number, Entry>();

async function processes(): Promise<Entry[]> {
  const names = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const entries = await Promise.all(names.map(readEntry));
  const alive = entries.filter((entry) => entry !== undefined);
  known.clear();
  for (const entry of alive) known.set(entry.pid, entry);
  return alive;
}

async function readEntry(name: string): Promise<Entry | undefined> {
  const read = (file: string) => readFile(`/proc/${name}/${file}`, "latin1").catch(() => "");
  const [stat, commandLine] = await Promise.all([read("stat"), read("cmdline")]);
  // The program's name stands in parentheses and may hold spaces and parentheses itself.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const [condition, above] = fields;
  if (condition === undefined || above === undefined || condition === "Z" || condition === "X") return undefined;
  const [pid, parent, started] = [Number(name), Number(above), fields[19] ?? ""];
  const command = commandLine.replaceAll("\0", " ").trim();
  const before = known.get(pid);
  if (before?.started === started && before.command === command && before.variables.size > 1)
    return { ...before, parent };
  const pairs = (await read("environ")).split("\0").map((pair): [string, string] => {
    const at = pair.indexOf("=");
    return [pair.slice(0, at), pair.slice(at + 1)];
  });
  return { pid, parent, started, command, variables: new Map(pairs) };
}

/** Nanoseconds that a process has had a processor for. */
async function processorNs(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/schedstat`, "utf8").catch(() => "0");
  return Number(text.split(" ", 1)[0]);
}
