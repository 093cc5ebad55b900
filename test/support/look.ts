import { keys } from "#shared/table/keys.ts";
import { createClient } from "./client.ts";
import type { TestControlPlane } from "./control-plane.ts";

/** Returns the event types of a run's timeline, in order. */
export async function readTimeline(plane: TestControlPlane, runId: string): Promise<string[]> {
  const { body } = await createClient(plane).get(`/agent/runs/${runId}/timeline`);
  return body.events.map(({ event_type }: { event_type: string }) => event_type);
}

/** The state of a run. */
export async function readState(plane: TestControlPlane, runId: string): Promise<string> {
  return (await createClient(plane).get(`/agent/runs/${runId}`)).body.state;
}

/** Sets a run to a state that no transition of this release leads to. */
export const setState = (plane: TestControlPlane, runId: string, state: string): Promise<void> =>
  plane.table.write({ kind: "update", key: keys.head(runId), set: { state } });
