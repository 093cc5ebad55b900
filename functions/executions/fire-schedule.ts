import { eventConsumer } from "#shared/queue/event-consumer.ts";
import { fireAt } from "#shared/schedules/fire.ts";
import type { FiringPorts } from "#shared/schedules/schedule-ports.ts";
import { TickMessage } from "#shared/schedules/tick.ts";

/**
 * Creates one run of a schedule whose timer fired, once or several times, if the time matches its cron expression. EventBridge Scheduler
 * invokes it with the message itself; on a single machine the message comes through a queue.
 */
export const fireSchedule = eventConsumer({
  message: TickMessage,
  async run({ schedule_id, scheduled_time }, ports: FiringPorts) {
    await fireAt(schedule_id, Date.parse(scheduled_time), ports);
  },
});
