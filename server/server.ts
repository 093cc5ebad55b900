import { chmod } from "node:fs/promises";
import path from "node:path";
import { decideEvents } from "#functions/executions/decide-events.ts";
import { deleteOldRuns } from "#functions/executions/delete-old-runs.ts";
import { planDeliveries } from "#functions/executions/plan-deliveries.ts";
import { reapRuns } from "#functions/executions/reap-runs.ts";
import { reconcileSchedules } from "#functions/executions/reconcile-schedules.ts";
import type { ScheduledEvent } from "#shared/queue/scheduled-event.ts";
import { commitAuthor } from "#shared/runs/config-layers.ts";
import { runScan } from "#shared/sandbox/harness-process.ts";
import { createAdminKey } from "./admin-key.ts";
import { registerConsumers } from "./consumers.ts";
import { DatabaseError } from "./database/sqlite-errors.ts";
import { createDirectory } from "./disk/create-directory.ts";
import { expireFiles } from "./files/expire-files.ts";
import { type DecidedIsolation, listNetworkLimits, toHarnessVariables } from "./host/isolation.ts";
import { localModels } from "./host/models.ts";
import { servesOtherMachines } from "./http/allowed-hosts.ts";
import { openControlSocket } from "./http/control-socket.ts";
import { startHttpServer } from "./http/http-server.ts";
import { findMissingModels, rememberModels } from "./known-models.ts";
import { type Adapters, createPorts, openAdapters, type PortOptions, type ServerPorts } from "./ports.ts";
import { repeat } from "./repeat.ts";
import { executionLog } from "./sandbox/execution-log.ts";
import { HarnessPrograms } from "./sandbox/harness-programs.ts";
import { expireImages, findImageProblem, imagesPath, readImageLimits } from "./sandbox/images.ts";
import { expireMirrors, mirrorsPath } from "./sandbox/mirrors.ts";
import { ProcessSandbox } from "./sandbox/process-sandbox.ts";
import { expireExecutions, recoverExecutions } from "./sandbox/recover-executions.ts";
import { createRegistryVariables } from "./sandbox/registry-variables.ts";
import { scratchPath } from "./sandbox/scratch-path.ts";
import { forgetConnections, LocalWorkerSockets } from "./sockets/worker-sockets.ts";

/** What EventBridge sends each minute, and each hour. */
const TICK: ScheduledEvent = { source: "aws.events", "detail-type": "Scheduled Event" };
const MINUTE_MS = 60_000;
/** An execution needs time to start, and to save its work. */
const MIN_SANDBOX_SECONDS = 10;
const HOUR_MS = 60 * MINUTE_MS;

export interface ServerOptions {
  /** Directory of the database, the key and the files. */
  readonly directory: string;
  /** Address to listen on. */
  readonly host: string;
  readonly port: number;
  /** Public address of the server, without a slash at its end. */
  readonly webUrl: string;
  /** That address if it is configured; undefined if it is only that of this machine. */
  readonly publicUrl?: string | undefined;
  /** Executions at the same time. */
  readonly concurrency: number;
  /** What the data may use of the disk. @default a share of the disk */
  readonly maxDiskBytes?: number | undefined;
  readonly environment: NodeJS.ProcessEnv;
  /** Takes the lines that harnesses print. */
  print(line: string): void;
}

/** A running server. */
export interface Server {
  readonly ports: ServerPorts;
  /** Starts to execute runs, whose commands are isolated as decided. */
  execute(isolation: DecidedIsolation): Promise<void>;
  /** Creates a key for the admin of this installation; at the first start, with their team. */
  createAdminKey(): Promise<{ readonly api_key: string; readonly team_uid: string }>;
  /** Stops everything that was started. Runs that are executing continue at the next start. */
  stop(): Promise<void>;
}

/**
 * Starts the API on a data directory. Runs wait until `execute` is called.
 * @throws DatabaseInUse if another process has the directory open
 */
