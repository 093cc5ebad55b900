import { logLine } from "#shared/log/log.ts";

/**
 * Calls a function now and at each interval, unless the previous call is still in progress. Its errors are logged.
 * @param name the verb and its object, for the log
 * @returns a function that ends the calls
 */
export function repeat(name: string, milliseconds: number, work: () => Promise<unknown>): () => void {
  let isBusy = false;
  const once = async (): Promise<void> => {
    if (isBusy) return;
    isBusy = true;
    try {
      await work();
    } catch (error) {
      logLine("error", `could not ${name}`, { error });
    } finally {
      isBusy = false;
    }
  };
  void once();
  const timer = setInterval(once, milliseconds).unref();
  return () => clearInterval(timer);
}
