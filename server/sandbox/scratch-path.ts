import path from "node:path";

/** The longest data directory with which the path of a socket in a scratch directory has fewer than 104 bytes, the limit of macOS. */
const MAX_BYTES = 36;

/**
 * Where the temporary directories of executions are: in the data directory, which no other user can access. Undefined if its path is too
 * long for the sockets in it; then it is the temporary directory of the system.
 */
export const scratchPath = (directory: string): string | undefined =>
  Buffer.byteLength(directory) <= MAX_BYTES ? path.join(directory, "scratch") : undefined;
