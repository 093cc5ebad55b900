import { hostname } from "node:os";

type Level = "info" | "warn" | "error";

let writeLine = (line: string): void => void process.stdout.write(line);

/** Sends the log elsewhere; for a process whose standard output is for people. */
export function setLogOutput(write: (line: string) => void): void {
  writeLine = write;
}

/**
 * One JSON line on standard output, where Lambda takes its log from. Never give it a header, a body or a prompt. A
 * logging library would add a third to a function's size without the SDK.
 */
export function logLine(level: Level, message: string, fields: Readonly<Record<string, unknown>> = {}): void {
  const line = { level, message, timestamp: new Date().toISOString(), service: serviceName(), ...fields };
  writeLine(
    `${JSON.stringify(line, (_, value: unknown) => (value instanceof Error ? describeError(value) : value))}\n`,
  );
}

/** Redacts a request's path for the log: the token of an invitation is enough to accept it. */
export const loggedPath = (path: string): string => path.replace(/(\/invitations\/)[^/]+/, "$1***");

const serviceName = (): string => process.env["AWS_LAMBDA_FUNCTION_NAME"] ?? hostname();

function describeError(error: Error): Record<string, unknown> {
  const { name, message, stack, cause } = error;
  return {
    name,
    message,
    stack,
    ...(cause === undefined ? {} : { cause: cause instanceof Error ? cause.message : cause }),
  };
}
