import * as v from "valibot";
import { listDownloads } from "#shared/conversations/followup-attachments.ts";
import { endpoint, PathId } from "#shared/http/endpoint.ts";
import { visibleRun } from "#shared/runs/read-run.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import { DownloadAttachmentsRequest, DownloadAttachmentsResponse } from "#shared/wire/attachment.ts";

/**
 * POST /agent/runs/{runId}/attachments/download: creates download URLs for attachments of a run and of its follow-ups.
 * Returns 404 if one of them is not an attachment of this run.
 */
export const downloadAttachments = endpoint({
  request: { path: v.object({ runId: PathId }), body: DownloadAttachmentsRequest },
  reply: { 200: DownloadAttachmentsResponse },
  async run({ path, body, principal }, ports: RunPorts) {
    const run = await visibleRun(path.runId, principal, ports);
    const attachments = await listDownloads(run, body.attachment_ids, principal, ports);
    return { status: 200, body: { attachments } };
  },
});
