import { type PublicPorts, publicEndpoint } from "#shared/http/endpoint.ts";
import { NO_CONTENT } from "#shared/http/response.ts";
import { readSessionCookie, refuseForeignOrigin, storeSessionCookie } from "#shared/http/session-cookie.ts";
import { MAX_SESSION_SECONDS, signIn, type WebSessionPorts } from "#shared/web-sessions/sign-in.ts";
import { CreateSessionRequest } from "#shared/wire/web/web-session.ts";

/**
 * POST /session: creates a web session. Requires no API key in a header: the body has a personal API key or a one-time
 * token. The response sets an HttpOnly cookie that authenticates later requests of the same browser. A session ends
 * after 12 hours without use and after 7 days at most. A person has at most 50 sessions: a new one replaces the session
 * that was not used for the longest time. Requests that change something and are authenticated by the cookie need an
 * `Origin` header of the deployment, as browsers send it.
 */
export const createSession = publicEndpoint({
  request: { body: CreateSessionRequest },
  reply: { 204: NO_CONTENT },
  errors: ["authentication_required", "not_authorized"],
  async run({ body, header }, ports: WebSessionPorts & PublicPorts) {
    const sessionToken = readSessionCookie(header, ports);
    // Otherwise a page of another origin could sign people in to an account of its own.
    if (header("origin") !== undefined || sessionToken !== undefined) refuseForeignOrigin(header, ports);
    const token = await signIn(body, { userAgent: header("user-agent"), sessionToken }, ports);
    const cookie = storeSessionCookie(token, MAX_SESSION_SECONDS, header, ports);
    return { status: 204, headers: { "set-cookie": cookie } };
  },
});
