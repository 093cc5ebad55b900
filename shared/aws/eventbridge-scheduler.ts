import {
  ConflictException,
  CreateScheduleCommand,
  type CreateScheduleCommandInput,
  DeleteScheduleCommand,
  ResourceNotFoundException,
  type SchedulerClient,
  UpdateScheduleCommand,
  ValidationException,
} from "@aws-sdk/client-scheduler";
import { type Scheduler, type Timer, TimerRefused } from "#shared/timers/scheduler.ts";

export interface TimerSettings {
  /** The schedule group that all timers are in. */
  readonly group: string;
  /** The queue that a timer sends to when it goes off. */
  readonly queueArn: string;
  /** The role that it does so by. */
  readonly roleArn: string;
}

/** Seconds for which a message that could not be sent is tried again; by then the reconciler has seen that it is missing. */
const RETRY_SECONDS = 600;
const MAX_RETRIES = 10;

/** Timers of EventBridge Scheduler: one schedule there for each of ours, in one group. */
export function eventBridgeScheduler(client: SchedulerClient, settings: () => TimerSettings): Scheduler {
  const update = async (input: CreateScheduleCommandInput): Promise<boolean> => {
    try {
      await client.send(new UpdateScheduleCommand(input));
      return true;
    } catch (error) {
      if (error instanceof ResourceNotFoundException) return false;
      throw error;
    }
  };

  return {
    async put(timer) {
      const input = timerInput(timer, settings());
      try {
        if (await update(input)) return;
        await client.send(new CreateScheduleCommand(input));
      } catch (error) {
        if (isAboutTime(error)) throw new TimerRefused(error.message, { cause: error });
        // Somebody else has made it in between.
        if (error instanceof ConflictException && (await update(input))) return;
        throw error;
      }
    },

    async remove(id) {
      try {
        await client.send(new DeleteScheduleCommand({ Name: id, GroupName: settings().group }));
      } catch (error) {
        if (!(error instanceof ResourceNotFoundException)) throw error;
      }
    },
  };
}

/** True where the expression is what is refused, and not our role or queue, which is a fault of the deployment. */
const isAboutTime = (error: unknown): error is ValidationException =>
  error instanceof ValidationException && /expression|time ?zone/i.test(error.message);

function timerInput({ id, expression, timeZone }: Timer, settings: TimerSettings): CreateScheduleCommandInput {
  return {
    Name: id,
    GroupName: settings.group,
    ScheduleExpression: expression,
    ScheduleExpressionTimezone: timeZone,
    State: "ENABLED",
    FlexibleTimeWindow: { Mode: "OFF" },
    Target: {
      Arn: settings.queueArn,
      RoleArn: settings.roleArn,
      // The time that the timer was set to is the same at every attempt, where an attempt's own id is not.
      Input: JSON.stringify({ v: 1, schedule_id: id, scheduled_time: "<aws.scheduler.scheduled-time>" }),
      RetryPolicy: { MaximumEventAgeInSeconds: RETRY_SECONDS, MaximumRetryAttempts: MAX_RETRIES },
    },
  };
}
