import * as v from "valibot";
import type { EnvironmentPorts } from "#shared/environments/environment-ports.ts";
import { readEnvironmentPage } from "#shared/environments/list-environments.ts";
import { endpoint } from "#shared/http/endpoint.ts";
import { one } from "#shared/http/request.ts";
import { pageQuery } from "#shared/pagination/page.ts";
import { ListEnvironmentsResponse } from "#shared/wire/environment.ts";
import { textOfBytes } from "#shared/wire/primitives.ts";

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
    return { status: 200, body: await readEnvironmentPage(query, principal, ports) };
  },
});
