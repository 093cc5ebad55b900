import { endpoint } from "#shared/http/endpoint.ts";
import type { Cursors } from "#shared/pagination/cursor.ts";
import { pageQuery, paginate } from "#shared/pagination/page.ts";
import { toPrincipalKey } from "#shared/principals/principal.ts";
import { requirePerson } from "#shared/principals/require-role.ts";
import type { WebSessionPorts } from "#shared/web-sessions/sign-in.ts";
import { listSessions } from "#shared/web-sessions/web-sessions.ts";
import { ListWebSessionsResponse } from "#shared/wire/web/web-session.ts";

/** GET /sessions: lists the caller's web sessions, oldest first. */
export const listWebSessions = endpoint({
  request: { query: pageQuery },
  reply: { 200: ListWebSessionsResponse },
  async run({ query, principal }, ports: WebSessionPorts & { readonly cursors: Cursors }) {
    const all = await listSessions(requirePerson(principal), ports);
    const binding = ["sessions", toPrincipalKey(principal)];
    const { items, page } = await paginate(all, query, { binding, placeOf: ({ uid }) => uid }, ports.cursors);
    return { status: 200, body: { sessions: items, ...page } };
  },
});
