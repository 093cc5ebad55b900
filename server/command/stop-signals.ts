/** A second signal that comes later than this is not an echo of the first. */
const ECHO_MS = 1_500;
const PARENT_CHECK_MS = 1_000;

/** The first signal aborts; a second one ends the process at once. */
export function abortOnSignals(): AbortSignal {
  const controller = new AbortController();
  let askedAt = 0;
  const requestStop = (): void => {
    if (!controller.signal.aborted) {
      askedAt = Date.now();
      controller.abort();
    } else if (Date.now() - askedAt > ECHO_MS) {
      process.exit(130);
    }
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, requestStop);
  // npm ends the shell between itself and this process, and the shell does not pass the signal on.
  const parent = process.ppid;
  if (process.env["npm_lifecycle_event"] !== undefined) {
    setInterval(() => {
      if (process.ppid !== parent && !controller.signal.aborted) requestStop();
    }, PARENT_CHECK_MS).unref();
  }
  return controller.signal;
}
