import { QUEUES } from "../queue/queue-names.ts";
import type { Queues } from "../queue/queues.ts";

/** Creates the function that sends ticks in the format of EventBridge Scheduler, whose times have no milliseconds. */
export const makeTickSender =
  (queues: Queues) =>
  (id: string, time: number): Promise<void> => {
    const scheduledTime = new Date(time).toISOString().replace(/\.\d{3}Z$/, "Z");
    return queues.send(QUEUES.ticks, JSON.stringify({ v: 1, schedule_id: id, scheduled_time: scheduledTime }));
  };
