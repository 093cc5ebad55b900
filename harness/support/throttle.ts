/**
 * Work that is to be done every so often, by whoever comes by when it is due: nothing happens in between, and nothing by itself.
 * The time is counted from the end of the work before.
 */
export function throttle(
  work: () => Promise<void>,
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
