import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { findProgram } from "./programs.ts";

/** Namespaces of the kernel that a process holds until it is closed, or until the harness ends. */
export interface Namespaces {
  /** The process that holds them. */
  readonly pid: string;
  /** Program and arguments that run a command in them. */
  readonly enter: readonly [string, ...string[]];
  /** Processes that end with them. */
  readonly started: ChildProcess[];
  /** Lets the process do its work again, and resolves when it has. @throws as `holdNamespaces` */
  repeat(): Promise<void>;
  close(): Promise<void>;
}

/** Long, because a busy host is slow and a run must not lose its network by chance. */
const START_MS = 15_000;
/** The options of nsenter by the names in /proc. */
const OPTIONS = { user: "user", net: "net", mnt: "mount" } as const;
const REASON_LENGTH = 300;

/**
 * Starts a process that holds namespaces.
 * @param command prints something when it has prepared them, and then reads its standard input until its end
 * @throws an Error with what it printed when it ends or takes too long
 */
export async function holdNamespaces(
  [file, ...args]: readonly [string, ...string[]],
  names: readonly (keyof typeof OPTIONS)[],
): Promise<Namespaces> {
  const nsenter = findProgram("nsenter");
  if (nsenter === undefined) throw new Error("nsenter is not installed");
  const started: ChildProcess[] = [];
  const files: number[] = [];
  const close = async () => {
    await Promise.all(started.map(endProcess));
    for (const file of files.splice(0)) closeSync(file);
  };
  // It ends when the harness dies, because it depends on a pipe of the harness; and not with a signal of its terminal.
  const holder = spawn(file, args, {
    detached: true,
    env: { PATH: "/usr/bin:/bin" },
    stdio: ["pipe", "pipe", "pipe"],
  });
  started.push(holder);
  let reason = "";
  holder.stderr.on("data", (chunk: Buffer) => {
    reason = (reason + chunk.toString()).slice(-REASON_LENGTH);
  });
  holder.stdin.on("error", () => {});
  const wait = () =>
    waitForOutput(holder, 1).catch(async (error: unknown) => {
      await close();
      throw new Error(reason.trim() || String(error));
    });
  await wait();
  try {
    const pid = String(holder.pid);
    // Keep the namespaces open: the process id may be reused by a process with the host's own ones.
    const opened = names.map((name) => {
      files.push(openSync(`/proc/${pid}/ns/${name}`, "r"));
      return `--${OPTIONS[name]}=/proc/${process.pid}/fd/${files.at(-1)}`;
    });
    const repeat = async () => {
      holder.stdin.write("again\n");
      await wait();
    };
    return { pid, enter: [nsenter, ...opened, "--preserve-credentials", "--"], started, repeat, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function endProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const ended = once(child, "exit");
  child.kill("SIGKILL");
  await ended;
}

/** Waits for the first bytes on a descriptor. @throws when the process ends or takes too long */
export async function waitForOutput(child: ChildProcess, descriptor: 1 | 3): Promise<void> {
  const stream = child.stdio[descriptor];
  if (!stream) throw new Error("the process has no such descriptor");
  const late = new AbortController();
  const failed = async () => {
    await Promise.race([
      once(child, "exit", { signal: late.signal }),
      sleep(START_MS, undefined, { signal: late.signal }),
    ]);
    throw new Error("the process did not start");
  };
  try {
    await Promise.race([once(stream, "data", { signal: late.signal }), failed()]);
  } finally {
    late.abort();
  }
}
