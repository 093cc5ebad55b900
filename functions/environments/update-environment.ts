import * as v from "valibot";
import type { EnvironmentPorts } from "#shared/environments/ports.ts";
import { shownEnvironment } from "#shared/environments/read-environments.ts";
import { updateEnvironment as update } from "#shared/environments/write-environment.ts";
import { endpoint, PathId } from "#shared/http/endpoint.ts";
import { requirePerson } from "#shared/teams/require-role.ts";
import { EnvironmentItem, UpdateEnvironmentRequest } from "#shared/wire/environment.ts";

/** PUT /agent/environments/{environmentUid}: changes what the body says and leaves the rest. */
export const updateEnvironment = endpoint({
  request: { path: v.object({ environmentUid: PathId }), body: UpdateEnvironmentRequest },
  reply: { 200: EnvironmentItem },
  async run({ path, body, principal }, ports: EnvironmentPorts) {
    const environment = await update(path.environmentUid, body, requirePerson(principal), ports);
    return { status: 200, body: await shownEnvironment(environment, principal, ports.table) };
  },
});
