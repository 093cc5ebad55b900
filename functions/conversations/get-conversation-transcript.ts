import * as v from "valibot";
import { createTranscriptDownload } from "#shared/conversations/transcript-download.ts";
import { endpoint, PathId } from "#shared/http/endpoint.ts";
import { one } from "#shared/http/request.ts";
import { REDIRECT } from "#shared/http/response.ts";
import { visibleLatestRun } from "#shared/runs/read-run.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import { DownloadUrl } from "#shared/wire/artifact.ts";

/**
 * GET /agent/conversations/{conversationId}/transcript: redirects to the raw transcript of a conversation's latest run. The transcript is a JSON Lines file, available shortly after the run has ended;
 * before that, the response is 404. With `redirect=false` the response is 200 and contains the URL.
 */
export const getConversationTranscript = endpoint({
  request: { path: v.object({ conversationId: PathId }), query: { redirect: one(v.picklist(["true", "false"])) } },
  reply: { 302: REDIRECT, 200: DownloadUrl },
  async run({ path, query, principal }, ports: RunPorts) {
    const { head } = await visibleLatestRun(path.conversationId, principal, ports);
    const body = await createTranscriptDownload(head, ports);
    // A web page cannot read the target of a redirect.
    return query.redirect === "false" ? { status: 200, body } : { status: 302, location: body.download_url };
  },
});
