import { keys } from "#shared/table/keys.ts";
import type { Key } from "#shared/table/table.ts";
import type { TestControlPlane } from "./control-plane.ts";

/** Stores repositories with credentials in their URLs, which the service accepted in the past, in an environment. */
export function storeEnvironmentRepositories(
  plane: TestControlPlane,
  uid: string,
  repositories: { url: string }[],
): Promise<void> {
  return update(plane, keys.environment(uid), { repositories });
}

/** Does the same to the configuration of a schedule. */
export function storeScheduleRepositories(
  plane: TestControlPlane,
  id: string,
  repositories: { url: string }[],
): Promise<void> {
  return update(plane, keys.schedule(id), { agent_config: { repositories } });
}

const update = (
  plane: TestControlPlane,
  key: Key,
  set: Record<string, { url: string }[] | { repositories: { url: string }[] }>,
) => plane.table.write({ kind: "update", key, set });
