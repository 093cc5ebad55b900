import { isTerminal } from "#shared/records/run.ts";
import type { RunHead } from "#shared/records/run-head.ts";
import type { EventPorts } from "./live-output.ts";

/** A pause between two reads of a run that nobody watches; ends are noticed this much later where nothing signals them. */
const MAX_PAUSE_MS = 2_000;

/** Waits until a run ends, and returns its head; undefined if it has not ended in this time. Reads nothing but the head. */
export async function waitForEnd(
  runId: string,
  seconds: number,
  ports: Pick<EventPorts, "runs" | "now" | "signals">,
): Promise<RunHead | undefined> {
  const deadline = ports.now() + seconds * 1000;
  const signals = ports.signals.subscribe(runId, { maxPauseMs: MAX_PAUSE_MS });
  try {
    while (true) {
      const head = await ports.runs.head(runId);
      if (head === undefined || isTerminal(head.state)) return head;
      const rest = deadline - ports.now();
      if (rest <= 0) return undefined;
      await signals.next(rest);
    }
  } finally {
    signals.close();
  }
}
