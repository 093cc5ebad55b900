import { notFound, RunyardError } from "#shared/errors.ts";
import { listTeamsToRead } from "./default-team.ts";
import type { PersonalPrincipal, Principal } from "./principal.ts";

/** The caller as a person: agents and runs may not manage teams. */
export function requirePerson(principal: Principal): PersonalPrincipal {
  if (principal.kind === "personal") return principal;
  throw new RunyardError("not_authorized", { detail: "this call is for personal keys" });
}

const notAdmin = () => new RunyardError("not_authorized", { detail: "this call is for admins of the team" });

/**
 * The caller as an admin of the team.
 * @throws RunyardError 404 where the caller is not in the team, 403 where they are a member without the role
 */
export function requireAdmin(team: string, principal: Principal): PersonalPrincipal {
  const person = requirePerson(principal);
  const membership = person.teams.find(({ uid }) => uid === team);
  if (membership === undefined) throw notFound("team");
  if (membership.role !== "admin") throw notAdmin();
  return person;
}

/** The caller as an admin of the team, or as the member to be removed: every member may leave. */
export function requireAdminOrSelf(team: string, member: string, principal: Principal): PersonalPrincipal {
  const person = requirePerson(principal);
  const isLeaving = person.user.uid === member && person.teams.some(({ uid }) => uid === team);
  return isLeaving ? person : requireAdmin(team, principal);
}

/**
 * The teams of a read that the caller is an admin of.
 * @throws RunyardError 403 where they are in teams and an admin of none
 */
export function requireAdministeredTeams(principal: Principal): readonly string[] {
  const { teams } = requirePerson(principal);
  const read = listTeamsToRead(principal);
  const administered = read.filter((team) => teams.some(({ uid, role }) => uid === team && role === "admin"));
  if (administered.length === 0 && read.length > 0) throw notAdmin();
  return administered;
}
