import * as v from "valibot";
import { createTranscriptDownload } from "#shared/conversations/transcript-download.ts";
import { downloadQuery, downloadReply, toDownloadResponse } from "#shared/http/download.ts";
import { endpoint, PathId } from "#shared/http/endpoint.ts";
import { visibleLatestRun } from "#shared/runs/read-run.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";

/**
 * GET /agent/conversations/{conversationId}/transcript: redirects to the raw transcript of a conversation's latest run. The transcript is a JSON Lines file, available shortly after the run has ended;
 * before that, the response is 404. With `redirect=false` the response is 200 and contains the URL.
 */
export const getConversationTranscript = endpoint({
  request: { path: v.object({ conversationId: PathId }), query: downloadQuery },
  reply: downloadReply,
  async run({ path, query, principal }, ports: RunPorts) {
    const { head } = await visibleLatestRun(path.conversationId, principal, ports);
    return toDownloadResponse(query, await createTranscriptDownload(head, ports));
  },
});
