import { readEvents } from "#shared/conversations/timeline.ts";
import { logLine } from "#shared/log/log.ts";
import { followupIdOf, readFollowupsAt, toFollowupId } from "#shared/records/followup.ts";
import { isTerminal } from "#shared/records/run.ts";
import type { RunHead } from "#shared/records/run-head.ts";
import { parseTraceParent } from "#shared/records/trace-parent.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import { RunSpans } from "./run-spans.ts";
import type { SpanExporter } from "./span.ts";

/** What exporting the trace of a run needs. */
export type TracePorts = Pick<RunPorts, "runs" | "files" | "table"> & {
  /** @default none: nothing is read or sent */
  readonly spans?: SpanExporter | undefined;
};

/**
 * Exports the last turn of an ended run as spans, unless its caller does not record the trace. They come from the events that are stored, so that
 * they exist however the run ended. A collector that refuses them costs the trace only.
 */
export async function traceRun(head: RunHead, ports: TracePorts): Promise<void> {
  if (ports.spans === undefined || !isTerminal(head.state)) return;
  const body = (await ports.runs.headAndBody(head.run_id))?.body;
  if (body === undefined) return;
  // Earlier versions have not noted where a turn begins: all of the run is read then.
  const { turn_from: turnFrom = 1 } = head;
  const isContinued = turnFrom > 1;
  if (!isContinued && !isRecorded(body.traceparent)) return;
  const spans = new RunSpans({ runId: head.run_id, body, errorCode: readErrorCode(head), isContinued });
  for (let after = turnFrom - 1; after < head.next_sequence - 1; ) {
    const page = await readEvents(head, after, ports);
    for (const event of page) spans.add(event);
    const last = page.at(-1);
    if (last === undefined) break;
    after = last.sequence;
  }
  const followup = spans.followup === undefined ? undefined : await readFollowup(head, spans.followup, ports);
  if (!isRecorded(followup?.traceparent ?? body.traceparent)) return;
  await ports.spans.export(spans.describeLast(followup)).catch((error: unknown) => {
    logLine("warn", "the trace of a run was not exported", { run: head.run_id, error });
  });
}

const isRecorded = (traceparent: string | undefined): boolean => parseTraceParent(traceparent)?.isSampled !== false;

/** The follow-up that was sent with this number; undefined if a promotion has moved it. */
async function readFollowup({ run_id }: RunHead, number: number, { table }: TracePorts) {
  const [found] = await readFollowupsAt(run_id, [number], table);
  return found !== undefined && followupIdOf(found) === toFollowupId(number) ? found : undefined;
}

const readErrorCode = (head: RunHead): string | undefined =>
  "status_message" in head ? head.status_message?.error_code : undefined;
