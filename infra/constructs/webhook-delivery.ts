import { Duration } from "aws-cdk-lib";
import { Stats } from "aws-cdk-lib/aws-cloudwatch";
import { PolicyStatement } from "aws-cdk-lib/aws-iam";
import {
  EventInvokeConfig,
  EventSourceMapping,
  FilterCriteria,
  FilterRule,
  StartingPosition,
} from "aws-cdk-lib/aws-lambda";
import type { ITopic } from "aws-cdk-lib/aws-sns";
import { Queue, QueueEncryption } from "aws-cdk-lib/aws-sqs";
import { Construct } from "constructs";
import { WEBHOOK_EVENT_TYPES } from "#shared/wire/webhooks/webhook.ts";
import { eventSources } from "../event-sources.ts";
import { toName } from "../names.ts";
import { Alarm } from "./alarm.ts";
import { BaseFunction, type BaseFunctionProps } from "./base-function.ts";
import type { Targets } from "./grants.ts";

export interface WebhookDeliveryProps extends Required<Pick<BaseFunctionProps, "platform" | "environment">> {
  readonly targets: Targets;
  /** The stream of the table. @default none: events are not delivered */
  readonly streamArn: string | undefined;
  /** Topic that the alarm notifies. @default none: the alarm shows in the console */
  readonly topic: ITopic | undefined;
}

/**
 * Delivers events of runs to webhooks. The stream of the table invokes the planner, for events of runs only, the planner
 * invokes the attempter, once for each webhook, and this calls the sender, which alone connects to the URLs of webhooks and has no
 * right on the table.
 */
export class WebhookDelivery extends Construct {
  /** The planner, which the rule of each minute invokes too; undefined without a stream. */
  readonly planner: BaseFunction | undefined;
  readonly attempter: BaseFunction;

  constructor(scope: Construct, id: string, { streamArn, topic, targets, ...common }: WebhookDeliveryProps) {
    super(scope, id);
    const sender = new BaseFunction(this, "Send", { ...common, targets, ...eventSources.sendWebhooks });
    this.attempter = new BaseFunction(this, "Attempt", {
      ...common,
      targets: { ...targets, webhookSender: sender.lambda },
      ...eventSources.attemptDeliveries,
    });
    // The planner requests due deliveries again, so Lambda must not retry requests that failed or were throttled.
    const once = { retryAttempts: 0, maxEventAge: Duration.seconds(60) };
    new EventInvokeConfig(this, "AttemptEvents", { function: this.attempter.lambda, ...once });
    if (streamArn === undefined) return;
    const dead = new Queue(this, "Dead", {
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      queueName: toName(this, "webhooks-dead"),
      retentionPeriod: Duration.days(14),
    });
    new Alarm(scope, `${id}Dead`, {
      name: "webhooks-dead",
      impact: "Webhooks have not received some events of runs, and do not by themselves.",
      metric: dead.metricApproximateNumberOfMessagesVisible({ period: Duration.minutes(1), statistic: Stats.MAXIMUM }),
      topic,
    });
    this.planner = new BaseFunction(this, "Plan", {
      ...common,
      targets: { ...targets, webhookAttempts: this.attempter.lambda },
      ...eventSources.planDeliveries,
      // The rule invokes it each minute, and X-Ray bills traces.
      traced: false,
      statements: [...readStream(streamArn, targets.table.tableArn), sendTo(dead)],
    });
    const onFailure = { bind: () => ({ destination: dead.queueArn }) };
    new EventSourceMapping(this, "Source", {
      target: this.planner.lambda,
      eventSourceArn: streamArn,
      startingPosition: StartingPosition.LATEST,
      batchSize: 100,
      // Lambda batches the events of one second into one invocation.
      maxBatchingWindow: Duration.seconds(1),
      filters: [
        FilterCriteria.filter({
          eventName: FilterRule.isEqual("INSERT"),
          dynamodb: {
            Keys: { sk: { S: FilterRule.beginsWith("EVENT#") } },
            NewImage: { type: { S: WEBHOOK_EVENT_TYPES } },
          },
        }),
      ],
      bisectBatchOnError: true,
      // The stream keeps records for a day. A failing record blocks those behind it, so it is discarded earlier.
      maxRecordAge: Duration.hours(1),
      retryAttempts: 100,
      onFailure,
    });
  }
}

/** The rights with which Lambda reads the stream on behalf of the function. */
function readStream(streamArn: string, tableArn: string): PolicyStatement[] {
  return [
    new PolicyStatement({
      actions: ["dynamodb:DescribeStream", "dynamodb:GetRecords", "dynamodb:GetShardIterator"],
      resources: [streamArn],
    }),
    new PolicyStatement({ actions: ["dynamodb:ListStreams"], resources: [`${tableArn}/stream/*`] }),
  ];
}

const sendTo = (queue: Queue): PolicyStatement =>
  new PolicyStatement({ actions: ["sqs:SendMessage"], resources: [queue.queueArn] });
