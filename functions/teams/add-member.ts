import * as v from "valibot";
import { endpoint, PathId } from "#shared/http/endpoint.ts";
import { liveTeams } from "#shared/teams/live.ts";
import { addMember as add } from "#shared/teams/members.ts";
import { adminOf } from "#shared/teams/people.ts";
import type { TeamPorts } from "#shared/teams/ports.ts";
import { AddMemberRequest, MemberItem } from "#shared/wire/team.ts";

/** POST /agent/teams/{teamUid}/members: takes somebody who has an account into the team. */
export const addMember = endpoint({
  request: { path: v.object({ teamUid: PathId }), body: AddMemberRequest },
  reply: { 201: MemberItem },
  async run({ path, body, principal }, ports: TeamPorts) {
    adminOf(path.teamUid, principal);
    return { status: 201, body: await add(path.teamUid, body, ports) };
  },
});

export const handler = addMember.lambda(liveTeams);
