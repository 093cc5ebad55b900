import type { Redactor } from "../redaction/redactor.ts";

export type LogLevel = "debug" | "info" | "warn" | "error";

/** Writes one JSON line per entry. */
export type Log = (level: LogLevel, message: string, details?: Record<string, unknown>) => void;

/** A log to standard output; everything that it writes is redacted first. */
export function createLog(redactor: Redactor, context: Record<string, string>): Log {
  return (level, message, details = {}) => {
    const entry = { timestamp: new Date().toISOString(), level, message, ...context, ...details };
    process.stdout.write(`${JSON.stringify(redactor.json(entry))}\n`);
  };
}
