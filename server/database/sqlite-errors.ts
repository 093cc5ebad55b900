import { RunyardError } from "#shared/errors.ts";

/** Primary result codes of SQLite (https://www.sqlite.org/rescode.html). */
const CODES = { busy: 5, readOnly: 8, ioError: 10, corrupt: 11, full: 13, cannotOpen: 14, notDatabase: 26 } as const;
type Reason = keyof typeof CODES;

/** The details that callers of the API see. */
const DETAILS: Partial<Record<Reason, string>> = {
  readOnly: "the server cannot write to its data directory",
  ioError: "the server cannot read or write its data directory",
  full: "the server's disk is full, or its data has reached the configured size limit",
};

/** The database cannot be opened or used; the message says what to do. */
export class DatabaseError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = "DatabaseError";
  }
}

/** Another process has the database open. */
export class DatabaseInUse extends DatabaseError {
  constructor(file: string, cause?: unknown) {
    super(`Another Runyard process uses ${file}. Stop it, or start this one with another data directory.`, cause);
    this.name = "DatabaseInUse";
  }
}

/** Classifies an SQLite error; undefined for any other error. */
export function sqliteReason(error: unknown): Reason | "other" | undefined {
  if (!(error instanceof Error) || !("errcode" in error) || typeof error.errcode !== "number") return undefined;
  const primary = error.errcode & 0xff;
  const known = Object.entries(CODES).find(([, code]) => code === primary)?.[0];
  return isReason(known) ? known : "other";
}

/** Converts SQLite errors to errors that callers of the API may see. Returns other errors unchanged. */
export function toServiceError(error: unknown): unknown {
  const reason = sqliteReason(error);
  const detail = reason === undefined || reason === "other" ? undefined : DETAILS[reason];
  return detail === undefined ? error : new RunyardError("resource_unavailable", { detail, cause: error });
}

/** Converts an error at startup to one that says how to resolve it. */
export function toOpenError(error: unknown, file: string): unknown {
  const reason = sqliteReason(error);
  if (reason === "full")
    return new DatabaseError(`The disk of ${file} is full. Free some space and start again.`, error);
  if (reason === "corrupt" || reason === "notDatabase") {
    return new DatabaseError(`${file} is damaged or is not a database of Runyard. Restore it from a backup.`, error);
  }
  if (reason === "readOnly" || reason === "cannotOpen" || reason === "ioError" || isFileError(error)) {
    return new DatabaseError(
      `${file} cannot be written. Check that its directory exists and who may write to it.`,
      error,
    );
  }
  return error;
}

const isReason = (text: string | undefined): text is Reason => text !== undefined && text in CODES;

const isFileError = (error: unknown): boolean => error instanceof Error && "syscall" in error;
