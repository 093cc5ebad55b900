import { Duration } from "aws-cdk-lib";
import { Metric, Stats } from "aws-cdk-lib/aws-cloudwatch";
import { FilterPattern, type ILogGroup, MetricFilter } from "aws-cdk-lib/aws-logs";
import type { ITopic } from "aws-cdk-lib/aws-sns";
import type { Construct } from "constructs";
import { toNamespace } from "../names.ts";
import { Alarm } from "./alarm.ts";
import type { BaseFunction } from "./base-function.ts";

export interface ExecutionAlarmsProps {
  /** The function that starts sandboxes. */
  readonly dispatcher: BaseFunction;
  /** The model gateway. @default none: the stage has no function for it */
  readonly gateway: BaseFunction | undefined;
  /** The function that finds expired leases. */
  readonly reaper: BaseFunction;
  /** The functions that rules invoke each minute and each hour, directly or through another of these functions. */
  readonly passes: { readonly minutely: readonly BaseFunction[]; readonly hourly: readonly BaseFunction[] };
  /** Topic that the alarms notify. @default none: the alarms show in the console */
  readonly topic: ITopic | undefined;
}

/** The alarms of the execution stack, besides those of its dead-letter queues, which come with the queues. */
export function createExecutionAlarms(scope: Construct, props: ExecutionAlarmsProps): void {
  const { topic } = props;
  new Alarm(scope, "RunsWaiting", {
    name: "runs-waiting",
    impact: "Runs stay QUEUED for minutes although their team has room.",
    metric: measureWait(scope, props.reaper.log, { id: "LongestWait", field: "waitedSeconds" }),
    threshold: 300,
    periods: 5,
    topic,
  });
  new Alarm(scope, "EndsWaiting", {
    name: "ends-waiting",
    impact: "Runs have ended, but their transcripts, usage and the next waiting runs are late.",
    metric: measureWait(scope, props.reaper.log, { id: "EndsWait", field: "endsWaitedSeconds" }),
    threshold: 300,
    periods: 5,
    topic,
  });
  new Alarm(scope, "PassesFailing", {
    name: "passes-failing",
    impact: "Expired leases, missed firings of schedules, webhooks or the deletion of old runs wait.",
    metric: countFailedPasses(scope, props.passes),
    threshold: FAILED_PASSES,
    topic,
  });
  new Alarm(scope, "StartsFailing", {
    name: "starts-failing",
    impact: "Runs start minutes late, or end in ERROR, because their sandbox cannot be started or sends no request.",
    metric: countFailedStarts(scope, props),
    topic,
  });
  if (props.gateway !== undefined) createGatewayAlarm(scope, props.gateway, topic);
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

/**
 * The longest wait for a start, or for the handling of an end, by the line that the reaper logs at the end of each pass. The age of the
 * oldest message would miss runs whose message is lost or was handled, such as those that wait for the deployment's capacity.
 */
function measureWait(
  scope: Construct,
  logGroup: ILogGroup,
  { id, field }: { readonly id: string; readonly field: string },
): Metric {
  return new MetricFilter(scope, id, {
    logGroup,
    filterPattern: FilterPattern.numberValue(`$.${field}`, ">", 0),
    metricNamespace: toNamespace(scope),
    metricName: id,
    metricValue: `$.${field}`,
  }).metric({ period: Duration.minutes(1), statistic: Stats.MAXIMUM });
}

/** Failed passes within five minutes, of functions that a rule invokes each minute. */
const FAILED_PASSES = 3;

/**
 * Counts failed invocations of the functions that rules invoke, by the line that Lambda logs at the end of each. Lambda's own metrics
 * are per function, so each function would need its own alarm. One failed hourly pass is enough for the alarm.
 * @see https://docs.aws.amazon.com/lambda/latest/dg/telemetry-schema-reference.html
 */
function countFailedPasses(scope: Construct, { minutely, hourly }: ExecutionAlarmsProps["passes"]): Metric {
  const metric = { metricNamespace: toNamespace(scope), metricName: "FailedPasses" };
  const filterPattern = FilterPattern.all(
    FilterPattern.stringValue("$.type", "=", "platform.report"),
    FilterPattern.stringValue("$.record.status", "!=", "success"),
  );
  const count = (one: BaseFunction, times: number) =>
    new MetricFilter(one, "Failures", { ...metric, logGroup: one.log, filterPattern, metricValue: String(times) });
  for (const one of minutely) count(one, 1);
  for (const one of hourly) count(one, FAILED_PASSES);
  const { metricNamespace: namespace, metricName } = metric;
  return new Metric({ namespace, metricName, period: Duration.minutes(5), statistic: Stats.SUM });
}

/** Counts starts that the dispatcher could not request, and runs that the reaper ended because their sandboxes sent no request. */
function countFailedStarts(scope: Construct, { dispatcher, reaper }: ExecutionAlarmsProps): Metric {
  countLines(scope, "SilentStarts", reaper.log, "startFailed", "FailedStarts");
  return countLines(scope, "FailedStarts", dispatcher.log, "startFailed");
}

function createGatewayAlarm(scope: Construct, { lambda }: BaseFunction, topic: ITopic | undefined): void {
  new Alarm(scope, "ModelCallsRefused", {
    name: "model-calls-refused",
    impact: "Runs wait for models or fail, because the gateway or the provider refuses many of their calls.",
    metric: new Metric({
      namespace: "AWS/Lambda",
      metricName: "Url4xxCount",
      dimensionsMap: { FunctionName: lambda.functionName },
      statistic: Stats.SUM,
      period: Duration.minutes(5),
    }),
    threshold: 50,
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
    metric: countLines(scope, "CircuitOpenPasses", reaper.log, "circuitOpen"),
    topic,
  });
}

/** Counts the log lines in which a field is true, which costs nothing while there are none. */
function countLines(scope: Construct, id: string, logGroup: ILogGroup, field: string, metricName: string = id): Metric {
  return new MetricFilter(scope, id, {
    logGroup,
    filterPattern: FilterPattern.any(
      FilterPattern.booleanValue(`$.${field}`, true),
      FilterPattern.booleanValue(`$.message.${field}`, true),
    ),
    metricNamespace: toNamespace(scope),
    metricName,
  }).metric({ period: Duration.minutes(5), statistic: Stats.SUM });
}
