import * as v from "valibot";
import { endpoint, PathId } from "#shared/http/endpoint.ts";
import { previewEvent } from "#shared/triggers/preview-event.ts";
import { readManagedTrigger } from "#shared/triggers/read-trigger.ts";
import type { TriggerTestPorts } from "#shared/triggers/trigger-ports.ts";
import { TestTriggerRequest, TestTriggerResponse } from "#shared/wire/triggers/delivery.ts";

/**
 * POST /agent/triggers/{triggerUid}/test: reports what an event would result in. The response contains the prompt of its run.
 * Nothing is created, and no signature is needed. Requires the role `admin`, unless the trigger is personal.
 */
export const testTrigger = endpoint({
  request: { path: v.object({ triggerUid: PathId }), body: TestTriggerRequest },
  reply: { 200: TestTriggerResponse },
  async run({ path, body, principal }, ports: TriggerTestPorts) {
    const trigger = await readManagedTrigger(principal, path.triggerUid, ports.table);
    return { status: 200, body: await previewEvent(trigger, body, ports) };
  },
});
