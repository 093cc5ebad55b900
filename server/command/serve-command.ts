import { enableCompileCache } from "node:module";
import path from "node:path";
import { setLogOutput } from "#shared/log/log.ts";
import { isLoopbackHost } from "../host/http/request-checks.ts";
import { ensureWebApp } from "../host/http/web-app.ts";
import { type DecidedIsolation, decideIsolation } from "../host/isolation.ts";
import { listAddresses, localModels } from "../host/models.ts";
import { toDisplayPath } from "../host/paths.ts";
import { firstFreePort, throwPortProblem } from "../host/ports.ts";
import { checkTools } from "../host/preflight.ts";
import { findFileWarnings } from "../host/provider-file.ts";
import { findRunningServers, offerServers } from "../host/running-servers.ts";
import { Problem, say, seconds, step, warn } from "../host/terminal.ts";
import { describeMissingModels, findMissingModels } from "../known-models.ts";
import type { Server } from "../server.ts";
import { readSignInIssuer } from "../sign-in-issuer.ts";
import { checkSwitches } from "../switches.ts";
import { isDetached, reportReady, startDetached } from "./detach.ts";
import { createStartLink, requestLink } from "./links.ts";
import { findLastPort, readLocalState, type ServePaths, saveLocalState, servePaths } from "./local-state.ts";
import { parseOptions, type ServeOptions, serveHelp } from "./options.ts";
import type { Program } from "./program.ts";
import { RotatingLog } from "./rotating-log.ts";
import { runSample } from "./sample.ts";
import { findProcess, forgetProcess, recordProcess } from "./service-process.ts";
import { abortOnSignals } from "./stop-signals.ts";
import { printSummary } from "./summary.ts";

/** Serves the API on this machine until it is stopped. `commands` lists the other commands, for the help text. */
export async function serveCommand(args: readonly string[], program: Program, commands: string): Promise<number> {
  const options = parseOptions(args, program.isService);
  if (options === undefined) {
    say(serveHelp(program, commands));
    return 0;
  }
  checkSwitches(process.env);
  const stop = abortOnSignals();
  const paths = servePaths(program.home, options.data);
  return options.detach
    ? serveDetached({ options, paths, program }, args, stop)
    : serve({ options, paths, program }, stop);
}

/** Several services that start at the same moment can take each other's ports a few times. */
const MAX_PORT_ATTEMPTS = 10;

interface Start {
  readonly options: ServeOptions;
  readonly paths: ServePaths;
  readonly program: Program;
}

async function serve(start: Start, stop: AbortSignal): Promise<number> {
  const { options, paths, program } = start;
  const began = performance.now();
  await throwIfRunning(paths);
  const host = { platform: process.platform, searchPath: process.env["PATH"] ?? "" };
  for (const line of await checkTools(host)) warn(line);
  for (const line of findFileWarnings(paths.data, process.env)) warn(line);
  // Looked for while the service starts.
  const servers = findRunningServers();
  const log = openLog(paths);
  setLogOutput((line) => log.write(line));
  const isolating = decide(start);
  // It is awaited later; until then a failure must not end the process.
  void isolating.catch(() => undefined);
  const { localUrl, ...started } = await startServing(start, log);
  const { server } = started;
  // The API does not wait for the web app, which is built only if its sources have changed since `npm ci`.
  if (!program.isService) void ensureWebApp().catch((error: unknown) => warn(String(error)));
  try {
    const decided = await isolating;
    await server.execute(decided);
    const state = await saveLocalState(paths.localFile, started);
    const { concurrency, maxDiskBytes } = options;
    const limit = maxDiskBytes === undefined ? {} : { max_disk_bytes: maxDiskBytes };
    await recordProcess(paths.data, { local_url: localUrl, isolation: decided.isolation, concurrency, ...limit });
    say(`  ready after ${seconds(performance.now() - began)}`);
    for (const line of describeMissingModels(findMissingModels(paths.data))) warn(line);
    for (const line of offerServers(await servers, listAddresses(process.env, paths.data))) say(`  ${line}`);
    if (isDetached()) reportReady();
    else {
      const link = process.stdout.isTTY === true ? await createStartLink(state, server.ports) : undefined;
      printSummary(state, toDisplayPath(paths.localFile), link, program);
    }
    const succeeded = !options.sample || (await runSample(options, program, state, stop));
    if (options.once || stop.aborted) return stop.aborted ? 130 : succeeded ? 0 : 1;
    if (!isDetached()) say("Ctrl-C stops it.");
    await aborted(stop);
    say();
    say("Stopping …");
    return 0;
  } finally {
    await server.stop();
    await forgetProcess(paths.data);
    log.flush();
  }
}

