/** The version of the harness protocol. An older harness receives 426, and its run is dispatched again. */
export const HARNESS_PROTOCOL = 1;

/** The header in which the model gateway states the context window of the model in tokens, if it is known. */
export const CONTEXT_TOKENS_HEADER = "runyard-context-tokens";

/** The header in which the model gateway states what is left of the limits of the run, once that is little. */
export const REMAINING_HEADER = "runyard-remaining";
