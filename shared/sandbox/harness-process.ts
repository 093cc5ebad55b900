import { type ChildProcess, type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import type { Envelope } from "#shared/wire/harness.ts";
import { HOST_SETTINGS } from "#shared/wire/host-settings.ts";
import { HARNESS_PROTOCOL } from "#shared/wire/protocol.ts";
import type { ScanRequest, ScanResult } from "#shared/wire/scan.ts";
import { inOwnFileSystem } from "./own-file-system.ts";
import { executionMarker, killMarked } from "./processes.ts";
import { createScratch, removeScratch } from "./scratch.ts";

/** A scan that is not over so long after its limit is killed. */
const GRACE_MS = 5_000;
const REPORT_MS = 4_000;
/** Bytes of a scan's response; a synchronous invocation takes 6 MB. */
const SCAN_BYTES = 5_500_000;
/** The only variables of this process that a program gets. None of them holds a credential. */
const PASSED_ON = [
  "PATH",
  "LANG",
  ...HOST_SETTINGS,
  "RUNYARD_AGENTS",
  "HTTPS_PROXY",
  "NO_PROXY",
  "SSL_CERT_FILE",
  "GIT_SSL_CAINFO",
];

/** A program of the harness, which is started as a process that has none of this process's environment. */
export interface Program {
  /** Path of the program, which Node runs. */
  readonly file: string;
  /** Variables that it gets in addition. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Where the temporary directories of its processes are created. @default the temporary directory */
  readonly scratchParent?: string;
}

/** A harness that was started ahead and waits for its envelope. */
export interface WaitingHarness {
  readonly child: ChildProcessWithoutNullStreams;
  readonly scratch: string;
  /** By this variable its processes are found; its commands have that of their execution. */
  readonly mark: string;
}

export interface ExecutionOptions {
  readonly program: Program;
  /** Executes the run, in place of a new process. */
  readonly waiting?: WaitingHarness | undefined;
  /** Whether the processes of a harness that has ended properly have ended with it, so that none is searched for. @default false */
  readonly contained?: boolean;
  /** Asks the harness to end. */
  readonly stop?: AbortSignal;
  /** Milliseconds from its deadline, or from `stop`, until the harness is killed. */
  readonly graceMs: number;
  /** Takes each line that the harness prints, without the run's key. */
  print(line: string): void;
}

/** Starts a harness that prepares its sandbox and then waits for an envelope. */
export async function startHarness(program: Program, mark: string = randomUUID()): Promise<WaitingHarness> {
  const scratch = await createScratch(program.scratchParent);
  const child = await startProgram(program, scratch, mark);
  child.stdin.on("error", () => {});
  child.on("error", () => {});
  return { child, scratch, mark };
}

/** Ends a harness that is not needed. */
export async function discardHarness({ child, scratch, mark }: WaitingHarness): Promise<void> {
  child.stdout.resume();
  child.stderr.resume();
  const timer = setTimeout(() => child.kill("SIGKILL"), GRACE_MS);
  // Without an envelope it removes what it has prepared.
  child.stdin.end();
  if (isRunning(child)) await once(child, "exit").catch(() => undefined);
  clearTimeout(timer);
  await removeAll(scratch, mark);
}

/** Whether a harness is still there to take an envelope. */
export const isRunning = ({ exitCode, signalCode, pid }: ChildProcess): boolean =>
  pid !== undefined && exitCode === null && signalCode === null;

async function removeAll(scratch: string, ...marks: readonly string[]): Promise<void> {
  if (marks.length > 0) await killMarked(...marks);
  await removeScratch(scratch);
}

/**
 * Runs the harness with an envelope as a process of its own, to its end, and reports an execution that it did not end properly.
 * @returns why the execution was lost; undefined if the harness has ended it
 */
export async function runExecution(envelope: Envelope, options: ExecutionOptions): Promise<string | undefined> {
  const harness = options.waiting ?? (await startHarness(options.program, envelope.execution_id));
  let hasEnded = false;
  try {
    const lost = await runHarness(envelope, harness.child, options);
    hasEnded = lost === undefined;
    if (lost !== undefined) await reportLoss(envelope, lost);
    return lost;
  } finally {
    const marks = hasEnded && options.contained === true ? [] : [envelope.execution_id, harness.mark];
    await removeAll(harness.scratch, ...marks);
  }
}

/** Runs the scanning program; the caller parses its response. */
export async function runScan(request: ScanRequest, program: Program): Promise<unknown> {
  const scratch = await createScratch(program.scratchParent);
  const mark = randomUUID();
  try {
    const child = await startProgram(program, scratch, mark);
    child.stdin.on("error", () => {});
    child.stdin.end(JSON.stringify(request));
    child.stderr.resume();
    // Its own limit ends it before this does.
    const timer = setTimeout(() => child.kill("SIGKILL"), request.time_limit_ms + GRACE_MS);
    const chunks: Buffer[] = [];
    let bytes = 0;
    child.stdout.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= SCAN_BYTES) chunks.push(chunk);
    });
    const [code] = await once(child, "close").finally(() => clearTimeout(timer));
    if (code === 0 && bytes <= SCAN_BYTES) return JSON.parse(Buffer.concat(chunks).toString());
    const message = code === 0 ? "its skills exceed the size of a response" : "the scan broke off";
    return { outcome: "failed", reason: "unreadable", message } satisfies ScanResult;
  } finally {
    await removeAll(scratch, mark);
  }
}

