import { keys } from "#shared/table/keys.ts";
import type { Key } from "#shared/table/table.ts";
import type { World } from "./world.ts";

/** Gives an environment repositories with credentials in their URLs, as they could be stored before those were refused. */
export function storeEnvironmentRepositories(
  world: World,
  uid: string,
  repositories: { url: string }[],
): Promise<void> {
  return update(world, keys.environment(uid), { repositories });
}

/** Does the same to the configuration of a schedule. */
export function storeScheduleRepositories(world: World, id: string, repositories: { url: string }[]): Promise<void> {
  return update(world, keys.schedule(id), { agent_config: { repositories } });
}

const update = (world: World, key: Key, set: Record<string, { url: string }[] | { repositories: { url: string }[] }>) =>
  world.table.write({ kind: "update", key, set });
