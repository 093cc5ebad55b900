import * as v from "valibot";
import { createTranscriptDownload } from "#shared/conversations/transcript-download.ts";
import { downloadQuery, downloadReply, toDownloadResponse } from "#shared/http/download.ts";
import { endpoint, PathId } from "#shared/http/endpoint.ts";
import { visibleRun } from "#shared/runs/read-run.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";

/**
 * GET /agent/runs/{runId}/transcript: redirects to the raw transcript of a run. The transcript is a JSON Lines file,
 * available shortly after the run has ended; before that, the response is 404, which is retryable once the run has ended.
 * The URL expires after 15 minutes by default and needs no credentials. With `redirect=false` the response is 200 and contains the URL. For a third-party
 * harness, the file has that harness's own format and is available as soon as the harness has uploaded it.
 */
export const getTranscript = endpoint({
  request: { path: v.object({ runId: PathId }), query: downloadQuery },
  reply: downloadReply,
  async run({ path, query, principal }, ports: RunPorts) {
    const { head } = await visibleRun(path.runId, principal, ports);
    return toDownloadResponse(query, await createTranscriptDownload(head, ports));
  },
});
