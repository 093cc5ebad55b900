import { notFound } from "#shared/errors.ts";
import { isUuid, sha256 } from "#shared/ids.ts";
import { listVisibleOwners, type Principal, seesOwner } from "#shared/principals/principal.ts";
import { readRunHeads } from "#shared/records/read-run-heads.ts";
import type { RunHead } from "#shared/records/run-head.ts";
import type { Table } from "#shared/table/table.ts";
import type { EnvironmentItem } from "#shared/wire/environment.ts";
import { type Environment, toEnvironmentItem, toLinkedItem } from "./environment.ts";
import { type EnvironmentUse, environmentStore, readEnvironment } from "./environment-store.ts";

/** Returns an environment that the caller owns, is a guest of or has the link of; throws 404 for any other, existing or not. */
export async function findVisibleEnvironment(
  uid: string,
  principal: Principal,
  link: string | undefined,
  table: Table,
): Promise<Environment> {
  const environment = await readEnvironment(uid, table);
  if (environment === undefined || !(sees(principal, environment) || opens(link, environment))) {
    throw notFound("environment");
  }
  return environment;
}

/** True for an environment of the caller or its teams, and for one that is shared with the calling person. */
function sees(principal: Principal, { owner, guests }: Environment): boolean {
  return seesOwner(principal, owner) || (principal.kind === "personal" && guests.has(principal.user.uid));
}

/** The token of a link contains the environment's uid, so that a list can find it. */
const opens = (link: string | undefined, { link_hash }: Environment): boolean =>
  link !== undefined && link_hash !== undefined && sha256(link) === link_hash;

/** Returns all environments that the caller sees, and the one that the link opens, in no order. */
export async function findVisibleEnvironments(
  principal: Principal,
  link: string | undefined,
  table: Table,
): Promise<Environment[]> {
  const environments = environmentStore(table);
  const uids = new Set(await environments.listUids(principal.kind === "run" ? [] : listVisibleOwners(principal)));
  const [linked = ""] = link?.split(".") ?? [];
  if (isUuid(linked)) uids.add(linked);
  const all = await environments.getMany([...uids]);
  return all.filter((environment) => sees(principal, environment) || opens(link, environment));
}

/** Formats an environment for a response to the caller. */
export async function showEnvironment(
  environment: Environment,
  principal: Principal,
  table: Table,
): Promise<EnvironmentItem> {
  const uses = await environmentStore(table).lastRuns([environment.uid]);
  return show(environment, principal, uses[0], await readShownRuns(uses, table));
}

/** Formats environments for a response to the caller. */
export async function showEnvironments(
  environments: readonly Environment[],
  principal: Principal,
  table: Table,
): Promise<EnvironmentItem[]> {
  const uses = await environmentStore(table).lastRuns(environments.map(({ uid }) => uid));
  const runs = await readShownRuns(uses, table);
  return environments.map((environment, index) => show(environment, principal, uses[index], runs));
}

/** Reads the latest runs in environments, and those that made their setup snapshots. */
async function readShownRuns(uses: readonly EnvironmentUse[], table: Table): Promise<ReadonlyMap<string, RunHead>> {
  const ids = uses.flatMap(({ lastRun, shown }) => [lastRun?.run_id, shown.setup_snapshot?.run_id]);
  const heads = await readRunHeads([...new Set(ids.filter((id) => id !== undefined))], table);
  return new Map(heads.map((head) => [head.run_id, head]));
}

/** A link gives access to neither the latest run nor email addresses. A setup snapshot whose run is deleted has no files. */
function show(
  environment: Environment,
  principal: Principal,
  { lastRun, shown }: EnvironmentUse = { lastRun: undefined, shown: {} },
  runs: ReadonlyMap<string, RunHead>,
): EnvironmentItem {
  const { setup_snapshot: snapshot } = shown;
  const item = {
    ...toEnvironmentItem(environment, lastRun, lastRun && runs.get(lastRun.run_id)),
    ...(snapshot !== undefined && runs.has(snapshot.run_id) ? shown : {}),
  };
  return sees(principal, environment) ? item : toLinkedItem(item);
}
