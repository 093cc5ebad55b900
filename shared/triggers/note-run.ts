import { readFailures } from "#shared/schedules/failures.ts";
import { retryOnConflict } from "#shared/table/optimistic-write.ts";
import { putTriggerFailed } from "./trigger-failed.ts";
import type { TriggerReadPorts } from "./trigger-ports.ts";
import { listTriggerRuns } from "./trigger-run-store.ts";
import { type Trigger, triggerStore } from "./trigger-store.ts";

type Ports = Pick<TriggerReadPorts, "table" | "now">;

/** Records with a trigger that one of its runs has ended: since when they fail. It pauses where too many have failed in a row. */
export async function noteRunOfTrigger(uid: string, ports: Ports): Promise<void> {
  const { table } = ports;
  await retryOnConflict("the trigger is", async () => {
    const before = await triggerStore(table).get(uid);
    if (before === undefined) return;
    const runs = await listTriggerRuns(uid, table);
    const { failing_since, pauseReason, latest = "" } = await readFailures(runs, before, table);
    const { failing_since: _, ...rest } = before;
    const after = { ...rest, ...(failing_since === undefined ? {} : { failing_since }) };
    if (pauseReason !== undefined && before.enabled) await pause(before, after, { reason: pauseReason, latest }, ports);
    else if (failing_since !== before.failing_since) await triggerStore(table).noteFailing(before, failing_since);
  });
}

async function pause(
  before: Trigger,
  after: Trigger,
  { reason, latest }: { readonly reason: string; readonly latest: string },
  { table, now }: Ports,
): Promise<void> {
  const { uid, owner, name } = before;
  const facts = { paused: true, run_id: latest, reason };
  const event = { event_id: `${uid}.${latest}`, trigger_uid: uid, title: name, facts };
  const teamEvent = putTriggerFailed(owner, event, now());
  const updated_at = Math.max(now(), before.updated_at + 1);
  await triggerStore(table).update(
    before,
    { ...after, enabled: false, pause_reason: reason, updated_at },
    { teamEvent },
  );
}
