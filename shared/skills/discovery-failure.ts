import type { Failure } from "./skill-store.ts";

/** Why the skills of a repository could not be read. */
export class DiscoveryFailure extends Error {
  readonly failure: Failure;

  /** `retryAt` is in milliseconds; `limited` is true if the host counts requests before then against the deployment. */
  constructor(code: Failure["code"], message: string, retryAt: number, limited = false) {
    super(message);
    this.name = "DiscoveryFailure";
    this.failure = { code, message, retry_at: retryAt, limited };
  }
}
