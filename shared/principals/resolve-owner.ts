import { invalid } from "#shared/errors.ts";
import { isSameOwner } from "#shared/records/owner.ts";
import type { Owner } from "#shared/table/keys.ts";
import type { RunAgentRequest } from "#shared/wire/runs/new-run.ts";
import { type AgentPrincipal, type PersonalPrincipal, type Principal, toProfile } from "./principal.ts";

/** What a request says about the owner of what it creates. */
type OwnedRequest = Pick<RunAgentRequest, "team" | "agent_identity_uid">;

/** Owners that a new run depends on. */
interface RelatedOwners {
  /** Of a child run: the owner of its parent. */
  readonly parent?: Owner | undefined;
  /** Of a run that continues a conversation: the owner of its runs so far. */
  readonly conversation?: Owner | undefined;
}

/**
 * Returns the owner of a new run. A child run has the owner of its parent. All runs of a conversation have one owner, because each
 * of them gets the messages of those before it.
 */
export function resolveOwner(
  request: OwnedRequest,
  principal: Principal,
  { parent, conversation }: RelatedOwners = {},
): Owner {
  const owner = parent ?? chooseOwner(request, principal, conversation);
  if (conversation !== undefined && !isSameOwner(owner, conversation)) {
    throw invalid(
      "conversation_id",
      "its runs have another owner: leave out team, X-Team-Uid and parent_run_id to continue the conversation",
    );
  }
  return owner;
}

function chooseOwner(request: OwnedRequest, principal: Principal, conversation: Owner | undefined): Owner {
  if (principal.kind === "run") throw invalid("parent_run_id", "must be this run or one of its descendants");
  if (principal.kind === "agent") return ownedByAgent(request, principal);
  return ownedByPerson(request, principal, conversation);
}

function ownedByAgent(request: OwnedRequest, principal: AgentPrincipal): Owner {
  if (request.team === false) throw invalid("team", "an agent key creates team runs only");
  return { type: "Team", uid: principal.team };
}

function ownedByPerson(request: OwnedRequest, principal: PersonalPrincipal, conversation: Owner | undefined): Owner {
  const { activeTeam, teams, user } = principal;
  const hasTeam = activeTeam !== undefined || teams.length > 0;
  const isTeamRun = request.team ?? (conversation === undefined ? hasTeam : conversation.type === "Team");
  if (!isTeamRun) {
    if (request.agent_identity_uid !== undefined) throw invalid("agent_identity_uid", "is for team runs only");
    return { type: "User", uid: user.uid };
  }
  if (activeTeam !== undefined) return { type: "Team", uid: activeTeam };
  if (conversation?.type === "Team") return conversation;
  const [only, second] = teams;
  if (only === undefined) throw invalid("team", "you are in no team: send false");
  if (second !== undefined)
    throw invalid("X-Team-Uid", "you are in several teams: name the one that this request is for");
  return { type: "Team", uid: only.uid };
}

/** The creator of an object, as responses show it. */
export const toCreator = (principal: PersonalPrincipal | AgentPrincipal) => toProfile(principal);
