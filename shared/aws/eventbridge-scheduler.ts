import {
  ConflictException,
  CreateScheduleCommand,
  type CreateScheduleCommandInput,
  DeleteScheduleCommand,
  ResourceNotFoundException,
  type SchedulerClient,
  ServiceQuotaExceededException,
  UpdateScheduleCommand,
  ValidationException,
} from "@aws-sdk/client-scheduler";
import { type Scheduler, type Timer, TimerRefused, TimersExhausted } from "#shared/timers/scheduler.ts";

export interface TimerSettings {
  /** The schedule group of all timers. */
  readonly group: string;
  /** The function that a timer invokes. */
  readonly functionArn: string;
  /** The role with which it does so. */
  readonly roleArn: string;
}

/** Seconds for which a failed invocation is retried. By then the reconciler has noticed that it is missing. */
const RETRY_SECONDS = 600;
const MAX_RETRIES = 10;

/** Creates timers of EventBridge Scheduler, one for each schedule, in one group. */
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
        if (error instanceof ServiceQuotaExceededException) throw new TimersExhausted(error.message, { cause: error });
        if (isAboutTime(error)) throw new TimerRefused(error.message, { cause: error });
        // Another call has created it in the meantime.
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

/** True if the expression is refused, and not the role or the function, which is an error of the deployment. */
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
      Arn: settings.functionArn,
      RoleArn: settings.roleArn,
      // The scheduled time is the same in every attempt; the id of an attempt is not.
      Input: JSON.stringify({ v: 1, schedule_id: id, scheduled_time: "<aws.scheduler.scheduled-time>" }),
      RetryPolicy: { MaximumEventAgeInSeconds: RETRY_SECONDS, MaximumRetryAttempts: MAX_RETRIES },
    },
  };
}
