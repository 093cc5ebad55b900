import { Duration } from "aws-cdk-lib";
import { type Metric, Stats } from "aws-cdk-lib/aws-cloudwatch";
import { PolicyStatement } from "aws-cdk-lib/aws-iam";
import { EventSourceMapping } from "aws-cdk-lib/aws-lambda";
import type { ITopic } from "aws-cdk-lib/aws-sns";
import { type IQueue, Queue, QueueEncryption } from "aws-cdk-lib/aws-sqs";
import { Construct } from "constructs";
import type { EventSource } from "../event-sources.ts";
import { toName } from "../names.ts";
import { Alarm } from "./alarm.ts";
import { BaseFunction, type BaseFunctionProps } from "./base-function.ts";

export interface WorkQueueProps {
  /** Queue's name after `runyard-`; its dead-letter queue and the alarm are named `<name>-dead`. */
  readonly name: string;
  /** The function that consumes the queue; a message stays hidden for six times its timeout, as AWS advises. */
  readonly consumer: EventSource;
  /** The function that consumes the dead-letter queue. @default none: messages stay there until an operator redrives them */
  readonly deadConsumer?: EventSource;
  /** One sentence on what users notice when messages reach the dead-letter queue; the alarm's description. */
  readonly deadImpact: string;
  /** Topic that the alarm notifies. @default none: the alarm shows in the console */
  readonly topic?: ITopic | undefined;
  /** Deliveries after which a message goes to the dead-letter queue. @default 5 */
  readonly deliveries?: number;
}

/** A standard queue with its dead-letter queue and the alarm of that, encrypted by SQS and closed to plain HTTP. */
export class WorkQueue extends Construct {
  readonly queue: Queue;
  readonly dead: Queue;

  constructor(scope: Construct, id: string, props: WorkQueueProps) {
    super(scope, id);
    const { name, consumer, deadConsumer } = props;
    const closed = { encryption: QueueEncryption.SQS_MANAGED, enforceSSL: true };
    this.dead = new Queue(this, "Dead", {
      ...closed,
      queueName: toName(this, `${name}-dead`),
      retentionPeriod: Duration.days(14),
      visibilityTimeout: Duration.seconds(6 * (deadConsumer?.timeoutSeconds ?? 5)),
    });
    this.queue = new Queue(this, "Queue", {
      ...closed,
      queueName: toName(this, name),
      retentionPeriod: Duration.days(14),
      visibilityTimeout: Duration.seconds(6 * consumer.timeoutSeconds),
      deadLetterQueue: { queue: this.dead, maxReceiveCount: props.deliveries ?? 5 },
    });
    new Alarm(scope, `${id}Dead`, {
      name: `${name}-dead`,
      impact: props.deadImpact,
      // A consumer empties the queue, so the number of messages received says more than the depth.
      metric: deadConsumer === undefined ? queueDepth(this.dead) : messagesReceived(this.dead),
      topic: props.topic,
    });
  }
}

export interface QueueWorkerProps extends BaseFunctionProps {
  /** The queue whose messages invoke the function. */
  readonly source: IQueue;
  /** Messages per invocation; the function reports which of them failed. @default 1 */
  readonly batchSize?: number;
  /** Concurrent invocations, 2 to 1,000. @default as many as the account has */
  readonly maxConcurrency?: number;
}

/** A function that consumes a queue and reports each message that failed, so that SQS delivers only those again. */
export class QueueWorker extends BaseFunction {
  constructor(scope: Construct, id: string, props: QueueWorkerProps) {
    super(scope, id, { ...props, statements: [...(props.statements ?? []), consume(props.source)] });
    new EventSourceMapping(this, "Source", {
      target: this.lambda,
      eventSourceArn: props.source.queueArn,
      batchSize: props.batchSize ?? 1,
      reportBatchItemFailures: true,
      ...(props.maxConcurrency !== undefined && { maxConcurrency: props.maxConcurrency }),
    });
  }
}

function consume(queue: IQueue): PolicyStatement {
  return new PolicyStatement({
    actions: ["sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:ChangeMessageVisibility", "sqs:GetQueueAttributes"],
    resources: [queue.queueArn],
  });
}

function queueDepth(queue: IQueue): Metric {
  return queue.metricApproximateNumberOfMessagesVisible({ period: Duration.minutes(1), statistic: Stats.MAXIMUM });
}

function messagesReceived(queue: IQueue): Metric {
  return queue.metricNumberOfMessagesReceived({ period: Duration.minutes(5), statistic: Stats.SUM });
}
