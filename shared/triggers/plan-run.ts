import type { Environment } from "#shared/environments/environment.ts";
import { RunyardError } from "#shared/errors.ts";
import { isMember } from "#shared/records/read-team.ts";
import { statusText } from "#shared/records/run.ts";
import type { RunBody } from "#shared/records/run-body.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import { planUnattendedRun, type UnattendedPorts } from "#shared/schedules/unattended-run.ts";
import type { Owner } from "#shared/table/keys.ts";
import { findAuthorRefusal } from "./author.ts";
import type { AnsweredEvent, TriggerEvent } from "./event.ts";
import { withPullHead } from "./pulls/pull-head.ts";
import { findSource } from "./sources/find-source.ts";
import type { PullHead } from "./sources/source.ts";
import { findTicket } from "./sources/ticket.ts";
import { renderPrompt } from "./template.ts";
import { limitToBudget } from "./trigger-config.ts";
import type { Trigger } from "./trigger-store.ts";

/** Whether events of this type start runs. GitHub's `ping`, which reports a new webhook, does only if it is named. */
const takesEvent = ({ kind, events }: Trigger, { type, action }: TriggerEvent): boolean =>
  events.includes(type) ||
  events.includes(`${type}.${action}`) ||
  (events.length === 0 && !(kind === "github" && type === "ping"));

/** Why an event starts no run. */
export interface Ignored {
  readonly outcome: "ignored";
  readonly reason: "event" | "own" | "author" | "filter";
  readonly detail?: string;
}

/** Tells why an event starts no run by its type or its author; undefined if it starts one. */
export function findReasonToIgnore(trigger: Trigger, event: TriggerEvent): Ignored | undefined {
  if (!takesEvent(trigger, event)) return { outcome: "ignored", reason: "event" };
  if (findSource(trigger).isOwn?.(event) === true) return { outcome: "ignored", reason: "own" };
  const detail = findAuthorRefusal(trigger, event);
  return detail === undefined ? undefined : { outcome: "ignored", reason: "author", detail: statusText(detail) };
}

/** Refuses events of a trigger whose creator has left the team. */
export async function requireMember(owner: Owner, creator: string, table: RunPorts["table"]): Promise<void> {
  if (owner.type === "User" || (await isMember(owner.uid, creator, table))) return;
  throw new RunyardError("not_authorized", { detail: "the creator of the trigger is no longer a member of the team" });
}

interface TriggeredRun {
  readonly owner: Owner;
  readonly environment: Environment | undefined;
  /** The part of its team's counters that counts it. */
  readonly part: number | undefined;
  readonly body: RunBody;
  /** The values of the template that the event does not have. */
  readonly missing: readonly string[];
}

/** Plans the run of an event. Refuses one that could not be created, such as that of a deleted identity. */
export async function planRun(
  runId: string,
  trigger: Trigger,
  event: AnsweredEvent,
  head: PullHead | undefined,
  ports: UnattendedPorts,
): Promise<TriggeredRun> {
  const { owner, name, mode, metadata, created_by } = trigger;
  await requireMember(owner, created_by.uid, ports.table);
  const { prompt, missing } = renderPrompt(trigger.prompt, event);
  const ticket = findTicket(trigger, event);
  const labels = { ...metadata, ...ticket.labels };
  const { environment, part, common } = await planUnattendedRun(runId, { ...trigger, prompt }, ports);
  const body: RunBody = {
    title: name,
    ...common,
    config: limitToBudget(common.config, trigger.budget_usd),
    source: findSource(trigger).runSource,
    trigger: { trigger_id: trigger.uid, ...(ticket.url === undefined ? {} : { url: ticket.url }) },
    mode,
    ...(Object.keys(labels).length === 0 ? {} : { metadata: labels }),
  };
  return { owner, environment, part, body: withPullHead(body, trigger, event, head), missing };
}
