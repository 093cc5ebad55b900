import { Aws, CfnCondition, Duration, Fn } from "aws-cdk-lib";
import { CfnAlarm, Metric, Stats } from "aws-cdk-lib/aws-cloudwatch";
import type { ITopic } from "aws-cdk-lib/aws-sns";
import type { Construct } from "constructs";
import { pascal } from "../names.ts";
import { Alarm, type AlarmProps } from "./alarm.ts";

/** An alarm of the setting `detailedAlarms` on a metric that AWS publishes. */
interface AwsAlarm extends Pick<AlarmProps, "name" | "impact" | "threshold" | "periods"> {
  readonly namespace: string;
  readonly metricName: string;
  readonly dimensions: Record<string, string>;
  /** @default the sum */
  readonly statistic?: string;
}

/** Creates an alarm on a metric that AWS counts in five minutes. */
function createAwsAlarm(scope: Construct, id: string, props: AwsAlarm, topic: ITopic | undefined): Alarm {
  const { namespace, metricName, dimensions: dimensionsMap, statistic = Stats.SUM, ...alarm } = props;
  const metric = new Metric({ namespace, metricName, dimensionsMap, statistic, period: Duration.minutes(5) });
  return new Alarm(scope, id, { ...alarm, metric, topic });
}

interface DetailedApiAlarms {
  /** Counts the 429 responses of both APIs. */
  readonly refusals: Metric;
  /** The function that streams events, and the distribution. @default there is no CloudFront */
  readonly door: { readonly streams: string; readonly distributionId: string } | undefined;
  readonly topic: ITopic | undefined;
}

/** The alarms of the API that the setting `detailedAlarms` adds. */
export function createDetailedApiAlarms(scope: Construct, { refusals, door, topic }: DetailedApiAlarms): void {
  new Alarm(scope, "RequestsRefused", {
    name: "requests-refused",
    impact: "Callers or harnesses get 429 responses, because they send more requests than the settings allow.",
    metric: refusals,
    threshold: 100,
    topic,
  });
  if (door === undefined) return;
  const streams: AwsAlarm = {
    name: "streams-failing",
    impact: "Streams of events end with an error, so that followers of runs have to connect again.",
    namespace: "AWS/Lambda",
    metricName: "Url5xxCount",
    dimensions: { FunctionName: door.streams },
    threshold: 5,
  };
  createAwsAlarm(scope, "StreamsFailing", streams, topic);
  const cloudfront: AwsAlarm = {
    name: "cloudfront-errors",
    impact: "CloudFront answers more than one of twenty requests with a 5xx status.",
    namespace: "AWS/CloudFront",
    metricName: "5xxErrorRate",
    dimensions: { DistributionId: door.distributionId, Region: "Global" },
    statistic: Stats.AVERAGE,
    threshold: 5,
  };
  const alarm = createAwsAlarm(scope, "CloudfrontErrors", cloudfront, topic);
  // CloudFront has its metrics in one region.
  const isGlobal = new CfnCondition(scope, "HasCloudfrontMetrics", {
    expression: Fn.conditionEquals(Aws.REGION, "us-east-1"),
  });
  for (const child of alarm.node.findAll()) if (child instanceof CfnAlarm) child.cfnOptions.condition = isGlobal;
}

interface DetailedExecutionAlarms {
  readonly tableName: string;
  readonly scheduleGroup: string;
  readonly socketApiId: string;
  /** Names of functions. @default none: the stage or the settings have no such function */
  readonly functions: {
    readonly planner?: string | undefined;
    readonly gateway?: string | undefined;
    readonly sandbox: string;
  };
  readonly topic: ITopic | undefined;
}

/** The alarms of execution that the setting `detailedAlarms` adds. */
export function createDetailedExecutionAlarms(scope: Construct, props: DetailedExecutionAlarms): void {
  for (const alarm of listExecutionAlarms(props)) {
    createAwsAlarm(scope, pascal(alarm.name), alarm, props.topic);
  }
}

function listExecutionAlarms(props: DetailedExecutionAlarms): readonly AwsAlarm[] {
  const { tableName, scheduleGroup, socketApiId, functions } = props;
  const ofFunction = (FunctionName: string) => ({ namespace: "AWS/Lambda", dimensions: { FunctionName } });
  return [
    {
      name: "table-throttled",
      impact: "Writes are slow or answered 503, because a partition of the table takes no more of them.",
      namespace: "AWS/DynamoDB",
      metricName: "WriteThrottleEvents",
      dimensions: { TableName: tableName },
      threshold: 100,
    },
    {
      name: "table-conflicts",
      impact: "Starts and ends of runs are slow, because transactions on the same item exclude each other.",
      namespace: "AWS/DynamoDB",
      metricName: "TransactionConflict",
      dimensions: { TableName: tableName },
      threshold: 1_000,
    },
    {
      name: "timers-failing",
      impact: "Schedules fire up to a few minutes late, because EventBridge Scheduler cannot invoke their function.",
      namespace: "AWS/Scheduler",
      metricName: "TargetErrorCount",
      dimensions: { ScheduleGroup: scheduleGroup },
    },
    {
      name: "sockets-failing",
      impact: "Self-hosted workers cannot connect, or get no runs.",
      namespace: "AWS/ApiGateway",
      metricName: "IntegrationError",
      dimensions: { ApiId: socketApiId },
      threshold: 5,
    },
    {
      name: "starts-dropped",
      impact: "Runs start a minute late, because Lambda has dropped starts of sandboxes that it throttled.",
      ...ofFunction(functions.sandbox),
      metricName: "AsyncEventsDropped",
    },
    ...(functions.gateway === undefined
      ? []
      : [
          {
            name: "model-calls-failing",
            impact: "Model calls of runs fail with a 5xx status and are repeated.",
            ...ofFunction(functions.gateway),
            metricName: "Url5xxCount",
            threshold: 20,
          },
        ]),
    ...(functions.planner === undefined
      ? []
      : [
          {
            name: "events-late",
            impact: "Webhooks and replies are more than five minutes late.",
            ...ofFunction(functions.planner),
            metricName: "IteratorAge",
            statistic: Stats.MAXIMUM,
            threshold: 300_000,
          },
        ]),
  ];
}
