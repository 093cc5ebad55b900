import * as v from "valibot";
import { endpoint, PathId } from "#shared/http/endpoint.ts";
import { NO_CONTENT } from "#shared/http/response.ts";
import { requirePerson } from "#shared/principals/require-role.ts";
import type { WebSessionPorts } from "#shared/web-sessions/sign-in.ts";
import { endSession } from "#shared/web-sessions/web-sessions.ts";

/** DELETE /sessions/{sessionUid}: ends one of the caller's web sessions. It is refused from the next request. */
export const revokeSession = endpoint({
  request: { path: v.object({ sessionUid: PathId }) },
  reply: { 204: NO_CONTENT },
  async run({ path, principal }, ports: WebSessionPorts) {
    await endSession(requirePerson(principal), path.sessionUid, ports);
    return { status: 204 };
  },
});
