import type { SQSBatchResponse, SQSEvent } from "aws-lambda";
import * as v from "valibot";
import { queueConsumer } from "#shared/queue/consumer.ts";
import { invocation } from "#shared/queue/invocation.ts";
import { fireAt } from "#shared/schedules/fire.ts";
import type { FiringPorts } from "#shared/schedules/schedule-ports.ts";
import { TickMessage } from "#shared/schedules/tick.ts";

const ticks = queueConsumer({
  message: TickMessage,
  async run({ schedule_id, scheduled_time }, ports: FiringPorts) {
    await fireAt(schedule_id, Date.parse(scheduled_time), ports);
  },
});

/**
 * Creates one run of a schedule whose timer fired, once or several times, if the time matches its cron expression. EventBridge Scheduler
 * invokes it with the message itself; on a single machine the message comes through a queue.
 */
export const fireSchedule = invocation(
  async (event: v.InferOutput<typeof TickMessage> | SQSEvent, ports: FiringPorts): Promise<SQSBatchResponse> => {
    if ("Records" in event) return ticks.handle(event, ports);
    const { schedule_id, scheduled_time } = v.parse(TickMessage, event);
    await fireAt(schedule_id, Date.parse(scheduled_time), ports);
    return { batchItemFailures: [] };
  },
);
