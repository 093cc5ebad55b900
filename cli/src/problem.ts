import { APIConnectionError, APIError, APITimeoutError, RunyardError } from "../../clients/typescript/src/index.ts";
import { EXIT } from "./exit-code.ts";
import { oneLine, printable } from "./terminal-text.ts";

/** An error that the user can fix: printed without a stack trace. */
export class Problem extends Error {
  readonly exitCode: number;
  /** How to fix it. */
  readonly remedy: string | undefined;

  constructor(message: string, { exitCode = EXIT.failed, remedy }: { exitCode?: number; remedy?: string } = {}) {
    super(message);
    this.exitCode = exitCode;
    this.remedy = remedy;
  }
}

/** Creates the error for an invalid command line. */
export const usage = (message: string, remedy?: string): Problem =>
  new Problem(message, { exitCode: EXIT.usage, ...(remedy === undefined ? {} : { remedy }) });

/** What a failure is called on the terminal, and the exit code it stands for. */
export interface Explanation {
  readonly lines: readonly string[];
  readonly exitCode: number;
}

/** Describes what went wrong and how to fix it; `connection` is where the request went and where its key came from. */
export function explain(error: unknown, connection?: { baseURL: string; from: string }): Explanation {
  if (error instanceof Problem) return { lines: withRemedy([error.message], error.remedy), exitCode: error.exitCode };
  if (error instanceof APIConnectionError) {
    const late = error instanceof APITimeoutError;
    const remedy = late
      ? "The service may be busy. Try again."
      : `Check that the service is running and the base URL is right${connection ? `: ${connection.baseURL}` : "."}`;
    return { lines: withRemedy([error.message], remedy), exitCode: EXIT.service };
  }
  if (error instanceof APIError) {
    return { lines: withRemedy(describeResponse(error), findRemedy(error, connection?.from)), exitCode: EXIT.service };
  }
  if (error instanceof RunyardError) return { lines: [error.message], exitCode: EXIT.usage };
  return { lines: [error instanceof Error ? error.message : String(error)], exitCode: EXIT.failed };
}

const withRemedy = (lines: readonly string[], remedy: string | undefined): string[] => [
  ...lines.map(printable),
  ...(remedy === undefined ? [] : [remedy]),
];

/** Describes an error response, with the invalid fields and the request id for the logs. */
export function describeResponse(error: APIError): string[] {
  const what = oneLine(error.title === undefined ? error.message : `${error.title} (${error.status})`);
  const fields = error.errors.filter(({ message }) => !error.detail?.includes(message));
  return [
    error.detail === undefined ? what : `${what}: ${oneLine(error.detail)}`,
    ...fields.map(({ path, message }) => `  ${oneLine(path)}: ${oneLine(message)}`),
    ...(error.traceId === undefined ? [] : [`  trace id: ${oneLine(error.traceId)}`]),
  ];
}

function findRemedy(error: APIError, keyFrom = ""): string | undefined {
  if (error.detail?.includes("X-Team-Uid")) return "Choose a team with --team; `runyard whoami` lists yours.";
  switch (error.status) {
    case 401:
      return `The key${keyFrom === "" ? "" : ` ${keyFrom}`} is invalid or expired. \`runyard login\` stores another${
        keyFrom.includes("RUNYARD_API_KEY") ? ", once the variable is unset" : ""
      }.`;
    case 403:
      return "This key lacks the permission. `runyard whoami` shows its owner; only personal keys can manage resources.";
    case 404:
      return "Check the id, and that the key belongs to the right team. The `list` commands show what exists.";
    case 413:
      return "Attach long texts as files: `runyard run --attach`.";
    case 422:
      return error.detail?.includes("force=true") ? "Cancel it with `runyard runs cancel --force`." : undefined;
    case 429:
      return "Too many requests, or the queue is full. Try again in a moment.";
    default:
      return error.retryable === true ? "Try again." : undefined;
  }
}
