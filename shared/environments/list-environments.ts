import { sortByText } from "#shared/arrays.ts";
import { type PageQuery, paginate } from "#shared/pagination/page.ts";
import { byName, latestFirst } from "#shared/pagination/places.ts";
import { listTeamsToRead } from "#shared/principals/default-team.ts";
import { type Principal, toPrincipalKey } from "#shared/principals/principal.ts";
import type { EnvironmentItem, ListEnvironmentsResponse } from "#shared/wire/environment.ts";
import type { EnvironmentPorts } from "./environment-ports.ts";
import { findVisibleEnvironments, showEnvironments } from "./read-environments.ts";

/** Sort keys of the list: by name without regard to case, or the latest change first. */
const places = {
  name: ({ uid, config }: EnvironmentItem) => `${byName(config.name)}\u0000${uid}`,
  last_updated: ({ uid, last_updated }: EnvironmentItem) => `${latestFirst(Date.parse(last_updated))}#${uid}`,
} as const;

interface EnvironmentQuery extends PageQuery {
  /** @default last_updated */
  readonly sort_by: keyof typeof places | undefined;
  /** The token of a shared link. */
  readonly link: string | undefined;
}

/** Reads a page of the environments that the caller sees, and the one that the link opens. */
export async function readEnvironmentPage(
  { sort_by = "last_updated", link, ...query }: EnvironmentQuery,
  principal: Principal,
  { table, cursors }: Pick<EnvironmentPorts, "table" | "cursors">,
): Promise<ListEnvironmentsResponse> {
  const placeOf = places[sort_by];
  const binding = ["environments", toPrincipalKey(principal), listTeamsToRead(principal), sort_by, link ?? ""];
  const visible = await findVisibleEnvironments(principal, link, table);
  const all = sortByText(await showEnvironments(visible, principal, table), placeOf);
  const { items, page } = await paginate(all, query, { binding, placeOf }, cursors);
  return { environments: items, ...page };
}
