import { queueConsumer } from "#shared/queue/consumer.ts";
import { fireAt } from "#shared/schedules/fire.ts";
import type { FiringPorts } from "#shared/schedules/schedule-ports.ts";
import { TickMessage } from "#shared/schedules/tick.ts";

/** SQS `ticks`: creates one run of a schedule whose timer fired, once or several times, if the time matches its cron expression. */
export const fireSchedule = queueConsumer({
  message: TickMessage,
  async run(message, ports: FiringPorts) {
    await fireAt(message.schedule_id, Date.parse(message.scheduled_time), ports);
  },
});
