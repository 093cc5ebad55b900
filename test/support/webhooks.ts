import { attemptDeliveries } from "#functions/executions/attempt-deliveries.ts";
import { planDeliveries } from "#functions/executions/plan-deliveries.ts";
import { eventSources } from "#infra/event-sources.ts";
import { findWebhookEvent } from "#shared/webhooks/run-event-store.ts";
import type { TestControlPlane } from "./control-plane.ts";
import { withRights } from "./rights.ts";

/** Invokes the planner with all events of runs that webhooks deliver, as the stream of the table does with new ones. */
export async function streamEvents({ table, ports }: TestControlPlane): Promise<void> {
  const Records = table
    .all()
    .filter((item) => findWebhookEvent(item) !== undefined)
    .map(({ pk, sk }) => ({
      eventSource: "aws:dynamodb",
      eventName: "INSERT",
      dynamodb: { Keys: { pk: { S: pk }, sk: { S: sk } } },
    }));
  const { file, rights } = eventSources.planDeliveries;
  await withRights(file, rights, () => planDeliveries.handle({ Records }, ports));
}

/** Attempts the deliveries whose first attempt was requested, as often as it was requested. */
export async function attemptRequested({ webhooks, ports }: TestControlPlane): Promise<void> {
  const { file, rights } = eventSources.attemptDeliveries;
  const deliveries = webhooks.requested.splice(0);
  await withRights(file, rights, () => attemptDeliveries.handle({ v: 1, deliveries }, ports));
}

/** Sends the webhooks and replies that the changes of runs have caused. */
export async function deliverEvents(plane: TestControlPlane): Promise<void> {
  await streamEvents(plane);
  await attemptRequested(plane);
}

/** Lets time pass, and the rule that runs each minute request what is due, and this be attempted. */
export async function passMinutes(plane: TestControlPlane, minutes: number): Promise<void> {
  const { clock, ports, webhooks } = plane;
  const { file, rights } = eventSources.planDeliveries;
  clock.now += minutes * 60_000;
  webhooks.requested.length = 0;
  const tick = { source: "aws.events", "detail-type": "Scheduled Event" } as const;
  await withRights(file, rights, () => planDeliveries.handle(tick, ports));
  await attemptRequested(plane);
}
