import * as v from "valibot";
import { findRawTranscript } from "#shared/conversations/raw-transcript.ts";
import { TRANSCRIPT_TYPE } from "#shared/conversations/transcript.ts";
import { RunyardError } from "#shared/errors.ts";
import { fileKeys } from "#shared/files/file-store.ts";
import { endpoint, PathId } from "#shared/http/endpoint.ts";
import { one } from "#shared/http/request.ts";
import { REDIRECT } from "#shared/http/response.ts";
import { isTerminal } from "#shared/records/run.ts";
import { visibleRun } from "#shared/runs/read-run.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import { toTimestamp } from "#shared/wire/primitives.ts";

/**
 * GET /agent/runs/{runId}/transcript: redirects to the raw transcript of a run. The transcript is a JSON Lines file,
 * available shortly after the run has ended; before that, the response is 404, which is retryable once the run has ended.
 * The URL expires after 15 minutes by default and needs no credentials. With `redirect=false` the response is 200 and contains the URL. For a third-party
 * harness, the file has that harness's own format and is available as soon as the harness has uploaded it.
 */
export const getTranscript = endpoint({
  request: { path: v.object({ runId: PathId }), query: { redirect: one(v.picklist(["true", "false"])) } },
  reply: { 302: REDIRECT, 200: v.object({ download_url: v.string(), expires_at: v.string() }) },
  async run({ path, query, principal }, ports: RunPorts) {
    const { head } = await visibleRun(path.runId, principal, ports);
    const events = "transcript_events" in head ? head.transcript_events : undefined;
    const composed = events === undefined ? undefined : fileKeys.transcript(path.runId, events);
    const key = (await findRawTranscript(head, ports)) ?? composed;
    if (key === undefined) {
      throw new RunyardError("resource_not_found", {
        detail: "the run has no transcript yet: it is composed within moments of the run's end",
        // For an unfinished run, a repeated request would find none either.
        retryable: isTerminal(head.state),
      });
    }
    const file = { filename: `run-${path.runId}.jsonl`, contentType: TRANSCRIPT_TYPE };
    const { url, expiresAt } = await ports.files.downloadUrl(key, file);
    // A web page cannot read the target of a redirect.
    if (query.redirect === "false") {
      return { status: 200, body: { download_url: url, expires_at: toTimestamp(expiresAt) } };
    }
    return { status: 302, location: url };
  },
});
