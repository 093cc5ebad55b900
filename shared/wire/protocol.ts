/** The version of the harness protocol. An older harness receives 426, and its run is dispatched again. */
export const HARNESS_PROTOCOL = 1;
