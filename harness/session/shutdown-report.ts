import { formatError, Stop } from "../support/stop.ts";
import { cutBytes, toWellFormed } from "../support/text-limits.ts";
import type { SessionContext } from "./session-context.ts";

/** What the process that started the harness has to do: nothing, or report that this execution was lost. */
export type ExitCode = 0 | 1;

const MESSAGE_BYTES = 2_000;

/** Sends the final message of an execution that stops before its agent is done. */
export async function reportShutdown({ plane, log, redactor }: SessionContext, reason: unknown): Promise<ExitCode> {
  const message = cutBytes(toWellFormed(redactor.text(formatError(reason))), MESSAGE_BYTES);
  const kind = reason instanceof Stop ? reason.kind : "internal";
  log(["cancelled", "stale", "taken"].includes(kind) ? "info" : "error", "stopped", { kind, detail: message });
  if (kind === "internal" && reason instanceof Error)
    log("error", "stack", { stack: redactor.text(reason.stack ?? "") });
  if (kind === "taken") return 0;
  try {
    // A fenced key can still send the one message that a cancelled run waits for.
    const isExpected = kind === "cancelled" || kind === "stale";
    await plane.reportShutdown(isExpected ? undefined : { category: kind, message });
    return isExpected || kind === "shutdown" ? 0 : 1;
  } catch (error) {
    const isFenced = error instanceof Stop && error.kind === "stale";
    if (!isFenced) log("error", "the shutdown could not be reported", { detail: redactor.text(formatError(error)) });
    return isFenced ? 0 : 1;
  }
}
