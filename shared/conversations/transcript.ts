import { fileKeys } from "#shared/files/file-store.ts";
import { isTerminal } from "#shared/records/run.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import { toTimestamp } from "#shared/wire/primitives.ts";
import { readPrompt } from "./conversation.ts";
import { readEvents } from "./timeline.ts";
import { putTranscriptEvents } from "./transcript-store.ts";

export const TRANSCRIPT_TYPE = "application/x-ndjson";

/**
 * Composes the transcript of an ended run as JSON Lines: first the run, then each event and message in order. The service composes it
 * from what it has stored, so the transcript exists however the run ended.
 */
export async function composeTranscript(runId: string, ports: RunPorts): Promise<void> {
  const found = await ports.runs.headAndBody(runId);
  if (found === undefined || !isTerminal(found.head.state)) return;
  const { head, body } = found;
  const events = head.next_sequence - 1;
  const prompt = await readPrompt(body, ports);
  const lines = [
    toLine({
      type: "run",
      run_id: runId,
      title: body.title,
      created_at: toTimestamp(head.created_at),
      agent_config: { model_id: body.config.model_id },
    }),
    toLine({ type: "message", sequence: 0, role: "user", content: [{ type: "text", text: prompt }] }),
  ];
  for (let after = 0; after < events; ) {
    const page = await readEvents(head, after, ports);
    const last = page.at(-1);
    if (last === undefined) throw new Error(`event ${after + 1} of ${events} is missing`);
    for (const event of page) lines.push(...toLines(event));
    after = last.sequence;
  }
  await ports.files.put(fileKeys.transcript(runId, events), lines.join(""), TRANSCRIPT_TYPE);
  await putTranscriptEvents(head, events, ports.table);
}

function toLines(event: Awaited<ReturnType<typeof readEvents>>[number]): string[] {
  if (event.type !== "messages") return [toLine({ ...event, type: "event", event_type: event.type })];
  const messages = Array.isArray(event.data["messages"]) ? event.data["messages"] : [];
  return messages.map((message: unknown) =>
    toLine({
      type: "message",
      sequence: event.sequence,
      occurred_at: event.occurred_at,
      ...(event.data["superseded"] === true ? { superseded: true } : {}),
      ...(isRecord(message) ? message : {}),
    }),
  );
}

const toLine = (entry: Record<string, unknown>): string => `${JSON.stringify(entry)}\n`;

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;
