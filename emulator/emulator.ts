import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdir, open, readFile, rename } from "node:fs/promises";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { lastLines } from "../server/host/commands.ts";
import { type LocalPaths, projectRoot } from "../server/host/paths.ts";
import {
  endProcess,
  executionProcesses,
  killSurvivors,
  listDescendants,
  type ProcessMark,
  readMark,
} from "../server/host/processes.ts";
import { Problem } from "../server/host/terminal.ts";
import { HOST_SETTINGS } from "../shared/wire/host-settings.ts";
import { REGION } from "./account.ts";
import { type EmulatorAccess, KEY_HEADER } from "./emulator-access.ts";
import { dropStrayBuckets, stateSavedAt } from "./emulator-state.ts";

/** How long a clean stop may take before the emulator is killed: it may hang while a request is still open. */
const STOP_SECONDS = 10;

export interface Emulator extends EmulatorAccess {
  port: number;
  mark: ProcessMark;
  /** Settles when the process has ended, for any reason. */
  ended: Promise<void>;
}

export interface StopReport {
  how: "gone" | "ended" | "killed";
  /** Whether the changes since the start are saved for the next one. */
  saved: boolean;
}

/**
 * The variables that the user's environment may pass on: certificates, proxies, language and faults to inject, but no
 * credential.
 */
const HANDED_ON = [
  "LANG",
  "LC_ALL",
  "RUNYARD_FAULTS",
  ...HOST_SETTINGS,
  "SSL_CERT_FILE",
  "SSL_CERT_DIR",
  "NODE_EXTRA_CA_CERTS",
  "GIT_SSL_CAINFO",
  "CURL_CA_BUNDLE",
  "HTTP_PROXY",
  "HTTPS_PROXY",
  "http_proxy",
  "https_proxy",
];

export interface EmulatorOptions {
  port: number;
  /** Directory for temporary files: the emulator never removes the code of functions that it unpacks there. */
  scratch: string;
  /** Where its functions find the scheduler, if not with itself. */
  schedulerUrl?: string;
  environment: NodeJS.ProcessEnv;
  /** Called as soon as the process is there, and again when it serves, so that a killed start can be cleaned up after. */
  remember: (mark: ProcessMark) => Promise<void>;
}

/** Starts the emulator in an environment of its own: its Lambda functions inherit all of it. */
export async function startEmulator(
  paths: LocalPaths,
  { port, scratch, schedulerUrl, environment, remember }: EmulatorOptions,
): Promise<Emulator> {
  // Prompts, transcripts and keys must not be readable by other users of a shared machine.
  const folders = [paths.state, paths.objects, paths.logs, paths.emptyHome];
  await Promise.all(folders.map((folder) => mkdir(folder, { recursive: true, mode: 0o700 })));
  await dropStrayBuckets(paths);
  // Generated at each start, and known only to the processes of this start.
  const secretKey = randomBytes(32).toString("base64url");
  const logFile = path.join(paths.logs, "emulator.log");
  await rename(logFile, `${logFile}.1`).catch(() => undefined);
  const log = await open(logFile, "w", 0o600);
  const child = spawn(path.join(paths.venv, "bin", "python"), [path.join(import.meta.dirname, "emulator-guard.py")], {
    cwd: paths.emptyHome,
    env: {
      ...emulatorEnvironment(paths, port, environment),
      AWS_SECRET_ACCESS_KEY: secretKey,
      TMPDIR: scratch,
      // Its functions inherit this, and their client of EventBridge Scheduler calls there.
      ...(schedulerUrl === undefined ? {} : { AWS_ENDPOINT_URL_SCHEDULER: schedulerUrl }),
    },
    stdio: ["ignore", log.fd, log.fd],
    // A process group of its own: Ctrl-C at the terminal must not end it before its state is saved.
    detached: true,
  });
  await log.close();
  const ended = new Promise<void>((resolve) => {
    child.once("exit", () => resolve());
    child.once("error", () => resolve());
  });
  const endpoint = `http://127.0.0.1:${port}`;
  const early = child.pid === undefined ? undefined : await readMark(child.pid);
  if (early !== undefined) await remember(early);
  await untilHealthy(child, { endpoint, secretKey }, logFile);
  // Some Pythons start themselves once more, which changes the command that the process shows.
  const mark = early === undefined ? undefined : await readMark(early.pid);
  if (mark === undefined) throw new Problem("The emulator ended right after its start.", await readTail(logFile));
  await remember(mark);
  return { endpoint, secretKey, port, mark, ended };
}

