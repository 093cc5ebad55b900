import * as v from "valibot";
import { sortByText } from "#shared/arrays.ts";
import type { EnvironmentPorts } from "#shared/environments/environment-ports.ts";
import { findVisibleEnvironments, showEnvironments } from "#shared/environments/read-environments.ts";
import { endpoint } from "#shared/http/endpoint.ts";
import { one } from "#shared/http/request.ts";
import { pageQuery, paginate } from "#shared/pagination/page.ts";
import { byName, latestFirst } from "#shared/pagination/places.ts";
import { listTeamsToRead } from "#shared/principals/default-team.ts";
import { toPrincipalKey } from "#shared/principals/principal.ts";
import { type EnvironmentItem, ListEnvironmentsResponse } from "#shared/wire/environment.ts";
import { textOfBytes } from "#shared/wire/primitives.ts";

/** Sort keys of the list: by name without regard to case, or the latest change first. */
const places = {
  name: ({ uid, config }: EnvironmentItem) => `${byName(config.name)}\u0000${uid}`,
  last_updated: ({ uid, last_updated }: EnvironmentItem) => `${latestFirst(Date.parse(last_updated))}#${uid}`,
} as const;

/**
 * GET /agent/environments: lists the environments visible to the caller. These are the environments that the caller or
 * a team owns, that are shared with the caller, and the one that `link` grants access to. The latest change comes first
 * unless `sort_by` is `name`.
 */
export const listEnvironments = endpoint({
  request: {
    query: {
      ...pageQuery,
      /** The sort key. `last_updated` returns the latest change first. @default last_updated */
      sort_by: one(v.picklist(["name", "last_updated"])),
      /** The token of a shared link, which grants read access to its environment. */
      link: one(textOfBytes(512)),
    },
  },
  reply: { 200: ListEnvironmentsResponse },
  async run({ query, principal }, ports: EnvironmentPorts) {
    const { sort_by = "last_updated", link } = query;
    const placeOf = places[sort_by];
    const binding = ["environments", toPrincipalKey(principal), listTeamsToRead(principal), sort_by, link ?? ""];
    const visible = await findVisibleEnvironments(principal, link, ports.table);
    const found = await showEnvironments(visible, principal, ports.table);
    const all = sortByText(found, placeOf);
    const { items, page } = await paginate(all, query, { binding, placeOf }, ports.cursors);
    return { status: 200, body: { environments: items, ...page } };
  },
});
