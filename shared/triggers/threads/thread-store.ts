import { sha256 } from "#shared/ids.ts";
import { readConversationTail } from "#shared/runs/conversation-store.ts";
import type { FoundRun } from "#shared/runs/read-run.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import { keys } from "#shared/table/keys.ts";
import type { Put } from "#shared/table/table.ts";
import type { TriggerEvent } from "../event.ts";
import type { Trigger } from "../trigger-store.ts";

/** Seconds for which later events of a thread continue its run. */
const KEPT_SECONDS = 365 * 24 * 3600;

/** The conversation that the events of one thread share. */
export interface Thread {
  /** The latest run of the conversation; absent before the first event, and once the runs are deleted. */
  readonly run?: FoundRun;
  /** The write that makes a new run that of the thread; its condition fails where another event has started one. */
  readonly putRun: (runId: string, now: number) => Put;
}

/** Reads the thread of an event; undefined for an event that starts a run of its own. */
export async function readThread(
  trigger: Trigger,
  event: TriggerEvent,
  ports: Pick<RunPorts, "table" | "runs">,
): Promise<Thread | undefined> {
  if (trigger.threads === "separate" || event.thread === "") return undefined;
  const key = keys.triggerThread(trigger.uid, sha256(event.thread));
  const item = await ports.table.get(key);
  const conversation = item === undefined ? undefined : String(item["run_id"]);
  const putRun = (runId: string, now: number): Put => ({
    kind: "put",
    item: { ...key, v: 1, run_id: runId, expires_at: Math.ceil(now / 1000) + KEPT_SECONDS },
    if: conversation === undefined ? { pk: { exists: false } } : { run_id: { eq: conversation } },
  });
  if (conversation === undefined) return { putRun };
  const { latestRunId } = await readConversationTail(conversation, ports.table);
  const run = await ports.runs.headAndBody(latestRunId);
  return { putRun, ...(run === undefined ? {} : { run }) };
}
