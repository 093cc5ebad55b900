/** The protocol a harness speaks; an older one is answered 426 and its run dispatched anew. */
export const HARNESS_PROTOCOL = 1;