/** Stops the emulator and everything below it; its state is on disk when it ended by itself. */
export async function stopEmulator(mark: ProcessMark, paths: LocalPaths): Promise<StopReport> {
  const began = Date.now();
  const below = await listDescendants(mark.pid);
  const executions = await executionProcesses(below);
  const how = await endProcess(mark, STOP_SECONDS);
  await killSurvivors([...below, ...executions]);
  const savedAt = await stateSavedAt(paths);
  return { how, saved: savedAt !== undefined && savedAt.getTime() >= began - 1000 };
}

/** Ends the emulator and its functions at once; all changes since the last clean stop are lost. */
export function killEmulator(mark: ProcessMark): void {
  try {
    process.kill(-mark.pid, "SIGKILL");
  } catch {
    // It has ended already.
  }
}

export function emulatorEnvironment(
  paths: LocalPaths,
  port: number,
  environment: NodeJS.ProcessEnv,
): Record<string, string> {
  const handedOn: Record<string, string> = {};
  for (const name of HANDED_ON) {
    const value = environment[name];
    if (value) handedOn[name] = value;
  }
  const nobodysProxy = [environment["NO_PROXY"] ?? environment["no_proxy"], "127.0.0.1", "localhost"]
    .filter(Boolean)
    .join();
  return {
    ...handedOn,
    NO_PROXY: nobodysProxy,
    no_proxy: nobodysProxy,
    // The emulator ignores a function's runtime and takes the first node on the PATH.
    PATH: [path.dirname(process.execPath), environment["PATH"] ?? "/usr/local/bin:/usr/bin:/bin"].join(path.delimiter),
    HOME: paths.emptyHome,
    // Where `npm ci --prefix image` installs third-party agents; the harness runs from a copy of its code elsewhere.
    RUNYARD_AGENTS: environment["RUNYARD_AGENTS"] ?? path.join(projectRoot, "image"),
    GATEWAY_PORT: String(port),
    BIND_HOST: "127.0.0.1",
    MINISTACK_REGION: REGION,
    PERSIST_STATE: "1",
    STATE_DIR: paths.state,
    S3_PERSIST: "1",
    S3_DATA_DIR: paths.objects,
    // Each running sandbox and each waiting reader holds one.
    MINISTACK_WORKER_THREADS: "256",
    // Listeners on fixed ports that nothing here uses.
    SFTP_ENABLED: "0",
    IOT_MTLS_ENABLED: "0",
  };
}

async function untilHealthy(
  child: ChildProcess,
  { endpoint, secretKey }: EmulatorAccess,
  logFile: string,
): Promise<void> {
  const deadline = Date.now() + 60_000;
  while (Date.now() < deadline) {
    if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) {
      throw new Problem("The emulator did not start.", await readTail(logFile));
    }
    const healthy = await fetch(`${endpoint}/_ministack/health`, {
      headers: { [KEY_HEADER]: secretKey },
      signal: AbortSignal.timeout(2000),
    }).then(
      (response) => response.ok,
      () => false,
    );
    if (healthy) return;
    await pause(50);
  }
  child.kill("SIGKILL");
  throw new Problem("The emulator did not respond within 60 seconds.", await readTail(logFile));
}

async function readTail(file: string): Promise<string[]> {
  return lastLines(await readFile(file, "utf8").catch(() => ""), 12);
}
