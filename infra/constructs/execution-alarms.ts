import { Duration } from "aws-cdk-lib";
import { Metric, Stats } from "aws-cdk-lib/aws-cloudwatch";
import { FilterPattern, type ILogGroup, MetricFilter } from "aws-cdk-lib/aws-logs";
import type { ITopic } from "aws-cdk-lib/aws-sns";
import type { IQueue } from "aws-cdk-lib/aws-sqs";
import type { Construct } from "constructs";
import { Alarm } from "./alarm.ts";
import type { BaseFunction } from "./base-function.ts";

export interface ExecutionAlarmsProps {
  /** The queue of runs to dispatch. */
  readonly runsQueue: IQueue;
  /** The function that finds expired leases. */
  readonly reaper: BaseFunction;
  /** The function that corrects timers and makes up for missed firings. */
  readonly reconciler: BaseFunction;
  /** Topic that the alarms notify. @default none: the alarms show in the console */
  readonly topic: ITopic | undefined;
}

/** The alarms of the execution stack, besides those of its dead-letter queues, which come with the queues. */
export function createExecutionAlarms(scope: Construct, props: ExecutionAlarmsProps): void {
  const { runsQueue, topic } = props;
  new Alarm(scope, "RunsWaiting", {
    name: "runs-waiting",
    impact: "Runs stay QUEUED for minutes although their team has room.",
    metric: runsQueue.metricApproximateAgeOfOldestMessage({ period: Duration.minutes(1), statistic: Stats.MAXIMUM }),
    threshold: 300,
    periods: 5,
    topic,
  });
  new Alarm(scope, "ReconcilerFailing", {
    name: "reconciler-failing",
    impact: "Firings that were missed are not made up for, and changes of schedules may have no effect.",
    metric: props.reconciler.lambda.metricErrors({ period: Duration.minutes(5), statistic: Stats.SUM }),
    threshold: 3,
    topic,
  });
  createReaperAlarms(scope, props);
  new Alarm(scope, "FunctionsThrottled", {
    name: "functions-throttled",
    impact: "Calls are answered 503 and sandboxes start late, since the account has no free Lambda executions.",
    metric: new Metric({
      namespace: "AWS/Lambda",
      metricName: "Throttles",
      statistic: Stats.SUM,
      period: Duration.minutes(5),
    }),
    threshold: 10,
    topic,
  });
}

function createReaperAlarms(scope: Construct, { reaper, topic }: ExecutionAlarmsProps): void {
  new Alarm(scope, "ReaperSilent", {
    name: "reaper-silent",
    impact: "Runs whose sandbox was lost stay INPROGRESS, and runs whose message was lost stay QUEUED.",
    metric: reaper.lambda.metricInvocations({ period: Duration.minutes(1), statistic: Stats.SUM }),
    periods: 5,
    alarmWhenBelow: true,
    topic,
  });
  new Alarm(scope, "LeasesExtended", {
    name: "leases-extended",
    impact: "Many runs seem to stand still at once, and those whose sandbox really died wait longer for a new one.",
    metric: openCircuitPasses(scope, reaper.log),
    topic,
  });
}

/** The reaper logs each pass in which its circuit is open; counting log lines costs nothing while there are none. */
function openCircuitPasses(scope: Construct, logGroup: ILogGroup): Metric {
  return new MetricFilter(scope, "BrakedPasses", {
    logGroup,
    filterPattern: FilterPattern.any(
      FilterPattern.booleanValue("$.circuitOpen", true),
      FilterPattern.booleanValue("$.message.circuitOpen", true),
    ),
    metricNamespace: "Runyard",
    metricName: "BrakedPasses",
  }).metric({ period: Duration.minutes(5), statistic: Stats.SUM });
}
