/** The longest delay of a timer. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Calls a function at a time, in milliseconds since the epoch. The returned function cancels it. */
export function callAt(time: number, call: () => void): () => void {
  if (!Number.isFinite(time)) return () => {};
  const timer = setTimeout(call, Math.min(MAX_TIMER_MS, Math.max(0, Math.ceil(time - Date.now()))));
  return () => clearTimeout(timer);
}

/** Creates a signal that aborts at a time, in milliseconds since the epoch. */
export function createSignalAt(time: number): AbortSignal {
  if (!Number.isFinite(time)) return new AbortController().signal;
  return AbortSignal.timeout(Math.min(MAX_TIMER_MS, Math.max(0, Math.floor(time - Date.now()))));
}
