import { invalid } from "#shared/errors.ts";
import type { Owner } from "#shared/table/keys.ts";
import type { RunAgentRequest } from "#shared/wire/run.ts";
import { type AgentPrincipal, type PersonalPrincipal, type Principal, toProfile } from "./principal.ts";

/** What a new run inherits from its parent or from an earlier run of the conversation. */
export interface RelatedRun {
  readonly owner: Owner;
  readonly metadata: Readonly<Record<string, string>> | undefined;
}

/** The owner of a new run. A child run has the owner of its parent. */
export function resolveOwner(request: RunAgentRequest, principal: Principal, parent: RelatedRun | undefined): Owner {
  if (principal.kind === "run" || parent !== undefined) {
    if (parent === undefined) throw invalid("parent_run_id", "must be this run or one of its descendants");
    return parent.owner;
  }
  return principal.kind === "agent" ? ownedByAgent(request, principal) : ownedByPerson(request, principal);
}

function ownedByAgent(request: RunAgentRequest, principal: AgentPrincipal): Owner {
  if (request.team === false) throw invalid("team", "an agent key creates team runs only");
  return { type: "Team", uid: principal.team };
}

function ownedByPerson(request: RunAgentRequest, principal: PersonalPrincipal): Owner {
  const { activeTeam, teams, user } = principal;
  const team = request.team ?? (activeTeam !== undefined || teams.length > 0);
  if (!team) {
    if (request.agent_identity_uid !== undefined) throw invalid("agent_identity_uid", "is for team runs only");
    return { type: "User", uid: user.uid };
  }
  if (activeTeam !== undefined) return { type: "Team", uid: activeTeam };
  const [only, second] = teams;
  if (only === undefined) throw invalid("team", "you are in no team: send false");
  if (second !== undefined)
    throw invalid("X-Team-Uid", "you are in several teams: name the one that is to own the run");
  return { type: "Team", uid: only.uid };
}

/** The creator of an object, as responses show it. */
export const toCreator = (principal: PersonalPrincipal | AgentPrincipal) => toProfile(principal);
