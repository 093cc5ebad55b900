import { fileKeys } from "#shared/files/file-store.ts";
import { isTerminal } from "#shared/records/run.ts";
import { isStopAwaited } from "#shared/records/run-head.ts";
import type { RunPorts } from "#shared/runs/ports.ts";
import { keys } from "#shared/table/keys.ts";
import { ConditionFailed } from "#shared/table/table.ts";
import { toTimestamp } from "#shared/wire/primitives.ts";
import { fullPrompt } from "./conversation.ts";
import { eventsAfter } from "./timeline.ts";

export const TRANSCRIPT_TYPE = "application/x-ndjson";

/**
 * Composes the transcript of an ended run as JSON Lines: first the run, then each event and message in order. It is
 * made from what the service has stored, so it exists however the run ended.
 */
export async function composeTranscript(runId: string, ports: RunPorts): Promise<void> {
  const found = await ports.runs.headAndBody(runId);
  if (found === undefined || !isTerminal(found.head.state)) return;
  const { head, body } = found;
  const events = head.next_sequence - 1;
  const prompt = await fullPrompt(body, ports);
  const lines = [
    line({
      type: "run",
      run_id: runId,
      title: body.title,
      created_at: toTimestamp(head.created_at),
      agent_config: { model_id: body.config.model_id },
    }),
    line({ type: "message", sequence: 0, role: "user", content: [{ type: "text", text: prompt }] }),
  ];
  for (let after = 0; after < events; ) {
    const page = await eventsAfter(head, after, ports);
    const last = page.at(-1);
    if (last === undefined) throw new Error(`event ${after + 1} of ${events} is missing`);
    for (const event of page) lines.push(...linesOf(event));
    after = last.sequence;
  }
  await ports.files.put(fileKeys.transcript(runId, events), lines.join(""), TRANSCRIPT_TYPE);
  const stopping = isStopAwaited(head) || head.stops !== undefined;
  try {
    await ports.table.write({
      kind: "update",
      key: keys.head(runId),
      set: { transcript_events: events },
      // A run whose sandbox is not known to have stopped is still looked at.
      remove: stopping ? [] : ["check_shard", "check_at"],
      if: {
        next_sequence: { eq: head.next_sequence },
        state: { eq: head.state },
        ...(stopping ? {} : { stops: { exists: false } }),
      },
    });
  } catch (error) {
    // Something happened in between; its own message composes the transcript again.
    if (!(error instanceof ConditionFailed)) throw error;
  }
}

function linesOf(event: Awaited<ReturnType<typeof eventsAfter>>[number]): string[] {
  if (event.type !== "messages") return [line({ ...event, type: "event", event_type: event.type })];
  const messages = Array.isArray(event.data["messages"]) ? event.data["messages"] : [];
  return messages.map((message: unknown) =>
    line({
      type: "message",
      sequence: event.sequence,
      occurred_at: event.occurred_at,
      ...(event.data["superseded"] === true ? { superseded: true } : {}),
      ...(isRecord(message) ? message : {}),
    }),
  );
}

const line = (entry: Record<string, unknown>): string => `${JSON.stringify(entry)}\n`;

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;
