import * as v from "valibot";
import { Positive, textOfBytes } from "../primitives.ts";
import { ApprovalCall } from "./approval.ts";

/** A request to end the current turn. Each number is new and higher than those before it. */
export const Interrupt = v.object({
  /** The number of the interrupt, higher than those before it. */
  number: Positive,
  /** The name of the person or identity that interrupted. */
  by: v.string(),
});
export type Interrupt = v.InferOutput<typeof Interrupt>;

/** The error codes of failures that the caller or the agent caused. */
const FINISH_ERROR_CODES = [
  "invalid_request",
  "environment_setup_failed",
  "operation_not_supported",
  "external_authentication_required",
] as const;

/** How the agent's turn ended. */
export const TurnOutcome = v.object({
  /** Whether the task succeeded. */
  success: v.boolean(),
  /** The result, or with `blocked` the agent's question. */
  summary: textOfBytes(65_536),
  /** The error code of a failed run. */
  error_code: v.exactOptional(v.picklist(FINISH_ERROR_CODES)),
  /**
   * Whether the agent waits for an answer to the question in `summary`. The run becomes `BLOCKED` until a follow-up.
   */
  blocked: v.exactOptional(v.boolean()),
  /** The number of the interrupt that ended the turn. */
  interrupt: v.exactOptional(Positive),
  /** The call that waits for an approval. The run becomes `BLOCKED` until a person decides. */
  approval: v.exactOptional(ApprovalCall),
});
export type TurnOutcome = v.InferOutput<typeof TurnOutcome>;
