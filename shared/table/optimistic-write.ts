import { retryableConflict } from "#shared/errors.ts";
import { ConditionFailed } from "./table.ts";
import { ConflictError } from "./transact.ts";

interface RetryOptions {
  /** Whether an error says that others have changed what was read. @default a ConflictError, or a ConditionFailed of a single write */
  readonly isConflict?: (error: unknown) => boolean;
  /** @default 8 */
  readonly maxAttempts?: number;
}

/**
 * Calls `attempt`, which reads, decides and writes on the condition that nothing has changed since, and calls it again after a conflict.
 * @param changed what others change, as the error names it: "the webhook is"
 * @throws RunyardError 409, retryable, after the last attempt
 */
export async function retryOnConflict<T>(
  changed: string,
  attempt: () => Promise<T>,
  { isConflict = isChanged, maxAttempts = 8 }: RetryOptions = {},
): Promise<T> {
  for (let attempts = 0; attempts < maxAttempts; attempts++) {
    try {
      return await attempt();
    } catch (error) {
      if (!isConflict(error)) throw error;
    }
  }
  throw retryableConflict(`${changed} changed by other requests; send the request again`);
}

const isChanged = (error: unknown): boolean => error instanceof ConflictError || error instanceof ConditionFailed;
