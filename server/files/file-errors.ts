import { RunyardError } from "#shared/errors.ts";

const FULL = "the server's disk is full";
const NOT_WRITABLE = "the server cannot read or write its data directory";
const DETAILS: Readonly<Record<string, string>> = {
  ENOSPC: FULL,
  EDQUOT: FULL,
  EROFS: NOT_WRITABLE,
  EACCES: NOT_WRITABLE,
  EPERM: NOT_WRITABLE,
  EIO: NOT_WRITABLE,
};

/** Runs `work`, and converts errors of the file system to errors that callers of the API may see. */
export async function withServiceErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    const detail = DETAILS[code];
    throw detail === undefined ? error : new RunyardError("resource_unavailable", { detail, cause: error });
  }
}
