import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import type { Context } from "aws-lambda";
import * as v from "valibot";
import { Envelope } from "#shared/wire/harness.ts";
import { HOST_SETTINGS } from "#shared/wire/host-settings.ts";
import { HARNESS_PROTOCOL } from "#shared/wire/protocol.ts";
import { type ScanAnswer, ScanRequest } from "#shared/wire/scan.ts";

/**
 * Kept of the function's time so that the harness can end its run, and this function can report one that did not; where there is
 * little time, a quarter of it.
 */
const MARGIN_MS = 15_000;
const MARGIN_SHARE = 0.25;
/** A scan that is not over so long after its limit is killed. */
const GRACE_MS = 5_000;
const REPORT_MS = 4_000;
/** Bytes of a scan's answer; a synchronous invocation takes 6 MB. */
const SCAN_BYTES = 5_500_000;
/** Scratch directories begin so; the process that made them follows. */
const SCRATCH = "runyard-sandbox-";
/** All that the harness gets of this function's environment: no credential is among it. */
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

/** A request to look for skills, which is answered, or an envelope, whose run is carried out to its end. */
export async function runSandbox(event: unknown, context: Pick<Context, "getRemainingTimeInMillis">): Promise<unknown> {
  if (v.is(v.looseObject({ kind: v.literal("scan") }), event)) return runScan(v.parse(ScanRequest, event));
  await runExecution(event, context);
  return undefined;
}

/** An asynchronous invocation with an envelope: runs the harness as a process of its own, to its end. */
async function runExecution(event: unknown, context: Pick<Context, "getRemainingTimeInMillis">): Promise<void> {
  const envelope = v.parse(Envelope, event);
  const time = context.getRemainingTimeInMillis();
  const margin = Math.min(MARGIN_MS, time * MARGIN_SHARE);
  const deadline = Date.now() + time - margin;
  // The harness finds its temporary directory here, so whatever becomes of it, its files can be found and removed.
  const scratch = await mkdtemp(join(tmpdir(), `${SCRATCH}${process.pid}-`));
  try {
    const running = runHarness({ ...envelope, deadline_at: deadline }, scratch, margin / 3);
    const [lost] = await Promise.all([running, removeAbandoned()]);
    if (lost !== undefined) await reportLoss(envelope, lost);
  } finally {
    await killMarked(envelope.execution_id);
    await rm(scratch, { recursive: true, force: true }).catch(() => undefined);
  }
}

/** A synchronous invocation: what the scanning program prints is the response, which the caller validates. */
async function runScan(request: ScanRequest): Promise<unknown> {
  const scratch = await mkdtemp(join(tmpdir(), `${SCRATCH}${process.pid}-`));
  const mark = randomUUID();
  try {
    const child = startProgram("scan.mjs", scratch, mark);
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
    const message = code === 0 ? "its skills are larger than an answer" : "the scan broke off";
    return { outcome: "failed", reason: "unreadable", message } satisfies ScanAnswer;
  } finally {
    await killMarked(mark);
    await rm(scratch, { recursive: true, force: true }).catch(() => undefined);
  }
}

/** A program that lies beside this one, as a process that has none of the function's environment. */
function startProgram(file: string, scratch: string, mark: string) {
  return spawn(process.execPath, [join(import.meta.dirname, file)], {
    cwd: scratch,
    env: {
      ...Object.fromEntries(PASSED_ON.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : []))),
      TMPDIR: scratch,
      // By this every process that it starts is found again, wherever it went.
      RUNYARD_EXECUTION: mark,
    },
    // Piped, never inherited: what a child writes to the function's own output could pass for its answer.
    stdio: ["pipe", "pipe", "pipe"],
  });
}

/** Answers why the run was not ended properly, if it was not. `graceMs`: from its deadline, when it is asked to end, until it is killed. */
async function runHarness(
  envelope: Envelope & { deadline_at: number },
  scratch: string,
  graceMs: number,
): Promise<string | undefined> {
  const child = startProgram("harness.mjs", scratch, envelope.execution_id);
  const printed = [child.stdout, child.stderr].map((stream) => passOn(stream, envelope.key));
  child.stdin.on("error", () => {});
  child.stdin.end(JSON.stringify(envelope));
  const watch = new AbortController();
  const ending = endLate(child, envelope.deadline_at, graceMs, watch.signal);
  try {
    const [code, signal] = await once(child, "exit");
    // A process that outlived the harness may hold its output open; it is killed next, and its words are not waited for.
    await Promise.race([Promise.all(printed), sleep(500, undefined, { ref: false })]);
    return code === 0 ? undefined : `the harness ended with ${signal ?? `exit code ${code}`}`;
  } catch (error) {
    return `the harness could not be started: ${error instanceof Error ? error.message : String(error)}`;
  } finally {
    watch.abort();
    await ending;
  }
}

async function passOn(stream: NodeJS.ReadableStream, secret: string): Promise<void> {
  for await (const line of createInterface({ input: stream })) {
    // biome-ignore lint/suspicious/noConsole: The lines are log entries already; the console is where the runtime takes them from.
    console.log(line.replaceAll(secret, "***"));
  }
}

async function endLate(child: ChildProcess, deadline: number, graceMs: number, signal: AbortSignal): Promise<void> {
  try {
    await sleep(Math.max(0, deadline - Date.now()), undefined, { signal });
    child.kill("SIGTERM");
    await sleep(graceMs, undefined, { signal });
    child.kill("SIGKILL");
  } catch {
    // It ended in time.
  }
}

/** Tells the control plane at once what it would otherwise learn from a missing heartbeat. */
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

/**
 * Removes the scratch directories of processes like this one that were killed, on a laptop for example. A harness lives on
 * for a moment until it notices: without its directory a command of it would fail, and with it a run that is only lost.
 */
async function removeAbandoned(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    const [, pid] = /^runyard-sandbox-(\d+)-/.exec(name) ?? [];
    if (pid === undefined || isAlive(Number(pid))) continue;
    const folder = join(tmpdir(), name);
    if ((await findMarked(`TMPDIR=${folder}`)).length > 0) continue;
    await rm(folder, { recursive: true, force: true }).catch(() => undefined);
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return !(error instanceof Error && "code" in error && error.code === "ESRCH");
  }
}

/** Kills what a harness that died has left running. Without /proc (macOS) nothing is found. */
async function killMarked(executionId: string): Promise<void> {
  for (let look = 0; look < 20; look++) {
    const found = await findMarked(`RUNYARD_EXECUTION=${executionId}`);
    if (found.length === 0) return;
    for (const pid of found) {
      try {
        process.kill(pid, "SIGKILL");
      } catch {
        // It is gone already.
      }
    }
    await sleep(5);
  }
}

/** Processes that have this variable with this value in their environment. */
async function findMarked(variable: string): Promise<number[]> {
  const processes = await readdir("/proc").catch(() => []);
  const pids = processes.map(Number).filter((pid) => Number.isInteger(pid) && pid !== process.pid);
  const environments = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/environ`, "latin1").catch(() => "")));
  return pids.filter((_, index) => environments[index]?.split("\0").includes(variable));
}