export async function startServer(options: ServerOptions): Promise<Server> {
  // A wrong value would otherwise fail each new run.
  commitAuthor();
  const imageLimits = readImageLimits(options.environment);
  await prepareDirectory(options.directory);
  // The rules read these from the settings, as they do in Lambda functions.
  Object.assign(process.env, localModels(options.environment, options.directory).variables);
  findMissingModels(options.directory);
  await rememberModels(options.directory);
  process.env["STAGE"] = servesOtherMachines(options.webUrl, options.host) ? "shared" : "local";
  const adapters = await openAdapters(options.directory, options.maxDiskBytes);
  const { queues, timers, database } = adapters;
  const cache = process.env["NODE_COMPILE_CACHE"] ?? path.join(options.directory, "cache");
  const scratch = scratchPath(options.directory);
  const programs = new HarnessPrograms({ NODE_COMPILE_CACHE: cache }, scratch);
  const addRegistries = createRegistryVariables(options.directory, options.environment);
  const log = executionLog(database);
  const sandbox = new ProcessSandbox({
    program: () => addRegistries(programs.main()),
    concurrency: options.concurrency,
    seconds: sandboxSeconds(options.environment),
    log,
    print: options.print,
    onRoom: () => queues.wake(),
  });
  const sockets = new LocalWorkerSockets();
  let decided: DecidedIsolation | undefined;
  const ports = createPorts(adapters, {
    execution: describeExecution(() => decided),
    webUrl: options.webUrl,
    publicUrl: options.publicUrl,
    sockets,
    environment: options.environment,
    directory: options.directory,
    sandbox,
    scanner: { scan: (request) => runScan(request, programs.scan()) },
  });
  // Harnesses call this process directly, wherever its public address leads.
  const dispatchPorts = { ...ports, baseUrl: `${localUrl(options.host, options.port)}/api/v1` };
  registerConsumers(queues, sandbox, ports, dispatchPorts);
  await forgetConnections(database, ports);
  const http = await startHttpServer({ ...options, ports, adapters, sockets }).catch(async (error: unknown) => {
    await sandbox.close();
    await database.close();
    throw error;
  });
  const control = openControlSocket(options.directory, ports, dispatchPorts);
  let stopTicks = (): void => undefined;
  return {
    ports,
    createAdminKey: () => createAdminKey(database, adapters.table),
    async execute(isolation) {
      decided = isolation;
      const mirrors = mirrorsPath(options.directory);
      Object.assign(programs.environment, toHarnessVariables(isolation));
      const images = imagesPath(options.directory);
      // Git updates a mirror in bubblewrap only, and images are unpacked in it.
      if (isolation.isolation.startsWith("bubblewrap"))
        Object.assign(programs.environment, { RUNYARD_MIRRORS: mirrors, RUNYARD_IMAGES: images });
      await recoverExecutions(log, ports, scratch);
      queues.start();
      timers.start();
      sandbox.prepare();
      void programs.bundle();
      stopTicks = startTicks(adapters, ports, { mirrors, images, imageLimits });
    },
    async stop() {
      stopTicks();
      timers.stop();
      sandbox.stopAccepting();
      await expireExecutions(log, ports);
      await sandbox.close();
      await sockets.end();
      await queues.stop();
      control.close();
      await http.close();
      await database.close();
    },
  };
}

/** What harnesses can do, once it is decided what isolates commands. */
const describeExecution = (decided: () => DecidedIsolation | undefined): NonNullable<PortOptions["execution"]> => ({
  networkLimits() {
    const isolation = decided();
    return isolation === undefined ? [] : listNetworkLimits(isolation);
  },
  findImageProblem: (harness) => findImageProblem(decided(), harness),
});

/** Creates the directory, and keeps other users out of it. @throws DatabaseError if it cannot be written */
async function prepareDirectory(directory: string): Promise<void> {
  try {
    createDirectory(directory);
    // It may have been created by another program.
    await chmod(directory, 0o700);
  } catch (error) {
    throw new DatabaseError(`${directory} cannot be written. Check that it exists and who may write to it.`, error);
  }
}

/** @throws Error if RUNYARD_SANDBOX_SECONDS is not a number of seconds */
function sandboxSeconds({ RUNYARD_SANDBOX_SECONDS: value }: NodeJS.ProcessEnv): number | undefined {
  if (!value) return undefined;
  const seconds = Number(value);
  if (Number.isInteger(seconds) && seconds >= MIN_SANDBOX_SECONDS) return seconds;
  throw new Error(`RUNYARD_SANDBOX_SECONDS takes a number of seconds from ${MIN_SANDBOX_SECONDS}, not "${value}"`);
}

/** The address of a server for clients on this machine; `host` is what it listens on. */
export function localUrl(host: string, port: number): string {
  if (host === "0.0.0.0") return `http://127.0.0.1:${port}`;
  if (host === "::") return `http://[::1]:${port}`;
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
}

/** Starts the tasks of each minute and each hour. */
function startTicks(
  adapters: Adapters,
  ports: ServerPorts,
  {
    mirrors,
    images,
    imageLimits,
  }: Readonly<Record<"mirrors" | "images", string>> & {
    readonly imageLimits: ReturnType<typeof readImageLimits>;
  },
): () => void {
  const { table, queues, files, disk } = adapters;
  const stops = [
    repeat("reap runs", MINUTE_MS, () => reapRuns.handle(TICK, ports)),
    repeat("reconcile schedules", MINUTE_MS, () => reconcileSchedules.handle(TICK, ports)),
    repeat("request due deliveries", MINUTE_MS, () => planDeliveries.handle(TICK, ports)),
    repeat("request due decisions", MINUTE_MS, () => decideEvents.handle(TICK, ports)),
    repeat("purge expired items", MINUTE_MS, () => table.purgeExpired(Date.now())),
    repeat("measure the disk", MINUTE_MS, () => disk.measure()),
    repeat("measure the files", HOUR_MS, () => disk.measureAll()),
    repeat("delete old runs", HOUR_MS, () => deleteOldRuns.handle(TICK, ports)),
    repeat("purge old messages", HOUR_MS, () => queues.purgeOld()),
    repeat("expire files", HOUR_MS, () => expireFiles(files, Date.now())),
    repeat("expire mirrors", HOUR_MS, () => expireMirrors(mirrors, Date.now())),
    repeat("expire images", HOUR_MS, () => expireImages(images, Date.now(), imageLimits)),
  ];
  return () => {
    for (const stop of stops) stop();
  };
}
