import { readdir, readFile } from "node:fs/promises";
import { setTimeout as pause } from "node:timers/promises";
import * as v from "valibot";
import { runCommand } from "./commands.ts";

/** A process, distinguished from a later one with the same number. */
export const ProcessMark = v.object({ pid: v.number(), started: v.string(), command: v.string() });
export type ProcessMark = v.InferOutput<typeof ProcessMark>;

/** Reads the mark of a running process; undefined if no process has the number. */
export async function readMark(pid: number): Promise<ProcessMark | undefined> {
  return process.platform === "linux" ? markFromProc(pid) : markFromPs(pid);
}

/** Whether the very process that was marked is still running: same number, same start, same command. */
export async function isStillOurs(mark: ProcessMark): Promise<boolean> {
  const now = await readMark(mark.pid);
  return now !== undefined && now.started === mark.started && now.command === mark.command;
}

/** All processes below one, with their marks, so that survivors can be ended after their parent is gone. */
export async function listDescendants(pid: number): Promise<ProcessMark[]> {
  const parents = await parentsOfAll();
  const found: number[] = [];
  const queue = [pid];
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    for (const [child, parent] of parents) {
      if (parent !== next || found.includes(child)) continue;
      found.push(child);
      queue.push(child);
    }
  }
  const marks = await Promise.all(found.map(readMark));
  return marks.filter((mark) => mark !== undefined);
}

/**
 * All processes of the agent runs that the given processes work on, also those that left their parents. Every process of an
 * execution inherits a variable that names it; only Linux shows the variables of other processes.
 */
export async function executionProcesses(marks: ProcessMark[]): Promise<ProcessMark[]> {
  if (process.platform !== "linux") return [];
  const own = new Set((await Promise.all(marks.map((mark) => authorizeExecution(String(mark.pid))))).filter(Boolean));
  if (own.size === 0) return [];
  const names = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(
    names.map(async (name) => (own.has(await authorizeExecution(name)) ? readMark(Number(name)) : undefined)),
  );
  return found.filter((mark) => mark !== undefined);
}

/** Requests one of our processes to end, and kills it after the deadline. */
export async function endProcess(mark: ProcessMark, deadlineSeconds: number): Promise<"gone" | "ended" | "killed"> {
  if (!(await isStillOurs(mark))) return "gone";
  send(mark.pid, "SIGTERM");
  const deadline = Date.now() + deadlineSeconds * 1000;
  while (Date.now() < deadline) {
    if (!(await isStillOurs(mark))) return "ended";
    await pause(50);
  }
  send(mark.pid, "SIGKILL");
  return "killed";
}

export async function killSurvivors(marks: ProcessMark[]): Promise<number> {
  let killed = 0;
  for (const mark of marks) {
    if (!(await isStillOurs(mark))) continue;
    send(mark.pid, "SIGKILL");
    killed++;
  }
  return killed;
}

async function authorizeExecution(pid: string): Promise<string | undefined> {
  const variables = await readFile(`/proc/${pid}/environ`, "latin1").catch(() => "");
  return variables.split("\0").find((variable) => variable.startsWith("RUNYARD_EXECUTION="));
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It ended before the signal.
  }
}

async function markFromProc(pid: number): Promise<ProcessMark | undefined> {
  const [stat, command, boot] = await Promise.all([
    readFile(`/proc/${pid}/stat`, "utf8").catch(() => ""),
    readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => ""),
    readFile("/proc/sys/kernel/random/boot_id", "utf8").catch(() => ""),
  ]);
  // The program's name stands in parentheses and may hold spaces and parentheses itself.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const [condition] = fields;
  const started = fields[19];
  if (started === undefined || condition === "Z" || condition === "X") return undefined;
  return { pid, started: `${boot.trim()}/${started}`, command: command.replaceAll("\0", " ").trim() };
}

async function markFromPs(pid: number): Promise<ProcessMark | undefined> {
  const { code, output } = await runCommand("ps", ["-o", "stat=,lstart=,command=", "-p", String(pid)], {
    timeoutSeconds: 10,
    env: { ...process.env, LC_ALL: "C" },
  });
  const match = /^\s*(\S+)\s+(\w+ +\w+ +\d+ +[\d:]+ +\d+) +(.*)$/m.exec(output);
  const [, condition, started, command] = match ?? [];
  if (code !== 0 || condition?.startsWith("Z") || started === undefined || command === undefined) return undefined;
  return { pid, started, command: command.trim() };
}

async function parentsOfAll(): Promise<Map<number, number>> {
  const parents = new Map<number, number>();
  if (process.platform !== "linux") {
    const { output } = await runCommand("ps", ["-A", "-o", "pid=,ppid="], { timeoutSeconds: 10 });
    for (const line of output.split("\n")) {
      const [pid, parent] = line.trim().split(/\s+/).map(Number);
      if (pid && parent !== undefined) parents.set(pid, parent);
    }
    return parents;
  }
  const names = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  await Promise.all(
    names.map(async (name) => {
      const stat = await readFile(`/proc/${name}/stat`, "utf8").catch(() => "");
      const parent = Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
      if (Number.isInteger(parent)) parents.set(Number(name), parent);
    }),
  );
  return parents;
}
