import { readdirSync, readlinkSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { readProcFile } from "./proc-files.ts";

/** How often stopped processes are looked for, and the delay between two searches. */
const MAX_SEARCHES = 200;
const SEARCH_MS = 5;
/** The delay before processes are stopped again: this many times as long as it took. */
const REPEAT_FACTOR = 10;

/** How many have stopped each process: it goes on when all of them let it. */
const holders = new Map<number, number>();

/**
 * Stops processes (SIGSTOP), including those that they start meanwhile, again and again: a program can let a timer send it SIGCONT. Processes
 * that had stopped by themselves before are left alone.
 * @param list lists the processes, parents first
 * @param waits whether to wait until all have stopped. Without, each has got the signal: none executes more of its program, but some may
 * still have to be scheduled, or to end a system call. @default true
 * @returns a function that lets them go on
 */
export async function freezeProcesses(list: () => readonly number[], waits = true): Promise<() => void> {
  const frozen = new Set<number>();
  const hold = (pid: number) => {
    if (frozen.size < frozen.add(pid).size) holders.set(pid, (holders.get(pid) ?? 0) + 1);
  };
  const before = new Set(list().filter((pid) => isStopped(pid) && !holders.has(pid)));
  for (let search = 0; search < MAX_SEARCHES; search++) {
    const found = list().filter((pid) => !before.has(pid));
    for (const pid of found) if (holders.has(pid)) hold(pid);
    const running = found.filter((pid) => (waits ? !isStopped(pid) : !frozen.has(pid)));
    // A process may fork until it has stopped.
    if (running.length === 0) break;
    for (const pid of running) if (signalProcess(pid, "SIGSTOP")) hold(pid);
    if (waits) await sleep(SEARCH_MS);
  }
  const endRepeat = repeatStop(() => {
    for (const pid of list()) if (!before.has(pid) && signalProcess(pid, "SIGSTOP")) hold(pid);
  });
  return () => {
    endRepeat();
    // Children first: a shell would report a child that is still stopped as a stopped job.
    for (const pid of [...frozen].toReversed()) release(pid);
    frozen.clear();
  };
}

/** Repeats this, for a tenth of the time at most: thousands of processes are listed as slowly as files are counted. */
function repeatStop(stop: () => void): () => void {
  let timer: NodeJS.Timeout;
  const wait = (milliseconds: number) => {
    timer = setTimeout(() => {
      const startedAt = performance.now();
      stop();
      wait(Math.max(SEARCH_MS, REPEAT_FACTOR * (performance.now() - startedAt)));
    }, milliseconds);
  };
  wait(SEARCH_MS);
  return () => clearTimeout(timer);
}

function release(pid: number): void {
  const remaining = (holders.get(pid) ?? 0) - 1;
  if (remaining > 0) {
    holders.set(pid, remaining);
    return;
  }
  holders.delete(pid);
  signalProcess(pid, "SIGCONT");
}

/** @returns false if the process has ended */
export function signalProcess(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}

/** Processes that have stopped, or have ended and are not reaped. */
const STOPPED = /^\d+ \(.*\) [TtZX] /s;
const isStopped = (pid: number): boolean => {
  const state = readProcFile(`/proc/${pid}/stat`);
  return state === "" || STOPPED.test(state);
};

/** The boundary, and shells, which wait for their programs. */
const SHELL = /^(bwrap|bash|sh|dash)\n$/;

/** Lists the programs among the processes of a command; its shells if there are none. A shell that ends would end them by force. */
export function listPrograms(processes: readonly number[]): readonly number[] {
  const programs = processes.filter((pid) => !SHELL.test(readProcFile(`/proc/${pid}/comm`)));
  return programs.length > 0 ? programs : processes.slice(-1);
}

/** Lists the TCP ports on which these processes listen. Works on Linux only. */
export function listPorts(processes: readonly number[]): number[] {
  const sockets = new Set(processes.flatMap(listSockets));
  // All processes of a command share a network namespace, but the programs that set it up are outside of it.
  const [inside] = sockets.size === 0 ? [] : processes.toReversed();
  const lines = ["tcp", "tcp6"].flatMap((name) => readProcFile(`/proc/${inside}/net/${name}`).split("\n"));
  const ports = lines.flatMap((line) => {
    const [, port, inode] = LISTENING.exec(line) ?? [];
    return port !== undefined && inode !== undefined && sockets.has(inode) ? [Number.parseInt(port, 16)] : [];
  });
  return [...new Set(ports)].toSorted((one, other) => one - other);
}

/** A line of /proc/net/tcp in the state LISTEN: its local port, and its inode (proc_pid_net(5)). */
const LISTENING = /^\s*\d+: [0-9A-F]+:([0-9A-F]{4}) [0-9A-F:]+ 0A (?:\S+\s+){5}(\d+)/;

function listSockets(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).flatMap((descriptor) => {
      const [, inode] = /^socket:\[(\d+)\]$/.exec(readLink(`/proc/${pid}/fd/${descriptor}`)) ?? [];
      return inode === undefined ? [] : [inode];
    });
  } catch {
    return [];
  }
}

/** The number of the system call read(2), and its argument for standard input, as /proc/PID/syscall has them. */
const READ_INPUT = new RegExp(`^${process.arch === "arm64" ? 63 : 0} 0x0 `);

/**
 * Whether a process is blocked in read(2) of its standard input. Programs that wait for several things at once, as Node does, are not
 * recognized.
 */
export const readsInput = (processes: readonly number[]): boolean =>
  processes.some((pid) => READ_INPUT.test(readProcFile(`/proc/${pid}/syscall`)));

function readLink(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return "";
  }
}
