import * as v from "valibot";
import type { Owner } from "#shared/table/keys.ts";

/** The message of the queues of runs: which run to dispatch, or which ending to complete. */
export const RunMessage = v.object({ v: v.literal(1), run_id: v.string() });

export interface RunQueue {
  /** Asks for the dispatch of a waiting run. Repeats are harmless. */
  sendRun(runId: string, owner: Owner): Promise<void>;
  /** Asks for what follows an ending: the transcript, and the start of a run that waited for the slot. */
  sendEnd(runId: string, owner: Owner): Promise<void>;
}

export const ReaperMessage = v.object({ v: v.literal(1), pass: v.pipe(v.number(), v.integer()) });

export interface PassQueue {
  /** Asks for pass number `pass` after `delaySeconds`. */
  sendPass(pass: number, delaySeconds: number): Promise<void>;
}
