import { queueConsumer } from "#shared/queue/consumer.ts";
import { fireAt } from "#shared/schedules/fire.ts";
import type { FiringPorts } from "#shared/schedules/ports.ts";
import { TickMessage } from "#shared/schedules/tick.ts";

/** SQS `ticks`: a timer has gone off, once or several times; the schedule makes one run, if this is a time of its cron. */
export const fireSchedule = queueConsumer({
  message: TickMessage,
  async run(message, ports: FiringPorts) {
    await fireAt(message.schedule_id, Date.parse(message.scheduled_time), ports);
  },
});
