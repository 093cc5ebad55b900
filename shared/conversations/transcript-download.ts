import { RunyardError } from "#shared/errors.ts";
import { fileKeys, formerTranscriptKey } from "#shared/files/file-store.ts";
import { isTerminal } from "#shared/records/run.ts";
import { isEndedHead, type RunHead } from "#shared/records/run-head.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import type { DownloadUrl } from "#shared/wire/artifact.ts";
import { toTimestamp } from "#shared/wire/primitives.ts";
import { findRawTranscript } from "./raw-transcript.ts";
import { TRANSCRIPT_TYPE } from "./transcript.ts";

/** Creates a URL of the raw transcript of a run. */
export async function createTranscriptDownload(head: RunHead, ports: RunPorts): Promise<DownloadUrl> {
  const key = (await findRawTranscript(head, ports)) ?? findTranscript(head);
  if (key === undefined) {
    throw new RunyardError("resource_not_found", {
      detail: "the run has no transcript yet: it is composed within moments of the run's end",
      // For an unfinished run, a repeated request would find none either.
      retryable: isTerminal(head.state),
    });
  }
  const file = { filename: `run-${head.run_id}.jsonl`, contentType: TRANSCRIPT_TYPE };
  const { url, expiresAt } = await ports.files.downloadUrl(key, file);
  return { download_url: url, expires_at: toTimestamp(expiresAt) };
}

/** The key of the composed transcript, if there is one. */
function findTranscript(head: RunHead): string | undefined {
  if (!isEndedHead(head) || head.transcript_events === undefined) return undefined;
  const toKey = head.transcript_spread === true ? fileKeys.transcript : formerTranscriptKey;
  return toKey(head.run_id, head.transcript_events);
}
