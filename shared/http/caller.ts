import type { APIGatewayProxyEventV2 } from "aws-lambda";
import { RunyardError } from "#shared/errors.ts";
import { isInTeam, type Principal } from "#shared/principals/principal.ts";
import type { PrincipalStore } from "#shared/principals/principal-store.ts";
import { requireScopes } from "#shared/principals/scopes.ts";
import { isScope } from "#shared/wire/keys/scope.ts";
import { header } from "./request.ts";
import { clearSessionCookie, type Origins, readSessionCookie, refuseForeignOrigin } from "./session-cookie.ts";

/** What the checks of a caller need. */
export interface CallerPorts extends Origins {
  readonly principals: PrincipalStore;
  /** Kinds of principals that may call the route, from its line in routes.ts. */
  readonly who: readonly string[];
  /** The scope that a credential needs for the route, from the same line, or the name of an exception. */
  readonly scope: string;
}

export async function authenticate(
  event: APIGatewayProxyEventV2,
  ports: CallerPorts,
  whileStopping: boolean,
): Promise<Principal> {
  const authorization = header(event, "authorization");
  const sessionToken = authorization === undefined ? readSessionCookie(headerReader(event), ports) : undefined;
  if (sessionToken !== undefined) return authenticateSession(event, sessionToken, ports);
  const principal = await ports.principals.authenticate(authorization, readTeamHeader(event));
  if (principal.kind === "run" && principal.stopping && !whileStopping) {
    throw new RunyardError("authentication_required", {
      detail: "the run's key is no longer valid",
      headers: { "www-authenticate": "Bearer" },
    });
  }
  return principal;
}

/** Whether a request has a key or a session, valid or not. */
export const hasCredential = (event: APIGatewayProxyEventV2, ports: CallerPorts): boolean =>
  header(event, "authorization") !== undefined || readSessionCookie(headerReader(event), ports) !== undefined;

/** Authenticates by the session cookie. The cookie of a session that has ended is removed from the browser. */
async function authenticateSession(
  event: APIGatewayProxyEventV2,
  token: string,
  ports: CallerPorts,
): Promise<Principal> {
  try {
    const principal = await ports.principals.authenticateSession(token, readTeamHeader(event));
    if (event.requestContext.http.method !== "GET") refuseForeignOrigin(headerReader(event), ports);
    return principal;
  } catch (error) {
    if (!(error instanceof RunyardError) || error.code !== "authentication_required") throw error;
    throw new RunyardError(error.code, {
      detail: error.message,
      headers: { ...error.headers, "set-cookie": clearSessionCookie(headerReader(event), ports) },
    });
  }
}

export const headerReader = (event: APIGatewayProxyEventV2) => (name: string) => header(event, name);
const readTeamHeader = (event: APIGatewayProxyEventV2) =>
  header(event, "x-team-uid") ?? header(event, "x-warp-team-uid");

/** Harness support shows other callers nothing about the requests that it accepts, so the kind of caller is checked first. */
export const isReservedForRuns = ({ who }: CallerPorts): boolean => who.every((kind) => kind === "run");

export function refuseKind({ kind }: Principal, { who }: CallerPorts): void {
  if (who.includes(kind)) return;
  throw new RunyardError("not_authorized", {
    detail: `this call is for ${who.map((name) => `${name} keys`).join(" and ")}`,
  });
}

/** Refuses a credential without the scope of the route. */
export function refuseScope(principal: Principal, { scope }: CallerPorts): void {
  if (isScope(scope)) requireScopes([scope], principal);
}

export function refuseForeignTeam(principal: Principal, event: APIGatewayProxyEventV2): void {
  const team = readTeamHeader(event);
  if (team !== undefined && !isInTeam(principal, team)) {
    throw new RunyardError("not_authorized", { detail: "X-Team-Uid: you are not a member of this team" });
  }
}
