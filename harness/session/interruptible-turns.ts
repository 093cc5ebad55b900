import { TurnEnd } from "../engine/approvals.ts";
import type { TurnOutcome } from "../engine/engine.ts";
import { Interrupted } from "../support/stop.ts";
import type { Followups } from "./followups.ts";

/** Turns that a person, a follow-up with the policy `interrupt`, or the failure of the run ends early. */
export interface InterruptibleTurns {
  /** Aborted when the current turn is interrupted. */
  signal(): AbortSignal;
  /** Takes one turn, unless it is interrupted. */
  take(turn: () => Promise<TurnOutcome>): Promise<TurnOutcome>;
}

export function createInterruptibleTurns(followups: Pick<Followups, "watch">): InterruptibleTurns {
  let current = new AbortController();
  return {
    signal: () => current.signal,
    async take(turn) {
      const controller = new AbortController();
      current = controller;
      followups.watch((cause) => controller.abort(new Interrupted(cause)));
      try {
        return await turn();
      } catch (error) {
        if (error instanceof Interrupted) return toInterruptedOutcome(error);
        if (error instanceof TurnEnd) return error.outcome;
        throw error;
      } finally {
        followups.watch(undefined);
      }
    },
  };
}

/** The outcome of an interrupted turn. The agent waits for a follow-up, unless it was one that interrupted. */
export const toInterruptedOutcome = ({ message, interrupt }: Interrupted): TurnOutcome => ({
  success: false,
  summary: message,
  ...(interrupt === undefined ? {} : { blocked: true, interrupt: interrupt.number }),
});
