import { findNextFollowup } from "#shared/records/pending-followups.ts";
import { DEFAULT_IDLE_MINUTES } from "#shared/records/run.ts";
import { type ExecutingHead, parseOwner, type RunHead } from "#shared/records/run-head.ts";
import { type ChangePorts, changeRun } from "#shared/runs/change-run.ts";
import { toEndChange } from "#shared/runs/end-run.ts";
import type { AttributeChange, EndChange } from "#shared/runs/transition.ts";
import { toTimestamp } from "#shared/wire/primitives.ts";

/** How a run ends after its last turn. */
export type TurnEnding = Omit<NonNullable<ExecutingHead["idle"]>, "until">;

const idleMinutes = (head: RunHead): number => head.idle_minutes ?? DEFAULT_IDLE_MINUTES;

/** Whether the run waits for a follow-up after this turn: it is interactive, or the turn was interrupted. */
export function waitsForFollowup(head: ExecutingHead, turn: { readonly interrupt?: number }): boolean {
  const wasInterrupted = head.interrupt !== undefined && turn.interrupt === head.interrupt.number;
  return idleMinutes(head) > 0 && (head.interactive === true || wasInterrupted);
}

/**
 * Builds the change by which a run waits for a follow-up together with its execution. It gives its owner's slot back, unless runs below
 * it use that. The reaper ends the run when its time is over.
 */
export function toIdleChange(head: ExecutingHead, ending: TurnEnding, now: number): AttributeChange {
  const until = now + idleMinutes(head) * 60_000;
  return {
    events: [{ type: "run_idle", data: { detail: `waiting for a follow-up until ${toTimestamp(until)}` } }],
    set: { heartbeat_at: now, idle: { until, ...ending } },
    ...(head.interrupt === undefined ? {} : { remove: ["interrupt"] }),
    ...(head.slot === "owner" ? { ownerSlot: "release" } : {}),
  };
}

/** Builds the change that ends a run as its last turn has ended. */
export function toTurnEnd(head: RunHead, ending: TurnEnding, now: number): EndChange {
  const { state, message, code, waiting_for: waitingFor } = ending;
  if (state === "SUCCEEDED") return toEndChange(head, { state, now, data: { detail: message } });
  return toEndChange(head, { state, now, message, waitingFor, ...(code === undefined ? {} : { code }) });
}

/** How a run ends that waits for a follow-up and has none; undefined for any other run. */
export const findIdleEnding = (head: RunHead): ExecutingHead["idle"] =>
  head.state === "INPROGRESS" && findNextFollowup(head, head.followups_stored) === undefined ? head.idle : undefined;

/** Ends a run whose time to wait for a follow-up is over, unless it has got one. */
export async function endIdleRun(first: RunHead, ports: ChangePorts): Promise<void> {
  const isEnded = await changeRun<boolean>(first, ports, (head) => {
    const now = ports.now();
    const ending = findIdleEnding(head);
    if (ending === undefined || ending.until > now) return { result: false };
    return { change: toTurnEnd(head, ending, now), result: true };
  });
  if (isEnded) await ports.queue.sendEnd(first.run_id, parseOwner(first)).catch(() => undefined);
}
