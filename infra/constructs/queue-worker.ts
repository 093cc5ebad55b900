import { Duration } from "aws-cdk-lib";
import { PolicyStatement } from "aws-cdk-lib/aws-iam";
import { EventSourceMapping } from "aws-cdk-lib/aws-lambda";
import { type IQueue, Queue, QueueEncryption } from "aws-cdk-lib/aws-sqs";
import { Construct } from "constructs";
import { BaseFunction, type BaseFunctionProps } from "./base-function.ts";

export interface WorkQueueProps {
  /** Queue's name after `runyard-`; its dead-letter queue is called `<name>-dead`. */
  readonly name: string;
  /** Seconds that the consuming function may take; a message stays hidden six times as long, as AWS advises. */
  readonly consumerTimeoutSeconds: number;
  /** Deliveries after which a message goes to the dead-letter queue. @default 5 */
  readonly deliveries?: number;
  /** Seconds that the function of the dead-letter queue may take. @default nobody consumes it */
  readonly deadConsumerTimeoutSeconds?: number;
}

/** A standard queue with its dead-letter queue, encrypted by SQS and closed to plain HTTP. */
export class WorkQueue extends Construct {
  readonly queue: Queue;
  readonly dead: Queue;

  constructor(scope: Construct, id: string, props: WorkQueueProps) {
    super(scope, id);
    const closed = { encryption: QueueEncryption.SQS_MANAGED, enforceSSL: true };
    this.dead = new Queue(this, "Dead", {
      ...closed,
      queueName: `runyard-${props.name}-dead`,
      retentionPeriod: Duration.days(14),
      visibilityTimeout: Duration.seconds(6 * (props.deadConsumerTimeoutSeconds ?? 5)),
    });
    this.queue = new Queue(this, "Queue", {
      ...closed,
      queueName: `runyard-${props.name}`,
      retentionPeriod: Duration.days(14),
      visibilityTimeout: Duration.seconds(6 * props.consumerTimeoutSeconds),
      deadLetterQueue: { queue: this.dead, maxReceiveCount: props.deliveries ?? 5 },
    });
  }
}

export interface QueueWorkerProps extends BaseFunctionProps {
  /** The queue whose messages wake the function. */
  readonly source: IQueue;
  /** Messages handed over at once; the function reports which of them failed. @default 1 */
  readonly batchSize?: number;
  /** Invocations at the same time, 2 to 1,000. @default as many as the account has */
  readonly maxConcurrency?: number;
}

/** A function that consumes a queue and reports each message that failed, so that only those come again. */
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
