/** The longest delay of a timer. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Calls a function at a time, in milliseconds since the epoch, and never before it. The returned function cancels the call. */
export function callAt(time: number, call: () => void): () => void {
  if (!Number.isFinite(time)) return () => {};
  let timer: NodeJS.Timeout;
  const wait = () => {
    timer = setTimeout(callIfDue, Math.min(MAX_TIMER_MS, Math.max(0, Math.ceil(time - Date.now()))));
  };
  // Timers have a clock of their own, and can end a millisecond before the time.
  const callIfDue = () => (Date.now() < time ? wait() : call());
  wait();
  return () => clearTimeout(timer);
}

/** Creates a signal that aborts at a time, in milliseconds since the epoch. */
export function createSignalAt(time: number): AbortSignal {
  if (!Number.isFinite(time)) return new AbortController().signal;
  return AbortSignal.timeout(Math.min(MAX_TIMER_MS, Math.max(0, Math.floor(time - Date.now()))));
}
