import * as v from "valibot";
import { endpoint, NO_CONTENT, PathId } from "#shared/http/endpoint.ts";
import { liveTeams } from "#shared/teams/live.ts";
import { removeMember as remove } from "#shared/teams/members.ts";
import { adminOf } from "#shared/teams/people.ts";
import type { TeamPorts } from "#shared/teams/ports.ts";

/** DELETE /agent/teams/{teamUid}/members/{userUid}: from the next request on they see nothing of the team. */
export const removeMember = endpoint({
  request: { path: v.object({ teamUid: PathId, userUid: PathId }) },
  reply: { 204: NO_CONTENT },
  async run({ path, principal }, ports: TeamPorts) {
    adminOf(path.teamUid, principal);
    await remove(path.teamUid, path.userUid, ports);
    return { status: 204 };
  },
});

export const handler = removeMember.lambda(liveTeams);
