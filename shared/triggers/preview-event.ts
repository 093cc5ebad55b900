import { RunyardError } from "#shared/errors.ts";
import { uuidv7 } from "#shared/ids.ts";
import { shownConfig } from "#shared/runs/run-item.ts";
import type { TestTriggerRequest, TestTriggerResponse } from "#shared/wire/triggers/delivery.ts";
import { parseEvent, toTemplateEvent } from "./event.ts";
import { selectEvent } from "./filter.ts";
import { planRun } from "./plan-run.ts";
import { findSource } from "./sources/find-source.ts";
import { checkTemplate, renderPrompt } from "./template.ts";
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
  const received = toTemplateEvent(parseEvent(trigger, Buffer.from(JSON.stringify(payload)), header));
  const { event, ignored } = trigger.enabled ? await selectEvent(trigger, received) : { event: received };
  const { prompt, missing } = renderPrompt(template, event);
  const tested = { event, prompt, ...(missing.length === 0 ? {} : { missing_values: [...missing] }) };
  if (!trigger.enabled) return { outcome: "ignored", reason: "paused", ...tested };
  if (ignored !== undefined) return { ...ignored, ...tested };
  // What the event itself says; a test asks no other system.
  const head = findSource(trigger).toPull?.(event)?.head;
  try {
    const { body } = await planRun(uuidv7(ports.now()), { ...trigger, prompt: template }, event, head, ports);
    const { title, mode, metadata, config } = body;
    const run = { title, mode, ...(metadata === undefined ? {} : { metadata }), config: shownConfig(config) };
    return { outcome: "started", ...tested, run_request: run };
  } catch (error) {
    if (!(error instanceof RunyardError) || error.retryable) throw error;
    return { outcome: "failed", detail: error.message, ...tested };
  }
}
