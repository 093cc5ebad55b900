import type { RunHead } from "#shared/records/run-head.ts";
import type { AttributeChange } from "#shared/runs/transition.ts";

/**
 * Builds what interrupts the current turn of a working run: its execution learns of it with its next heartbeat, ends the turn and
 * takes the next follow-up, or waits for one. To be merged into the change of a run whose head was read as `head`.
 * @param by the name of who interrupts
 */
export function toInterruption(head: RunHead, by: string): Required<Pick<AttributeChange, "events" | "set">> {
  return {
    events: [{ type: "run_interrupted", data: { detail: `interrupted by ${by}` } }],
    // The number of the event is higher than that of each earlier interrupt.
    set: { interrupt: { number: head.next_sequence, by } },
  };
}