/** Starts the server in the background. The sample run is executed here, where its output is read. */
async function serveDetached(start: Start, args: readonly string[], stop: AbortSignal): Promise<number> {
  const { options, paths, program } = start;
  await throwIfRunning(paths);
  // Reports a directory that cannot be written here, where it is read.
  openLog(paths).flush();
  const childArgs = args.filter((arg) => !["--detach", "--sample", "--no-sample"].includes(arg));
  const sample = program.isService ? [] : ["--no-sample"];
  if (!(await startDetached([...childArgs, ...sample], paths.consoleLog, stop))) return stop.aborted ? 130 : 1;
  const state = await readLocalState(paths.localFile);
  // The summary names the default model, which the settings decide.
  Object.assign(process.env, localModels(process.env, paths.data).variables);
  for (const line of describeMissingModels(findMissingModels(paths.data))) warn(line);
  if (state === undefined) throw new Problem(`The service has not written ${toDisplayPath(paths.localFile)}.`);
  printSummary(state, toDisplayPath(paths.localFile), await requestLink(state), program);
  const succeeded = !options.sample || (await runSample(options, program, state, stop));
  say(`Runyard serves in the background as process ${state.pid}. Its log is ${toDisplayPath(paths.log)}.`);
  say(`Show its state: ${program.usage} status${dataArgument(options)}`);
  say(`Stop it:        ${program.usage} stop${dataArgument(options)}`);
  return succeeded ? 0 : 1;
}

const dataArgument = ({ data }: ServeOptions): string => (data === undefined ? "" : ` --data ${data}`);

async function startServing(
  { options, paths }: Start,
  log: RotatingLog,
): Promise<{ server: Server; webUrl: string; localUrl: string; port: number }> {
  const { host, concurrency, maxDiskBytes } = options;
  const last = await readLocalState(paths.localFile);
  const preferredPort = options.port ?? findLastPort(last);
  // Loading the server takes most of the time of a start, unless its compiled code is cached.
  enableCompileCache(path.join(paths.data, "cache"));
  const { localUrl, startServer } = await import("../server.ts");
  const { DatabaseInUse } = await import("../database/sqlite-errors.ts");
  const print = (line: string) => log.write(`${line}\n`);
  const environment = toEnvironment(options);
  // Reported before the database is opened.
  readSignInIssuer(environment);
  const common = { directory: paths.data, host, concurrency, maxDiskBytes, environment, print };
  const startOn = (port: number) =>
    step("server", async (note) => {
      const webUrl = options.url ?? localUrl(host, port);
      note(`${webUrl}, up to ${concurrency} runs at the same time`);
      const server = await startServer({ ...common, port, webUrl, publicUrl: options.url });
      return { server, webUrl, localUrl: localUrl(host, port), port };
    });
  try {
    const started = await (options.port === undefined
      ? startOnFreePort(preferredPort, host, startOn)
      : startOn(preferredPort).catch((error: unknown) => throwPortProblem(error, preferredPort, host)));
    if (started.port !== preferredPort) warn(`Port ${preferredPort} is busy: ${started.port} is used instead.`);
    if (!isLoopbackHost(host) && options.url === undefined) {
      warn("Links and file URLs work on this machine only: --url names the address that other machines use.");
    }
    return started;
  } catch (error) {
    if (!(error instanceof DatabaseInUse)) throw error;
    throw new Problem(`Runyard is already running on ${toDisplayPath(paths.data)}.`);
  }
}

/** Starts on the first free port from `wanted` upwards. */
async function startOnFreePort<T>(wanted: number, host: string, startOn: (port: number) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await startOn(await firstFreePort(wanted, host));
    } catch (error) {
      // Another program has taken the port between the check and the start.
      if (!isAddressInUse(error) || attempt === MAX_PORT_ATTEMPTS) throw error;
    }
  }
}

const toEnvironment = ({ oidcIssuer, oidcClientId }: ServeOptions): NodeJS.ProcessEnv => ({
  ...process.env,
  ...(oidcIssuer === undefined ? {} : { RUNYARD_OIDC_ISSUER: oidcIssuer }),
  ...(oidcClientId === undefined ? {} : { RUNYARD_OIDC_CLIENT_ID: oidcClientId }),
});

const isAddressInUse = (error: unknown): boolean =>
  error instanceof Error && "code" in error && error.code === "EADDRINUSE";

function openLog({ data, log }: ServePaths): RotatingLog {
  try {
    return new RotatingLog(log);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Problem(`The data directory ${toDisplayPath(data)} cannot be written: ${reason}.`, [
      "Choose another directory with --data, or change who may write to this one.",
    ]);
  }
}

async function throwIfRunning({ data }: ServePaths): Promise<void> {
  const found = await findProcess(data);
  if (found === undefined || !found.isRunning) return;
  const { process, local_url } = found.service;
  throw new Problem(
    `Runyard is already running on ${toDisplayPath(data)} at ${local_url}: stop process ${process.pid} first.`,
  );
}

/** Decides what isolates the commands of runs. A service, or a server for other machines, must isolate them unless configured otherwise. */
async function decide({ options: { host, sandbox }, program }: Start): Promise<DecidedIsolation> {
  const decided = await decideIsolation(sandbox ? process.env["RUNYARD_SANDBOX"] : "none");
  if (decided.isolation !== "none" || !sandbox) return decided;
  const remedy =
    "Install bubblewrap, or use --no-sandbox if everybody who has a key may run commands as the user of the server.";
  if (!isLoopbackHost(host)) {
    throw new Problem(`Runs are not executed for other machines (--host ${host}) without isolation.`, [remedy]);
  }
  if (program.isService) throw new Problem("A service does not execute runs without isolation.", [remedy]);
  return decided;
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
