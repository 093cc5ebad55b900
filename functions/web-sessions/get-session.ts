import { endpoint } from "#shared/http/endpoint.ts";
import { requirePerson } from "#shared/principals/require-role.ts";
import { readMe } from "#shared/teams/me.ts";
import type { WebSessionPorts } from "#shared/web-sessions/sign-in.ts";
import { toSessionInfo } from "#shared/web-sessions/web-sessions.ts";
import { SessionInfo } from "#shared/wire/web/web-session.ts";

/** GET /session: returns the caller, the caller's teams, and when the web session ends. Does not extend the session. */
export const getSession = endpoint({
  request: {},
  reply: { 200: SessionInfo },
  async run({ principal }, ports: WebSessionPorts) {
    const person = requirePerson(principal);
    const { teams } = await readMe(person, ports);
    return { status: 200, body: toSessionInfo(person, teams) };
  },
});
