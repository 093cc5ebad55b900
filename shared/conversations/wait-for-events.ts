import { isTerminal } from "#shared/records/run.ts";
import type { RunHead } from "#shared/records/run-head.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import type { RunEvents } from "#shared/wire/event.ts";
import { readEvents } from "./timeline.ts";

const POLL_MS = 40;
const MAX_POLL_MS = 400;

/** Reads the events after `after`. Waits up to `waitSeconds` if there are none, and polls only the head. */
export async function waitForEvents(
  first: RunHead,
  after: number,
  waitSeconds: number,
  ports: RunPorts,
): Promise<RunEvents> {
  const deadline = ports.now() + waitSeconds * 1000;
  let head: RunHead = first;
  let pause = POLL_MS;
  while (head.next_sequence <= after + 1 && !hasEnded(head) && ports.now() < deadline) {
    await new Promise((resolve) => setTimeout(resolve, pause));
    pause = Math.min(pause * 1.5, MAX_POLL_MS);
    head = (await ports.runs.head(first.run_id)) ?? head;
  }
  const events = head.next_sequence <= after + 1 ? [] : await readEvents(head, after, ports);
  const next = events.at(-1)?.sequence ?? after;
  return { events, next, ended: hasEnded(head) && next >= head.next_sequence - 1 };
}

/**
 * True if the run has ended and its sandbox is known to have stopped, so that only a follow-up can add events. A sandbox whose key is
 * revoked cannot report that it has stopped, so callers do not wait for it.
 */
function hasEnded(head: RunHead): boolean {
  const isAwaited = "stop_pending" in head && head.stop_pending === true && head.key_hash !== undefined;
  return isTerminal(head.state) && !isAwaited;
}
