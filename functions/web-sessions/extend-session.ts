import { endpoint } from "#shared/http/endpoint.ts";
import { NO_CONTENT } from "#shared/http/response.ts";
import { requirePerson } from "#shared/principals/require-role.ts";
import type { WebSessionPorts } from "#shared/web-sessions/sign-in.ts";

/**
 * PUT /session: renews the web session of the request. It then ends after 12 hours without use. Every request that changes something does so
 * too, at most every five minutes; requests that only read do not. A page that is open sends it every few minutes.
 */
export const extendSession = endpoint({
  request: {},
  reply: { 204: NO_CONTENT },
  async run({ principal }, _ports: WebSessionPorts) {
    // The use of the session is recorded after each request that is not a GET.
    requirePerson(principal);
    return { status: 204 };
  },
});
