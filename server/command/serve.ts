import { enableCompileCache } from "node:module";
import path from "node:path";
import { setLogOutput } from "#shared/log/log.ts";
import { isLoopbackHost } from "../../host/http/request-checks.ts";
import { decideIsolation } from "../../host/isolation.ts";
import { localPaths, shown } from "../../host/paths.ts";
import { firstFreePort } from "../../host/ports.ts";
import { checkTools } from "../../host/preflight.ts";
import { complain, Problem, red, say, seconds, step, warn } from "../../host/terminal.ts";
import type { Server } from "../server.ts";
import { createStartLink, printNewLink } from "./links.ts";
import { readLocalState, type ServePaths, saveLocalState, servePaths } from "./local-state.ts";
import { HELP, parseOptions, type ServeOptions, UsageError } from "./options.ts";
import { RotatingLog } from "./rotating-log.ts";
import { abortOnSignals } from "./stop-signals.ts";
import { printSummary } from "./summary.ts";

const DEFAULT_PORT = 4500;

/** `npm start`: serves the API on this machine until it is stopped. Returns the exit code. */
async function main(args: readonly string[]): Promise<number> {
  try {
    const options = parseOptions(args);
    if (options?.link) return await printNewLink(servePaths(localPaths(process.env).home, options.data));
    if (options !== undefined) return await serve(options, abortOnSignals());
    say(HELP);
    return 0;
  } catch (error) {
    if (error instanceof UsageError) {
      complain(`${error.message}\n\n${HELP}`);
      return 2;
    }
    report(error);
    return 1;
  }
}

async function serve(options: ServeOptions, stop: AbortSignal): Promise<number> {
  const began = performance.now();
  const host = { platform: process.platform, searchPath: process.env["PATH"] ?? "" };
  for (const line of await checkTools(host)) warn(line);
  const paths = servePaths(localPaths(process.env).home, options.data);
  const log = new RotatingLog(paths.log);
  setLogOutput((line) => log.write(line));
  const isolating = decide(options);
  // It is awaited later; until then a failure must not end the process.
  isolating.catch(() => undefined);
  const { server, webUrl } = await start(options, paths, log);
  try {
    await server.execute(await isolating);
    const state = await saveLocalState(paths.localFile, webUrl, server.ports);
    say(`  ready after ${seconds(performance.now() - began)}`);
    printSummary(state, shown(paths.localFile), await createStartLink(state, server.ports));
    const succeeded =
      !options.sample || (await runSample(options, { baseUrl: state.base_url, key: state.api_key }, stop));
    if (options.once || stop.aborted) return stop.aborted ? 130 : succeeded ? 0 : 1;
    say("Ctrl-C stops it.");
    await aborted(stop);
    say();
    say("Stopping …");
    return 0;
  } finally {
    await server.stop();
    log.flush();
  }
}

async function start(
  options: ServeOptions,
  paths: ServePaths,
  log: RotatingLog,
): Promise<{ server: Server; webUrl: string }> {
  const { host, concurrency } = options;
  const last = await readLocalState(paths.localFile);
  const wanted = options.port ?? (Number(URL.parse(last?.web_url ?? "")?.port) || DEFAULT_PORT);
  // Loading the server takes most of the time of a start, unless its compiled code is cached.
  enableCompileCache(path.join(paths.data, "cache"));
  const { localUrl, startServer } = await import("../server.ts");
  const { DatabaseInUse } = await import("../database/sqlite-errors.ts");
  const port = await firstFreePort(wanted, host);
  const webUrl = options.url ?? localUrl(host, port);
  const print = (line: string) => log.write(`${line}\n`);
  const starting = { directory: paths.data, host, port, webUrl, concurrency, environment: process.env, print };
  try {
    const server = await step("server", async (note) => {
      note(`${webUrl}, up to ${concurrency} runs at the same time`);
      return startServer(starting);
    });
    if (port !== wanted) warn(`Port ${wanted} is busy: ${port} is used instead.`);
    if (!isLoopbackHost(host) && options.url === undefined) {
      warn("Links and file URLs work on this machine only: --url names the address that other machines use.");
    }
    return { server, webUrl };
  } catch (error) {
    if (!(error instanceof DatabaseInUse)) throw error;
    const where = last === undefined ? "" : ` at ${last.base_url}: stop process ${last.pid} first`;
    throw new Problem(`Runyard is already running on ${shown(paths.data)}${where}.`);
  }
}

/** Decides what isolates the commands of runs. Other machines may only use a server that isolates them, unless it was told not to. */
async function decide({ host, sandbox }: ServeOptions): Promise<string> {
  const isolation = await decideIsolation(sandbox ? process.env["RUNYARD_SANDBOX"] : "none");
  if (isolation === "none" && sandbox && !isLoopbackHost(host)) {
    throw new Problem(`Runs are not executed for other machines (--host ${host}) without isolation.`, [
      "Install bubblewrap, or use --no-sandbox if everybody who can reach this address may run commands as this user.",
    ]);
  }
  return isolation;
}

async function runSample(
  { repo, runTests }: ServeOptions,
  api: { readonly baseUrl: string; readonly key: string },
  signal: AbortSignal,
): Promise<boolean> {
  const { sampleSource } = await import("../../host/sample/sample-repository.ts");
  const { sampleRun } = await import("../../host/sample/sample-run.ts");
  try {
    const succeeded = await sampleRun({ ...api, signal }, await sampleSource(localPaths(process.env), repo), runTests);
    say();
    return succeeded;
  } catch (error) {
    if (!signal.aborted) report(error);
    return false;
  }
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });

function report(error: unknown): void {
  if (error instanceof Problem) {
    complain(red(error.message));
    for (const detail of error.details) complain(`  ${detail}`);
  } else {
    complain(red(error instanceof Error ? error.message : String(error)));
    if (error instanceof Error && error.name === "Error" && error.stack !== undefined) complain(error.stack);
  }
}

if (import.meta.main) process.exitCode = await main(process.argv.slice(2));
