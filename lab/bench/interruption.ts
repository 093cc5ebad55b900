type Cleanup = () => PromiseLike<unknown>;

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
/** The exit code of a program that Ctrl-C ended. */
const INTERRUPTED_CODE = 130;

/** What to undo when the benchmark is interrupted, in the order of its set-up. */
const cleanups: Cleanup[] = [];
let isInterrupted = false;

/** Calls `cleanup` if the benchmark is interrupted, after those that were added later. Returns a function that cancels this. */
export function onInterrupt(cleanup: Cleanup): () => void {
  if (cleanups.length === 0) for (const signal of SIGNALS) process.on(signal, interrupt);
  cleanups.push(cleanup);
  return () => {
    const index = cleanups.indexOf(cleanup);
    if (index === -1) return;
    cleanups.splice(index, 1);
    if (cleanups.length === 0) for (const signal of SIGNALS) process.off(signal, interrupt);
  };
}

/** Undoes everything and ends the process. Further signals do not shorten that: each cleanup has a time limit of its own. */
function interrupt(): void {
  if (isInterrupted) return;
  isInterrupted = true;
  // The benchmark itself fails when its server stops, which is expected.
  process.on("uncaughtException", () => undefined);
  void cleanUp().finally(() => process.exit(INTERRUPTED_CODE));
}

async function cleanUp(): Promise<void> {
  for (const cleanup of cleanups.toReversed()) await cleanup().then(undefined, () => undefined);
}
