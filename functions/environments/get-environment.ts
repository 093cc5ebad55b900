import * as v from "valibot";
import type { EnvironmentPorts } from "#shared/environments/environment-ports.ts";
import { findVisibleEnvironment, showEnvironment } from "#shared/environments/read-environments.ts";
import { endpoint, PathId } from "#shared/http/endpoint.ts";
import { one } from "#shared/http/request.ts";
import { EnvironmentItem } from "#shared/wire/environment.ts";
import { textOfBytes } from "#shared/wire/primitives.ts";

/**
 * GET /agent/environments/{environmentUid}: returns an environment. With the token of its shared `link`, every caller
 * with an API key can read it, without the details of its latest run.
 */
export const getEnvironment = endpoint({
  request: {
    path: v.object({ environmentUid: PathId }),
    query: {
      /** The token of a shared link, which grants read access to its environment. */
      link: one(textOfBytes(512)),
    },
  },
  reply: { 200: EnvironmentItem },
  async run({ path, query, principal }, { table }: EnvironmentPorts) {
    const environment = await findVisibleEnvironment(path.environmentUid, principal, query.link, table);
    return { status: 200, body: await showEnvironment(environment, principal, table) };
  },
});
