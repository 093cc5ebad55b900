import { isTerminal } from "#shared/records/run.ts";
import type { RunHead } from "#shared/records/run-head.ts";
import type { RunPorts } from "#shared/runs/ports.ts";
import type { RunEvents } from "#shared/wire/event.ts";
import { eventsAfter } from "./timeline.ts";

const LOOK_MS = 40;
const LOOK_MOST_MS = 400;

/** The events after `after`, held back up to `waitSeconds` while there are none. Only the head is read while waiting. */
export async function waitForEvents(
  first: RunHead,
  after: number,
  waitSeconds: number,
  ports: RunPorts,
): Promise<RunEvents> {
  const deadline = ports.now() + waitSeconds * 1000;
  let head: RunHead = first;
  let pause = LOOK_MS;
  while (head.next_sequence <= after + 1 && !hasEnded(head) && ports.now() < deadline) {
    await new Promise((resolve) => setTimeout(resolve, pause));
    pause = Math.min(pause * 1.5, LOOK_MOST_MS);
    head = (await ports.runs.head(first.run_id)) ?? head;
  }
  const events = head.next_sequence <= after + 1 ? [] : await eventsAfter(head, after, ports);
  const next = events.at(-1)?.sequence ?? after;
  return { events, next, ended: hasEnded(head) && next >= head.next_sequence - 1 };
}

/**
 * Ended, and its sandbox known to have stopped: only a follow-up could bring another event. A sandbox whose key is dead can tell
 * nobody that it has stopped, so nobody is kept waiting for the time that it is given.
 */
function hasEnded(head: RunHead): boolean {
  const isAwaited = "stop_pending" in head && head.stop_pending === true && head.key_hash !== undefined;
  return isTerminal(head.state) && !isAwaited;
}
