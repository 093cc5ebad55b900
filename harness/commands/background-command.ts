import { setImmediate, setTimeout as sleep } from "node:timers/promises";
import { listPorts, listPrograms, readsInput, signalProcess } from "../isolation/process-states.ts";
import type { Redactor } from "../redaction/redactor.ts";
import { formatError } from "../support/stop.ts";
import { type ExitStatus, type LaunchedCommand, waitForExit } from "./command-launcher.ts";
import { createRecentOutput, type TakenOutput } from "./recent-output.ts";

/** How a background command ended. */
export interface BackgroundEnd extends ExitStatus {
  /** Why the harness ended it. */
  readonly reason?: string;
}

/** A command that runs while others do. */
export interface BackgroundCommand {
  /** Unique in the run. */
  readonly id: string;
  /** Redacted. */
  readonly command: string;
  /** How it ended; undefined while it is running. */
  readonly end: BackgroundEnd | undefined;
  /** Whether it has output or an end that `read` has not returned yet. */
  readonly hasNews: boolean;
  /** The TCP ports on which its processes listen. */
  readonly ports: readonly number[];
  /** Whether it is blocked until it gets input. */
  readonly waitsForInput: boolean;
  /** Its processes, parents first. */
  listProcesses(): readonly number[];
  /**
   * Returns the output since the last call.
   * @param keep whether the next call returns it again
   */
  read(keep?: boolean): TakenOutput;
  /** Whether the output that was not read has such a line. */
  hasLine(matches: (line: string) => boolean): boolean;
  /**
   * Waits until the condition holds, or the command ends or waits for input in silence.
   * @returns whether the condition holds
   */
  waitFor(condition: () => boolean, wait: Wait): Promise<boolean>;
  /** Sends input. @throws when it takes no input */
  write(text: string, end: boolean): void;
  /** Ends it: by SIGTERM, and after a grace period by SIGKILL. */
  stop(reason: string, graceMs?: number): Promise<void>;
}

export interface Wait {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Receives the output while it waits, not redacted. */
  readonly onOutput?: ((chunk: Buffer) => void) | undefined;
}

interface BackgroundOptions {
  readonly id: string;
  readonly command: string;
  readonly redactor: Redactor;
  /** Whether the command shows by its first report that its boundary was set up. */
  readonly contained: boolean;
  readonly listProcesses: () => readonly number[];
  /** Kills all its processes. */
  readonly kill: () => Promise<void>;
  /** Watches its resources until the returned function is called. */
  readonly watch: (onExceeded: (why: string) => void) => () => Promise<void>;
}

const POLL_MS = 100;
/** How long a command has been silent when it is said to wait for input. */
const SILENCE_MS = 3_000;
/** The exit code of a command that could not be started. */
const NOT_STARTED_CODE = 126;
/** The input that a command has not read yet. */
const MAX_PENDING_INPUT = 1024 * 1024;

/** Follows a command that has been started until it ends. */
export function followCommand(launched: LaunchedCommand, options: BackgroundOptions): BackgroundCommand {
  const { id, command, redactor, contained, listProcesses, kill, watch } = options;
  const { output, listeners, silentMs, restartSilence } = followOutput(launched, redactor);
  let end: BackgroundEnd | undefined;
  let isEndRead = false;
  let reason: string | undefined;
  // A command that has ended does not read its input, and its state says so.
  launched.input?.on("error", () => {});
  const unwatch = watch((why) => {
    reason ??= why;
    void kill();
  });
  const ended = waitForExit(launched, kill).then(
    async (status) => {
      await unwatch();
      end = { ...status, ...explainEnd(reason, contained && !launched.begin.hasBegun()) };
    },
    (error: unknown) => {
      end = { exitCode: NOT_STARTED_CODE, reason: formatError(error) };
    },
  );
  const isRunning = () => end === undefined;
  const waitsForInput = () => end === undefined && silentMs() >= SILENCE_MS && readsInput(listProcesses());
  void ended.then(unwatch);

  return {
    id,
    command,
    listProcesses,
    get end() {
      return end;
    },
    get hasNews() {
      return output.hasUnread() || (end !== undefined && !isEndRead);
    },
    get ports() {
      return end === undefined ? listPorts(listProcesses()) : [];
    },
    get waitsForInput() {
      return waitsForInput();
    },
    hasLine: (matches) => output.hasLine(matches),
    read(keep) {
      isEndRead = end !== undefined;
      return output.take(keep);
    },
    async waitFor(condition, { timeoutMs, signal, onOutput }) {
      const until = performance.now() + timeoutMs;
      if (onOutput !== undefined) listeners.add(onOutput);
      try {
        while (!condition()) {
          if (end !== undefined || performance.now() >= until || (await waitsAfterReading(waitsForInput)))
            return condition();
          await Promise.race([ended, sleep(POLL_MS)]);
          signal.throwIfAborted();
        }
        return true;
      } finally {
        if (onOutput !== undefined) listeners.delete(onOutput);
      }
    },
    write(text, isLast) {
      if (end !== undefined) throw new Error(`${id} has ended: it takes no input`);
      writeInput(launched, id, text, isLast);
      restartSilence();
    },
    async stop(why, graceMs = 0) {
      if (!isRunning()) return;
      reason ??= why;
      if (graceMs > 0) {
        for (const pid of listPrograms(listProcesses())) signalProcess(pid, "SIGTERM");
        await Promise.race([ended, sleep(graceMs, undefined, { ref: false })]);
      }
      // The number of a process that has ended may be another one's.
      if (isRunning()) await kill();
      await ended;
    },
  };
}

function explainEnd(reason: string | undefined, isBroken: boolean): Pick<BackgroundEnd, "reason"> {
  const why = reason ?? (isBroken ? "the isolation boundary (bubblewrap) could not be set up" : undefined);
  return why === undefined ? {} : { reason: why };
}

/**
 * Whether a command waits for input, also after the event loop has read the output that has come since it last did: a busy harness would
 * take it for silence. The second check phase is the one that surely follows a poll phase.
 */
async function waitsAfterReading(waitsForInput: () => boolean): Promise<boolean> {
  if (!waitsForInput()) return false;
  await setImmediate();
  await setImmediate();
  return waitsForInput();
}

/** Collects the output of a command, passes it on, and measures how long there has been none. */
function followOutput({ output: streams }: LaunchedCommand, redactor: Redactor) {
  const output = createRecentOutput(redactor);
  const listeners = new Set<(chunk: Buffer) => void>();
  let lastAt = performance.now();
  const restartSilence = () => {
    lastAt = performance.now();
  };
  for (const stream of streams) {
    stream.on("data", output.stream());
    stream.on("data", (chunk: Buffer) => {
      restartSilence();
      for (const listener of listeners) listener(chunk);
    });
  }
  return { output, listeners, restartSilence, silentMs: () => performance.now() - lastAt };
}

/** Sends input without waiting for the command: one that does not read must not keep its sender waiting. */
function writeInput({ input }: LaunchedCommand, id: string, text: string, isLast: boolean): void {
  if (input === undefined || input.writableEnded) throw new Error(`the input of ${id} was ended`);
  if (input.writableLength + text.length > MAX_PENDING_INPUT)
    throw new Error(`${id} has not read its earlier input; at most ${MAX_PENDING_INPUT} bytes wait`);
  if (isLast) input.end(text);
  else input.write(text);
}
