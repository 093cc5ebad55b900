import { endpoint, type PublicPorts } from "#shared/http/endpoint.ts";
import { one } from "#shared/http/request.ts";
import { NO_CONTENT } from "#shared/http/response.ts";
import { clearSessionCookie } from "#shared/http/session-cookie.ts";
import { requirePerson } from "#shared/teams/require-role.ts";
import type { WebSessionPorts } from "#shared/web-sessions/sign-in.ts";
import { signOut } from "#shared/web-sessions/web-sessions.ts";
import { Flag } from "#shared/wire/primitives.ts";

/**
 * DELETE /session: ends the web session of the request and removes its cookie. With `all=true`, ends all web sessions of the
 * caller. API keys remain valid.
 */
export const deleteSession = endpoint({
  request: { query: { all: one(Flag) } },
  reply: { 204: NO_CONTENT },
  async run({ principal, query, header }, ports: WebSessionPorts & PublicPorts) {
    await signOut(requirePerson(principal), query.all ?? false, ports);
    return { status: 204, headers: { "set-cookie": clearSessionCookie(header, ports) } };
  },
});
