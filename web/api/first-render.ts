/** After this time, the page shows that it is loading. */
const MAX_WAIT_MS = 500;

let isRendered = false;

/** Called at the first render. */
export function endFirstRender(): void {
  isRendered = true;
}

/**
 * Delays the first render until what the opened page shows has been read, so that it is rendered once. Pages that are opened later
 * show at once that they are loading.
 */
export async function readBeforeFirstRender(read: () => Promise<unknown>): Promise<void> {
  if (isRendered) return;
  await Promise.race([read(), new Promise((resolve) => setTimeout(resolve, MAX_WAIT_MS))]);
}
