import type { TurnOutcome } from "../engine/engine.ts";
import { Interrupted } from "../support/stop.ts";
import type { Followups } from "./followups.ts";

/** Turns that a follow-up with the policy `interrupt` ends early. */
export interface InterruptibleTurns {
  /** Aborted when the current turn is interrupted. */
  signal(): AbortSignal;
  /** Takes one turn, unless a follow-up interrupts it. */
  take(turn: () => Promise<TurnOutcome>): Promise<TurnOutcome>;
}

export function createInterruptibleTurns(followups: Followups): InterruptibleTurns {
  let current = new AbortController();
  return {
    signal: () => current.signal,
    async take(turn) {
      const controller = new AbortController();
      current = controller;
      followups.watch((number) => controller.abort(new Interrupted(number)));
      try {
        return await turn();
      } catch (error) {
        if (error instanceof Interrupted) return { success: false, summary: error.message };
        throw error;
      } finally {
        followups.watch(undefined);
      }
    },
  };
}
