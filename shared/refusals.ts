import { RunyardError } from "#shared/errors.ts";

/** Makes a check of a request, which throws what it refuses. */
export type RequestCheck = (check: () => void) => void;

/** Ends the request at the first refusal. */
export const refuseAtOnce: RequestCheck = (check) => check();

/** Collects refusals, each once, and lets the checks after them run as well. */
export function collectRefusals() {
  const refusals: RunyardError[] = [];
  const add = (error: unknown): undefined => {
    // Errors of the service, and of the code, are no refusals.
    if (!(error instanceof RunyardError) || error.status >= 500) throw error;
    // Some checks run again after the defaults were filled in.
    if (!refusals.some(({ message }) => message === error.message)) refusals.push(error);
  };
  const check: RequestCheck = (run) => {
    try {
      run();
    } catch (error) {
      add(error);
    }
  };
  return { refusals, add, check };
}
