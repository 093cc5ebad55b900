const RETRY_MS = 3000;

/**
 * Loads a part of the app, again and again where it cannot be loaded: what waits for it shows its stand-in meanwhile, where an error
 * would take the place of the whole page.
 */
export async function untilLoaded<T>(load: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await load();
    } catch {
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }
}
