import type { Failure } from "./found-skills.ts";

/** Why the skills of a repository could not be read. */
export class DiscoveryFailure extends Error {
  readonly failure: Failure;

  /** `limited`: a try before `retryAt`, in milliseconds, would count against us. */
  constructor(code: Failure["code"], message: string, retryAt: number, limited = false) {
    super(message);
    this.name = "DiscoveryFailure";
    this.failure = { code, message, retry_at: retryAt, limited };
  }
}
