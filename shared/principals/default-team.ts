import { invalid, RunyardError } from "#shared/errors.ts";
import type { Principal } from "./principal.ts";

/** The team that new objects of the caller belong to: the one in X-Team-Uid, or the caller's only one. */
export function requireTeam(principal: Principal): string {
  if (principal.kind === "personal" && principal.activeTeam !== undefined) return principal.activeTeam;
  const [only, second] = listTeamsToRead(principal);
  if (only === undefined) throw invalid("X-Team-Uid", "you are in no team; POST /agent/teams creates one");
  if (second !== undefined)
    throw invalid("X-Team-Uid", "you are in several teams: name the one that this request is for");
  return only;
}

/** The teams that a read covers: the one in X-Team-Uid, or all of the caller's. */
export function listTeamsToRead(principal: Principal): readonly string[] {
  if (principal.kind === "run") throw new RunyardError("not_authorized", { detail: "a run's key is in no team" });
  if (principal.kind === "agent") return [principal.team];
  const { activeTeam, teams } = principal;
  return teams.map(({ uid }) => uid).filter((uid) => activeTeam === undefined || uid === activeTeam);
}
