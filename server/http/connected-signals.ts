import type { ServerResponse } from "node:http";
import { RunyardError } from "#shared/errors.ts";
import type { RunSignals } from "#shared/live/live-tails.ts";

/** The status of requests whose clients have disconnected. No client receives it. */
const CLIENT_LEFT = 499;

/** Signals for one request: a wait ends with an error when its client disconnects, so that it reads no more and frees its place. */
export const connectedSignals = (
  signals: RunSignals,
  outgoing: Pick<ServerResponse, "destroyed" | "once" | "off">,
): RunSignals => ({
  subscribe(runId, options) {
    const subscription = signals.subscribe(runId, options);
    return {
      ...subscription,
      async next(milliseconds) {
        outgoing.once("close", subscription.close);
        if (!outgoing.destroyed) await subscription.next(milliseconds);
        outgoing.off("close", subscription.close);
        if (outgoing.destroyed) throw new RunyardError("resource_unavailable", { status: CLIENT_LEFT });
      },
    };
  },
});
