import * as v from "valibot";
import { RunyardError } from "#shared/errors.ts";
import { uuidv7 } from "#shared/ids.ts";
import { readBodies } from "#shared/records/run-body.ts";
import { readHead } from "#shared/records/run-head.ts";
import { shownConfig } from "#shared/runs/run-item.ts";
import type { TestTriggerRequest, TestTriggerResponse } from "#shared/wire/triggers/delivery.ts";
import { type AnsweredEvent, parseEvent, toTemplateEvent } from "./event.ts";
import { selectEvent } from "./filter.ts";
import { planRun } from "./plan-run.ts";
import { findPressRefusal, judgePress } from "./presses/judge-press.ts";
import { findSource } from "./sources/find-source.ts";
import type { Press, ReadHeader } from "./sources/source.ts";
import { checkTemplate, DEFAULT_FOLLOWUP, renderPrompt } from "./template.ts";
import type { TriggerTestPorts } from "./trigger-ports.ts";
import type { Trigger } from "./trigger-store.ts";

/**
 * Tells what an event would result in, by the trigger's template or another one. Neither the sender nor earlier deliveries are
 * checked, so that an event can be tested again and again. Nothing is stored.
 */
export async function previewEvent(
  trigger: Trigger,
  { headers = {}, payload, prompt: template = trigger.prompt }: TestTriggerRequest,
  ports: TriggerTestPorts,
): Promise<TestTriggerResponse> {
  checkTemplate(template);
  const names = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  // The payload is JSON, however the headers describe the body that it came in.
  const header = (name: string) => (name === "content-type" ? undefined : names.get(name));
  const parsed = parseEvent(trigger, Buffer.from(JSON.stringify(payload)), header);
  const { installationId, unreached } = await findInstallation(trigger, parsed, header, ports);
  const received: AnsweredEvent = { ...toTemplateEvent(parsed), installationId };
  const press = findSource(trigger).toPress?.(received);
  const isSelected = trigger.enabled && unreached === undefined && press === undefined;
  const { event, ignored } = isSelected ? await selectEvent(trigger, received) : { event: received };
  const { installationId: _, ...shown } = event;
  const { prompt, missing } = renderPrompt(toTemplate(trigger, template, press), shown);
  const tested = { event: shown, prompt, ...(missing.length === 0 ? {} : { missing_values: [...missing] }) };
  if (unreached !== undefined) return { outcome: "ignored", reason: "event", detail: unreached, ...tested };
  if (!trigger.enabled) return { outcome: "ignored", reason: "paused", ...tested };
  if (press !== undefined) return { ...(await previewPress(trigger, event, press, ports)), ...tested };
  if (ignored !== undefined) return { ...ignored, ...tested };
  return { ...(await previewRun({ ...trigger, prompt: template }, event, ports)), ...tested };
}

/** A button that answers sends a follow-up; others send no text. */
const toTemplate = ({ followup_prompt = DEFAULT_FOLLOWUP }: Trigger, template: string, press: Press | undefined) =>
  press === undefined ? template : press.action === "answer" ? followup_prompt : "";

interface FoundInstallation {
  /** The installation of the GitHub App that has sent the event. */
  readonly installationId: number | undefined;
  /** Why the event does not reach the trigger. */
  readonly unreached?: string;
}

const Sender = v.object({ installation: v.object({ id: v.pipe(v.number(), v.integer()) }) });

/** Only payloads of Apps name an installation. Those of the webhook of a repository, to the trigger's own URL, say so in a header. */
async function findInstallation(
  { kind, owner }: Trigger,
  { payload }: AnsweredEvent,
  header: ReadHeader,
  { ownerOf }: TriggerTestPorts,
): Promise<FoundInstallation> {
  const sender = v.safeParse(Sender, payload);
  const target = header("x-github-hook-installation-target-type") ?? "integration";
  if (kind !== "github" || !sender.success || target !== "integration") return { installationId: undefined };
  const { id } = sender.output.installation;
  if (owner.type === "Team" && (await ownerOf(id))?.team_uid === owner.uid) return { installationId: id };
  return {
    installationId: undefined,
    unreached: `the team does not have the installation ${id} of the GitHub App: claim it, or send events to the trigger's URL`,
  };
}

type Preview = Pick<TestTriggerResponse, "outcome" | "reason" | "detail" | "run_id" | "run_request">;

async function previewPress(
  trigger: Trigger,
  event: AnsweredEvent,
  press: Press,
  { table }: TriggerTestPorts,
): Promise<Preview> {
  const refused = findPressRefusal(trigger, event, press);
  const headAndBody = async (runId: string) => {
    const [head, [body]] = await Promise.all([readHead(runId, table), readBodies([runId], table)]);
    return head === undefined || body === undefined ? undefined : { head, body };
  };
  const judged = refused ?? (await judgePress(trigger, event, press, { table, runs: { headAndBody } }));
  if ("ignored" in judged) return judged.ignored;
  const detail = press.action === "answer" ? "the button answers the run" : "the button stops the run";
  return { outcome: "followed_up", run_id: judged.run.head.run_id, detail };
}

async function previewRun(trigger: Trigger, event: AnsweredEvent, ports: TriggerTestPorts): Promise<Preview> {
  // What the event itself says; a test asks no other system.
  const head = findSource(trigger).toPull?.(event)?.head;
  try {
    const { body } = await planRun(uuidv7(ports.now()), trigger, event, head, ports);
    const { title, mode, metadata, config } = body;
    const run = { title, mode, ...(metadata === undefined ? {} : { metadata }), config: shownConfig(config) };
    return { outcome: "started", run_request: run };
  } catch (error) {
    if (!(error instanceof RunyardError) || error.retryable) throw error;
    return { outcome: "failed", detail: error.message };
  }
}
