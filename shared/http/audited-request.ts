import type { APIGatewayProxyEventV2 } from "aws-lambda";
import { isInTeam, type Principal, toProfile } from "#shared/principals/principal.ts";
import type { NewAuditEvent } from "#shared/records/audit-event.ts";
import { executorOf, parseOwner } from "#shared/records/run-head.ts";
import type { AuditVia } from "#shared/wire/audit/via.ts";
import type { UserProfile } from "#shared/wire/run.ts";
import { toAction } from "./audit/action.ts";
import { type AuditedRequest, isShownId } from "./audit/trail.ts";
import { header } from "./request.ts";
import { readTraceId } from "./response.ts";

/** Describes a request for the audit log: who sent it, and the names of its members, never their values. */
export function toAuditedRequest(event: APIGatewayProxyEventV2, principal: Principal, body: unknown): AuditedRequest {
  const action = toAction(event.routeKey);
  const { sourceIp } = event.requestContext.http;
  const parameters = Object.entries(event.pathParameters ?? {});
  const isSession = principal.kind === "personal" && principal.credential.kind === "session";
  const via: AuditVia = isSession ? "session" : "key";
  const changes = typeof body === "object" && body !== null ? Object.keys(body) : [];
  return {
    action,
    uids: parameters.flatMap(([name, id = ""]) => (name !== "token" && isShownId(id) ? [id] : [])),
    team: findOwnTeam(principal),
    event: {
      actor: toActor(principal),
      via,
      ...(isSession ? {} : { key_suffix: header(event, "authorization")?.slice(-4) ?? "" }),
      request_id: readTraceId(event),
      ...(sourceIp === "" ? {} : { ip: sourceIp }),
      ...(changes.length === 0 ? {} : { changes }),
    },
  };
}

function toActor(principal: Principal): UserProfile {
  if (principal.kind !== "run") return toProfile(principal);
  const { p } = principal.head;
  return { type: p.as_identity === true ? "service_account" : "user", uid: executorOf(p) };
}

/** The team whose admins see what the caller does to its own things: the active one, or the default one. */
function findOwnTeam(principal: Principal): string | undefined {
  if (principal.kind === "agent") return principal.team;
  if (principal.kind === "run") {
    const { type, uid } = parseOwner(principal.head);
    return type === "Team" ? uid : undefined;
  }
  const { activeTeam, teamItem, teams } = principal;
  const active = activeTeam !== undefined && isInTeam(principal, activeTeam) ? activeTeam : undefined;
  return active ?? teamItem?.uid ?? teams[0]?.uid;
}

/** What a refused request is recorded as, and in which team's log; undefined where it is in none. */
export function toRefusal(
  event: APIGatewayProxyEventV2,
  principal: Principal,
): { readonly team: string; readonly event: NewAuditEvent } | undefined {
  const { action, uids, team: ownTeam, event: request } = toAuditedRequest(event, principal, undefined);
  const named = principal.kind === "personal" ? principal.teams.find(({ uid }) => uids.includes(uid))?.uid : undefined;
  const team = named ?? ownTeam;
  if (team === undefined) return undefined;
  const uid = action.name.endsWith(".create") ? undefined : uids.at(-1);
  const target = uid === undefined || uid === team ? { type: "team", uid: team } : { type: action.type, uid };
  return { team, event: { ...request, action: action.name, target, refused: true } };
}
