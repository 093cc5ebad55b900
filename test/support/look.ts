import { keys } from "#shared/table/keys.ts";
import { clientOf } from "./client.ts";
import type { World } from "./world.ts";

/** The types of a run's timeline, in order. */
export async function timelineOf(world: World, runId: string): Promise<string[]> {
  const { body } = await clientOf(world).get(`/agent/runs/${runId}/timeline`);
  return body.events.map(({ event_type }: { event_type: string }) => event_type);
}

/** The state of a run. */
export async function stateOf(world: World, runId: string): Promise<string> {
  return (await clientOf(world).get(`/agent/runs/${runId}`)).body.state;
}

/** Puts a run into a state that nothing in this release leads to. */
export const setState = (world: World, runId: string, state: string): Promise<void> =>
  world.table.write({ kind: "update", key: keys.head(runId), set: { state } });
