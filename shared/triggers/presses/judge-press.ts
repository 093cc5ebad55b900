import { isTerminal, statusText } from "#shared/records/run.ts";
import { type FoundRun, findLatest } from "#shared/runs/read-run.ts";
import { findAuthorRefusal } from "../author.ts";
import type { DeliveryOutcome } from "../delivery-store.ts";
import type { AnsweredEvent } from "../event.ts";
import type { Press } from "../sources/source.ts";
import type { Trigger } from "../trigger-store.ts";

/** What a pressed button does: nothing, with an outcome that says why, or something to the run. */
export type JudgedPress = { readonly ignored: DeliveryOutcome & { outcome: "ignored" } } | { readonly run: FoundRun };

type ReadPorts = Parameters<typeof findLatest>[1];

/** Whether the person who has pressed a button may, as far as the event shows. The page that one opens needs no right here. */
export function findPressRefusal(trigger: Trigger, event: AnsweredEvent, press: Press): JudgedPress | undefined {
  if (press.action === "open") return ignore("a button has opened the run", press.runId);
  const refusal = findAuthorRefusal(trigger, event);
  if (refusal === undefined) return undefined;
  return { ignored: { outcome: "ignored", reason: "author", detail: statusText(refusal) } };
}

/** Finds the run that the button is for: the latest of its conversation. */
export async function judgePress(
  trigger: Trigger,
  event: AnsweredEvent,
  press: Press,
  ports: ReadPorts,
): Promise<JudgedPress> {
  const run = await findRun(press.runId, trigger, ports);
  if (run === undefined) return ignore("the run of the button was deleted, or is of another trigger");
  const { run_id, state } = run.head;
  if (press.action === "answer") return event.text.trim() === "" ? ignore("the answer is empty", run_id) : { run };
  // A repeat after the run was stopped has the same outcome.
  return isTerminal(state) && state !== "CANCELLED" ? ignore("the run has ended", run_id) : { run };
}

const ignore = (detail: string, run_id?: string): JudgedPress => ({
  ignored: { outcome: "ignored", reason: "event", detail, ...(run_id === undefined ? {} : { run_id }) },
});

async function findRun(runId: string, { uid }: Trigger, ports: ReadPorts): Promise<FoundRun | undefined> {
  const found = await ports.runs.headAndBody(runId);
  return found?.body.trigger?.trigger_id === uid ? findLatest(found, ports) : undefined;
}
