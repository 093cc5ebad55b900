import * as v from "valibot";
import { readPublicRun } from "#shared/conversations/public-run.ts";
import { PathId, type PublicPorts, publicEndpoint } from "#shared/http/endpoint.ts";
import type { Cursors } from "#shared/pagination/cursor.ts";
import { pageQuery } from "#shared/pagination/page.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import { PublicRun } from "#shared/wire/web/public-run.ts";

/**
 * GET /public/runs/{sessionId}: returns a run that is shared publicly. Requires no API key. If `session_sharing` of the run
 * does not set `public_access`, the response is 404, as for an unknown id. The response has no names of people, no
 * configuration. Artifacts that have a content are downloaded by their `artifact_uid`.
 */
export const getPublicRun = publicEndpoint({
  request: { path: v.object({ sessionId: PathId }), query: pageQuery },
  reply: { 200: PublicRun },
  async run({ path, query }, ports: RunPorts & PublicPorts & { readonly cursors: Cursors }) {
    return { status: 200, body: await readPublicRun(path.sessionId, query, ports) };
  },
});
