import { notFound } from "#shared/errors.ts";
import { isUuid, sha256 } from "#shared/ids.ts";
import { listVisibleOwners, type Principal, seesOwner } from "#shared/principals/principal.ts";
import { parseRunHead } from "#shared/records/run-head.ts";
import { keys } from "#shared/table/keys.ts";
import type { Item, Key, Table } from "#shared/table/table.ts";
import type { EnvironmentItem } from "#shared/wire/environment.ts";
import { type Environment, parseEnvironment, parseLastRun, toEnvironmentItem, toLinkedItem } from "./environment.ts";

/** Keys that one batch takes. */
const BATCH = 100;

/** The environment, if the caller owns it, is its guest or has its link; else 404, whether it exists or not. */
export async function visibleEnvironment(
  uid: string,
  principal: Principal,
  link: string | undefined,
  table: Table,
): Promise<Environment> {
  const item = await table.get(keys.environment(uid));
  const environment = item === undefined ? undefined : parseEnvironment(item);
  if (environment === undefined || !(sees(principal, environment) || opens(link, environment))) {
    throw notFound("environment");
  }
  return environment;
}

/** Whether it is the caller's own, its team's, or shared with the person who calls. */
function sees(principal: Principal, { owner, guests }: Environment): boolean {
  return seesOwner(principal, owner) || (principal.kind === "personal" && guests.has(principal.user.uid));
}

/** A link's token names the environment, so that a list can find it. */
const opens = (link: string | undefined, { link_hash }: Environment): boolean =>
  link !== undefined && link_hash !== undefined && sha256(link) === link_hash;

/** All environments that the caller sees, and the one that the link opens, as they are stored and in no order. */
export async function visibleEnvironments(
  principal: Principal,
  link: string | undefined,
  table: Table,
): Promise<Environment[]> {
  const uids = new Set(await entriesOf(principal, table));
  const [linked = ""] = link?.split(".") ?? [];
  if (isUuid(linked)) uids.add(linked);
  const items = await readAll([...uids].map(keys.environment), table);
  const all = items.filter((item) => item !== undefined).map(parseEnvironment);
  return all.filter((environment) => sees(principal, environment) || opens(link, environment));
}

/** The environment as answers show it to the caller. */
export async function shownEnvironment(
  environment: Environment,
  principal: Principal,
  table: Table,
): Promise<EnvironmentItem> {
  const [shown] = await shownEnvironments([environment], principal, table);
  if (shown === undefined) throw notFound("environment");
  return shown;
}

/** Environments as answers show them to the caller: a link alone opens neither the latest run nor e-mail addresses. */
export async function shownEnvironments(
  environments: readonly Environment[],
  principal: Principal,
  table: Table,
): Promise<EnvironmentItem[]> {
  const items = await withLastRuns(environments, table);
  return items.map((item, index) => {
    const environment = environments[index];
    return environment !== undefined && sees(principal, environment) ? item : toLinkedItem(item);
  });
}

async function withLastRuns(environments: readonly Environment[], table: Table): Promise<EnvironmentItem[]> {
  const lasts = (
    await readAll(
      environments.map(({ uid }) => keys.environmentRun(uid)),
      table,
    )
  ).map(parseLastRun);
  const runs = lasts.filter((last) => last !== undefined).map(({ run_id }) => run_id);
  const heads = await readAll(runs.map(keys.head), table);
  const byRun = new Map(heads.filter((item) => item !== undefined).map((item) => [item.pk, parseRunHead(item)]));
  return environments.map((environment, index) => {
    const last = lasts[index];
    return toEnvironmentItem(environment, last, last && byRun.get(keys.head(last.run_id).pk));
  });
}

async function entriesOf(principal: Principal, table: Table): Promise<string[]> {
  const owners = principal.kind === "run" ? [] : listVisibleOwners(principal);
  const pages = await Promise.all(
    owners.map((owner) => {
      const { pk, sk: prefix } = keys.environmentEntry(owner, "");
      return table.query({ pk, prefix });
    }),
  );
  return pages.flatMap(({ items }) => items.map((item) => String(item["uid"])));
}

/** Any number of different keys, in their order. */
async function readAll(wanted: readonly Key[], table: Table): Promise<(Item | undefined)[]> {
  const found: (Item | undefined)[] = [];
  for (let from = 0; from < wanted.length; from += BATCH) {
    found.push(...(await table.batchGet(wanted.slice(from, from + BATCH))));
  }
  return found;
}
