/**
 * Returns a function that does the work at most once per interval. Calls in between do nothing, and no timer runs. The interval
 * starts when the previous work ends.
 */
export function throttle(
  work: () => Promise<unknown>,
  everyMs: number,
  now: () => number = Date.now,
): () => Promise<void> {
  let doneAt = now();
  return async () => {
    if (now() - doneAt < everyMs) return;
    await work();
    doneAt = now();
  };
}