async function startProgram(
  { file, environment }: Program,
  scratch: string,
  mark: string,
): Promise<ChildProcessWithoutNullStreams> {
  const passed = Object.fromEntries(
    PASSED_ON.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])),
  );
  // Without the flag, any process of the same user could start Node's inspector by SIGUSR1 and read everything.
  const command = [process.execPath, "--disable-sigusr1", file] as const;
  const [program, ...args] = await inOwnFileSystem(scratch, command, { ...process.env, ...environment });
  return spawn(program, args, {
    cwd: scratch,
    env: {
      ...passed,
      ...environment,
      TMPDIR: scratch,
      // Identifies every process that it starts, including detached ones.
      ...executionMarker(mark),
    },
    // Piped, never inherited: what a child writes to the function's own output could pass for its response.
    stdio: ["pipe", "pipe", "pipe"],
  });
}

/** Resolves with the reason if the harness did not end the run properly. */
async function runHarness(
  envelope: Envelope,
  child: ChildProcessWithoutNullStreams,
  options: ExecutionOptions,
): Promise<string | undefined> {
  const printed = [child.stdout, child.stderr].map((stream) => passOn(stream, envelope.key, options.print));
  child.stdin.end(JSON.stringify(envelope));
  const watch = new AbortController();
  const ending = endLate(child, envelope.deadline_at, options, watch.signal);
  try {
    if (child.pid === undefined) return "the harness could not be started";
    const [code, signal] = isRunning(child) ? await once(child, "exit") : [child.exitCode, child.signalCode];
    // A process that outlived the harness may hold its output open; it is killed next, so do not wait for its output.
    await Promise.race([Promise.all(printed), sleep(500, undefined, { ref: false })]);
    return code === 0 ? undefined : `the harness ended with ${signal ?? `exit code ${code}`}`;
  } catch (error) {
    return `the harness could not be started: ${error instanceof Error ? error.message : String(error)}`;
  } finally {
    watch.abort();
    await ending;
  }
}

async function passOn(stream: NodeJS.ReadableStream, secret: string, print: (line: string) => void): Promise<void> {
  for await (const line of createInterface({ input: stream })) print(line.replaceAll(secret, "***"));
}

/** Ends a harness at its deadline or when it is to stop, unless `ended` is aborted before. */
async function endLate(
  child: ChildProcess,
  deadline: number | undefined,
  { graceMs, stop }: ExecutionOptions,
  ended: AbortSignal,
): Promise<void> {
  try {
    await waitForEnd(deadline, stop, ended);
    child.kill("SIGTERM");
    await sleep(graceMs, undefined, { signal: ended });
    child.kill("SIGKILL");
  } catch {
    // It ended in time.
  }
}

/** Resolves when a harness has to end. @throws when it has ended */
async function waitForEnd(
  deadline: number | undefined,
  stop: AbortSignal | undefined,
  ended: AbortSignal,
): Promise<void> {
  if (stop?.aborted) return;
  const options = { signal: ended };
  await Promise.race([
    ...(deadline === undefined ? [] : [sleep(Math.max(0, deadline - Date.now()), undefined, options)]),
    ...(stop === undefined ? [] : [once(stop, "abort", options)]),
    once(ended, "abort").then(() => ended.throwIfAborted()),
  ]);
}

/** Reports at once what the control plane would otherwise learn from a missing heartbeat. */
async function reportLoss({ base_url, key }: Envelope, message: string): Promise<void> {
  await fetch(`${base_url}/harness-support/report-shutdown`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${key}`,
      "content-type": "application/json",
      "runyard-protocol": String(HARNESS_PROTOCOL),
    },
    body: JSON.stringify({ error: { category: "harness_died", message } }),
    signal: AbortSignal.timeout(REPORT_MS),
  }).then(
    (response) => response.body?.cancel(),
    // The lease runs out anyway.
    () => undefined,
  );
}
