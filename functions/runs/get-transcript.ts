import * as v from "valibot";
import { findRawTranscript } from "#shared/conversations/raw-transcript.ts";
import { TRANSCRIPT_TYPE } from "#shared/conversations/transcript.ts";
import { RunyardError } from "#shared/errors.ts";
import { fileKeys } from "#shared/files/file-store.ts";
import { endpoint, PathId, REDIRECT } from "#shared/http/endpoint.ts";
import { one } from "#shared/http/request.ts";
import type { RunPorts } from "#shared/runs/ports.ts";
import { visibleRun } from "#shared/runs/read-run.ts";
import { toTimestamp } from "#shared/wire/primitives.ts";

/**
 * GET /agent/runs/{runId}/transcript: redirects to a time-limited URL of the raw transcript. With redirect=false it returns
 * the URL. A third-party harness has a transcript in its own format, once it has stored one.
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
