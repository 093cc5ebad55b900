import * as v from "valibot";
import { endpoint, NO_CONTENT, PathId } from "#shared/http/endpoint.ts";
import type { SecretPorts } from "#shared/secrets/ports.ts";
import { deleteTeam as remove } from "#shared/teams/delete-team.ts";
import { adminOf } from "#shared/teams/people.ts";

/** DELETE /agent/teams/{teamUid}: the team and all that is its, once its runs have ended and its schedules are gone. */
export const deleteTeam = endpoint({
  request: { path: v.object({ teamUid: PathId }) },
  reply: { 204: NO_CONTENT },
  async run({ path, principal }, ports: SecretPorts) {
    const { user } = adminOf(path.teamUid, principal);
    await remove(path.teamUid, user.uid, ports);
    return { status: 204 };
  },
});
