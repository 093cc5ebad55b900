import * as v from "valibot";
import { findConversationTranscript } from "#shared/conversations/raw-transcript.ts";
import { TRANSCRIPT_TYPE } from "#shared/conversations/transcript.ts";
import { authorizeExecutionRead } from "#shared/executions/execution-access.ts";
import { downloadQuery, toDownloadResponse } from "#shared/http/download.ts";
import { endpoint } from "#shared/http/endpoint.ts";
import { REDIRECT } from "#shared/http/response.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import { toTimestamp } from "#shared/wire/primitives.ts";

/**
 * GET /harness-support/transcript: redirects to the raw transcript of a third-party harness. The URL expires after 15
 * minutes by default. With `redirect=false` the response is 200 and contains the URL. A conversation of the default
 * harness returns 400, one without a transcript 404, and another harness than the one of the execution gets 409.
 */
export const getRawTranscript = endpoint({
  request: { query: downloadQuery },
  // Written out, so that clients keep the type that they have for it.
  reply: {
    302: REDIRECT,
    200: v.object({
      /** A time-limited URL of the file. Do not send credentials to it. @format uri */
      download_url: v.string(),
      /** The expiry time of the URL. @format date-time */
      expires_at: v.string(),
    }),
  },
  errors: ["resource_not_found", "conflict"],
  async run({ query, principal, header }, ports: RunPorts) {
    const head = authorizeExecutionRead(principal, header);
    const file = { filename: `conversation-${head.run_id}.jsonl`, contentType: TRANSCRIPT_TYPE };
    const { url, expiresAt } = await ports.files.downloadUrl(await findConversationTranscript(head, ports), file);
    return toDownloadResponse(query, { download_url: url, expires_at: toTimestamp(expiresAt) });
  },
});
