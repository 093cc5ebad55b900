import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import {
  DeleteMessageCommand,
  GetQueueAttributesCommand,
  GetQueueUrlCommand,
  ListMessageMoveTasksCommand,
  QueueDoesNotExist,
  ReceiveMessageCommand,
  SendMessageCommand,
  SQSClient,
  StartMessageMoveTaskCommand,
} from "@aws-sdk/client-sqs";
import { clientSettings } from "../emulator/emulator-access.ts";
import { Problem, say } from "../server/host/terminal.ts";
import { localEmulator, runByHand } from "./by-hand.ts";

/** The queues that have a dead-letter queue, by what follows the prefix in their names. */
export const QUEUES = ["runs", "ends", "events"] as const;
type QueueName = (typeof QUEUES)[number];

const HELP = `Usage: npm run aws -- redrive [QUEUE…] [options]

Sends what lies in the dead-letter queues of ${QUEUES.join(", ")} to its queue again. That is safe at any time: each consumer looks at
the run before it acts, and does nothing for one that has gone on. Without a queue, it says how many messages lie in each.

  --all          all of them
  --prefix NAME  the setting "prefix" of the deployment (default: runyard)
  --local        in the local cloud of this checkout, which must be running, instead of the AWS account
  --help         show this text

The account and the region are those of your AWS credentials (AWS_PROFILE, AWS_REGION and the like).`;

export interface RedriveOptions {
  /** The prefix of the deployment's names. @default "runyard" */
  readonly prefix?: string;
  /** Moves the messages one by one, for the emulator, which does not support SQS's own redrive. @default false */
  readonly byHand?: boolean;
  /** Milliseconds between two checks of the progress of SQS. @default 1,000 */
  readonly lookMs?: number;
}

/** The number of messages in the dead-letter queue of `name`, which SQS reports approximately. */
export async function queueDepth(client: SQSClient, name: QueueName, prefix = "runyard"): Promise<number> {
  return (await deadQueue(client, name, prefix)).count;
}

/**
 * Sends the messages in the dead-letter queue of `name` to its queue again, and returns their number.
 * @throws Problem if SQS gives up
 */
export async function redrive(client: SQSClient, name: QueueName, options: RedriveOptions = {}): Promise<number> {
  const { prefix = "runyard" } = options;
  const dead = await deadQueue(client, name, prefix);
  if (dead.count === 0) return 0;
  if (options.byHand === true) return moveByHand(client, dead.url, await fetchUrl(client, `${prefix}-${name}`));
  await client.send(new StartMessageMoveTaskCommand({ SourceArn: dead.arn }));
  while (true) {
    const { Results: [task] = [] } = await client.send(new ListMessageMoveTasksCommand({ SourceArn: dead.arn }));
    const moved = task?.ApproximateNumberOfMessagesMoved ?? 0;
    if (task?.Status === "COMPLETED") return moved;
    if (task?.Status !== "RUNNING") {
      const why = task?.FailureReason ?? "no reason was given";
      throw new Problem(
        `Moving the messages of ${prefix}-${name}-dead is ${task?.Status}: ${why}; ${moved} were moved.`,
      );
    }
    await pause(options.lookMs ?? 1_000);
  }
}

/** Each message is sent before it is deleted: what is interrupted between leaves it in both, which is harmless. */
async function moveByHand(client: SQSClient, from: string, to: string): Promise<number> {
  for (let moved = 0; ; ) {
    const { Messages: messages = [] } = await client.send(
      new ReceiveMessageCommand({
        QueueUrl: from,
        MaxNumberOfMessages: 10,
        MessageSystemAttributeNames: ["MessageGroupId"],
      }),
    );
    if (messages.length === 0) return moved;
    for (const { Body: MessageBody = "", Attributes, ReceiptHandle } of messages) {
      const group = Attributes?.MessageGroupId;
      await client.send(
        new SendMessageCommand({ QueueUrl: to, MessageBody, ...(group !== undefined && { MessageGroupId: group }) }),
      );
      await client.send(new DeleteMessageCommand({ QueueUrl: from, ReceiptHandle }));
      moved++;
    }
  }
}

async function deadQueue(client: SQSClient, name: QueueName, prefix: string) {
  const url = await fetchUrl(client, `${prefix}-${name}-dead`);
  const { Attributes = {} } = await client.send(
    new GetQueueAttributesCommand({ QueueUrl: url, AttributeNames: ["QueueArn", "ApproximateNumberOfMessages"] }),
  );
  return { url, arn: Attributes.QueueArn, count: Number(Attributes.ApproximateNumberOfMessages ?? 0) };
}

async function fetchUrl(client: SQSClient, QueueName: string): Promise<string> {
  try {
    return (await client.send(new GetQueueUrlCommand({ QueueName }))).QueueUrl ?? "";
  } catch (error) {
    if (!(error instanceof QueueDoesNotExist)) throw error;
    throw new Problem(`There is no queue ${QueueName} in this account and region: npx cdk deploy --all creates it.`);
  }
}

async function main(args: string[]): Promise<void> {
  const options = readOptions(args);
  if (options.help) return say(HELP);
  const { prefix } = options;
  const client = options.local
    ? // Under this address, as the emulator's own addresses of queues may be of another start.
      new SQSClient({ ...clientSettings(await localEmulator()), useQueueUrlAsEndpoint: false })
    : new SQSClient();
  try {
    for (const name of options.chosen) {
      const count = await redrive(client, name, { byHand: options.local, prefix });
      say(`${prefix}-${name}-dead  ${count} sent again`);
    }
    if (options.chosen.length > 0) return;
    for (const name of QUEUES) say(`${prefix}-${name}-dead  ${await queueDepth(client, name, prefix)}`);
  } finally {
    client.destroy();
  }
}

function readOptions(args: string[]) {
  try {
    const flag = { type: "boolean", default: false } as const;
    const prefix = { type: "string", default: "runyard" } as const;
    const options = { all: flag, local: flag, help: flag, prefix };
    const { values, positionals } = parseArgs({ args, allowPositionals: true, options });
    const unknown = positionals.find((word) => !QUEUES.some((name) => name === word));
    if (unknown !== undefined) throw new Error(`There is no dead-letter queue of "${unknown}".`);
    return { ...values, chosen: QUEUES.filter((name) => values.all || positionals.includes(name)) };
  } catch (error) {
    throw new Problem(error instanceof Error ? error.message : String(error), [HELP]);
  }
}

if (import.meta.main) await runByHand(main);
