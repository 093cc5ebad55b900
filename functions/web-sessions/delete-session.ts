import { endpoint, type PublicPorts } from "#shared/http/endpoint.ts";
import { one } from "#shared/http/request.ts";
import { NO_CONTENT } from "#shared/http/response.ts";
import { clearSessionCookie } from "#shared/http/session-cookie.ts";
import { requirePerson } from "#shared/principals/require-role.ts";
import { requireScopes } from "#shared/principals/scopes.ts";
import type { WebSessionPorts } from "#shared/web-sessions/sign-in.ts";
import { signOut } from "#shared/web-sessions/web-sessions.ts";
import { Flag } from "#shared/wire/primitives.ts";

/**
 * DELETE /session: ends the web session of the request and removes its cookie. With `all=true`, ends all web sessions of the
 * caller, which takes the scope `keys`. API keys remain valid.
 */
export const deleteSession = endpoint({
  request: {
    query: {
      /** Whether to end all web sessions of the caller. @default false */
      all: one(Flag),
    },
  },
  reply: { 204: NO_CONTENT },
  async run({ principal, query, header }, ports: WebSessionPorts & PublicPorts) {
    const everywhere = query.all ?? false;
    // Other sign-ins are credentials, as they are in the list of sessions.
    if (everywhere) requireScopes(["keys"], principal);
    await signOut(requirePerson(principal), everywhere, ports);
    return { status: 204, headers: { "set-cookie": clearSessionCookie(header, ports) } };
  },
});
