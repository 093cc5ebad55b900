import { notFound, RunyardError } from "#shared/errors.ts";
import { teamsToRead } from "#shared/principals/default-team.ts";
import type { PersonalPrincipal, Principal } from "#shared/principals/principal.ts";

/** The caller as a person: the routes of teams are for nobody else. */
export function personOf(principal: Principal): PersonalPrincipal {
  if (principal.kind === "personal") return principal;
  throw new RunyardError("not_authorized", { detail: "this call is for personal keys" });
}

const notAdmin = () => new RunyardError("not_authorized", { detail: "this call is for admins of the team" });

/** The caller as an admin of the team: 404 to who is not in it, 403 to its other members. */
export function adminOf(team: string, principal: Principal): PersonalPrincipal {
  const person = personOf(principal);
  const membership = person.teams.find(({ uid }) => uid === team);
  if (membership === undefined) throw notFound("team");
  if (membership.role !== "admin") throw notAdmin();
  return person;
}

/** The caller as an admin of the team, or as the member who is to be removed: everybody may leave. */
export function adminOrLeaving(team: string, member: string, principal: Principal): PersonalPrincipal {
  const person = personOf(principal);
  const isLeaving = person.user.uid === member && person.teams.some(({ uid }) => uid === team);
  return isLeaving ? person : adminOf(team, principal);
}

/** The teams of a read that the caller is an admin of; 403 to who is in teams and an admin of none. */
export function administered(principal: Principal): readonly string[] {
  const { teams } = personOf(principal);
  const read = teamsToRead(principal);
  const own = read.filter((team) => teams.some(({ uid, role }) => uid === team && role === "admin"));
  if (own.length === 0 && read.length > 0) throw notAdmin();
  return own;
}

/** Teams that one person may be in. */
export const MAX_TEAMS = 50;

export const tooManyTeams = (): RunyardError =>
  new RunyardError("conflict", { detail: `a person is in ${MAX_TEAMS} teams at most`, retryable: false });
