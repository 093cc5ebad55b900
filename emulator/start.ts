import { localPaths, toDisplayPath } from "../server/host/paths.ts";
import { sampleSource } from "../server/host/sample/sample-repository.ts";
import { sampleRun } from "../server/host/sample/sample-run.ts";
import { complain, Problem, red, say, seconds } from "../server/host/terminal.ts";
import { LocalCloudSession } from "./local-cloud.ts";
import { HELP, parseOptions, type StartOptions } from "./options.ts";
import { printSummary } from "./summary.ts";

/** `npm run emulator`: starts the local cloud, executes the sample run, and serves until it is stopped. */
async function main(args: string[]): Promise<number> {
  const parsed = parseOptions(args);
  if (parsed.kind === "help") {
    say(HELP);
    return 0;
  }
  if (parsed.kind === "wrong") {
    complain(`${parsed.why}\n\n${HELP}`);
    return 2;
  }
  const paths = localPaths(process.env);
  const session = new LocalCloudSession(paths);
  const stop = stopOnSignals(session);
  try {
    return await serve(session, parsed.options, stop);
  } catch (error) {
    if (stop.signal.aborted) return 130;
    reportFailure(error, toDisplayPath(paths.logs));
    return 1;
  } finally {
    await session.stop();
  }
}

async function serve(session: LocalCloudSession, options: StartOptions, stop: AbortController): Promise<number> {
  const paths = localPaths(process.env);
  const began = performance.now();
  const python = await session.prepare(options.fresh);
  const source = await sampleSource(paths, options.repo);
  const { port, faults } = options;
  const cloud = await session.start({ python, port, faults, signal: stop.signal });
  say(`  ready after ${seconds(performance.now() - began)}`);
  const succeeded = await sampleRun({ ...cloud.api, signal: stop.signal }, source, options.runTests);
  printSummary(cloud, toDisplayPath(paths.localFile));
  if (options.once) return succeeded ? 0 : 1;
  say("Ctrl-C stops it.");
  const reason = await Promise.race([aborted(stop.signal).then(() => "asked"), cloud.lost.then(() => "lost")]);
  if (reason === "lost")
    throw new Problem(`The emulator has ended by itself; its log is in ${toDisplayPath(paths.logs)}.`);
  say();
  say("Stopping …");
  return 0;
}

/** The first signal requests a clean stop; a second one, if it is not an echo of the first, exits at once. */
function stopOnSignals(session: LocalCloudSession): AbortController {
  const controller = new AbortController();
  let askedAt = 0;
  const requestStop = (): void => {
    if (!controller.signal.aborted) {
      askedAt = Date.now();
      controller.abort();
    } else if (Date.now() - askedAt > 1500) {
      session.abandon();
      process.exit(130);
    }
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, requestStop);
  // npm ends the shell between itself and this program, and the shell does not pass the signal on.
  const parent = process.ppid;
  if (process.env["npm_lifecycle_event"] !== undefined) {
    setInterval(() => {
      if (process.ppid !== parent && !controller.signal.aborted) requestStop();
    }, 1000).unref();
  }
  return controller;
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });

function reportFailure(error: unknown, logs: string): void {
  say();
  if (error instanceof Problem) {
    complain(red(error.message));
    for (const detail of error.details) complain(`  ${detail}`);
    return;
  }
  complain(error instanceof Error ? (error.stack ?? error.message) : String(error));
  complain(`This should not have happened; the logs are in ${logs}.`);
}

if (import.meta.main) process.exitCode = await main(process.argv.slice(2));
