import { execFile } from "node:child_process";
import path from "node:path";
import {
  CreateQueueCommand,
  GetQueueAttributesCommand,
  GetQueueUrlCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
  SQSClient,
} from "@aws-sdk/client-sqs";
import { afterAll, beforeAll, describe, expect, it, test } from "vitest";
import { sqsClient } from "#shared/aws/sqs-client.ts";
import { QUEUES, queueDepth, redrive } from "../../operate/redrive.ts";
import { standIn } from "../support/aws-stand-in.ts";
import { EMULATOR_START_MS, type EmulatedAws, emulatedAws } from "../support/emulator.ts";

describe("messages of a dead-letter queue, on the emulator", () => {
  let aws: EmulatedAws;
  let client: SQSClient;
  beforeAll(async () => {
    aws = await emulatedAws();
    client = sqsClient();
    for (const QueueName of ["runyard-ends", "runyard-ends-dead"]) {
      await client.send(new CreateQueueCommand({ QueueName }));
    }
  }, EMULATOR_START_MS);
  afterAll(() => aws.stop());

  it("are all back in their queue, with their groups, and no longer in the dead-letter queue", async () => {
    const { QueueUrl } = await client.send(new GetQueueUrlCommand({ QueueName: "runyard-ends-dead" }));
    const bodies = Array.from({ length: 23 }, (_, index) => JSON.stringify({ v: 1, run_id: `run-${index}` }));
    for (const MessageBody of bodies) {
      await client.send(new SendMessageCommand({ QueueUrl, MessageBody, MessageGroupId: "TEAM#1" }));
    }
    expect(await queueDepth(client, "ends")).toBe(23);
    expect(await redrive(client, "ends", { byHand: true })).toBe(23);
    expect(await queueDepth(client, "ends")).toBe(0);
    expect(await redrive(client, "ends", { byHand: true })).toBe(0);

    const queue = await client.send(new GetQueueUrlCommand({ QueueName: "runyard-ends" }));
    const found = new Map<string, string | undefined>();
    for (let look = 0; look < 10 && found.size < 23; look++) {
      const { Messages = [] } = await client.send(
        new ReceiveMessageCommand({
          QueueUrl: queue.QueueUrl,
          MaxNumberOfMessages: 10,
          MessageSystemAttributeNames: ["MessageGroupId"],
        }),
      );
      for (const { Body = "", Attributes } of Messages) found.set(Body, Attributes?.MessageGroupId);
    }
    expect([...found.keys()].sort()).toEqual(bodies.sort());
    expect(new Set(found.values())).toEqual(new Set(["TEAM#1"]));
    const { Attributes } = await client.send(
      new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ["ApproximateNumberOfMessagesNotVisible"] }),
    );
    expect(Attributes?.ApproximateNumberOfMessagesNotVisible).toBe("0");
  });
});

describe("messages of a dead-letter queue, on AWS", () => {
  const arn = "arn:aws:sqs:us-east-1:1:runyard-runs-dead";
  /** SQS with 7 messages in the dead-letter queue, and the status of the task that each request returns. */
  function sqs(...tasks: object[]) {
    const { config, calls } = standIn(({ target }) => {
      const [, operation] = target.split(".");
      if (operation === "GetQueueUrl") return { QueueUrl: "https://sqs.us-east-1.amazonaws.com/1/runyard-runs-dead" };
      if (operation === "GetQueueAttributes")
        return { Attributes: { QueueArn: arn, ApproximateNumberOfMessages: "7" } };
      if (operation === "StartMessageMoveTask") return { TaskHandle: "handle" };
      return { Results: [tasks.length > 1 ? tasks.shift() : tasks[0]] };
    });
    return { client: new SQSClient({ ...config, useQueueUrlAsEndpoint: false }), calls };
  }

  it("are moved by SQS itself, and waited for", async () => {
    const { client, calls } = sqs(
      { Status: "RUNNING", ApproximateNumberOfMessagesMoved: 3 },
      { Status: "COMPLETED", ApproximateNumberOfMessagesMoved: 7 },
    );
    expect(await redrive(client, "runs", { lookMs: 1 })).toBe(7);
    const started = calls.filter(({ target }) => target === "AmazonSQS.StartMessageMoveTask");
    expect(started.map(({ body }) => JSON.parse(body))).toEqual([{ SourceArn: arn }]);
  });

  it("that SQS gives up on are reported with its reason", async () => {
    const { client } = sqs({ Status: "FAILED", FailureReason: "AccessDenied", ApproximateNumberOfMessagesMoved: 2 });
    await expect(redrive(client, "runs", { lookMs: 1 })).rejects.toThrow(/is FAILED: AccessDenied; 2 were moved/);
  });
});

const program = path.resolve(import.meta.dirname, "../../operate/redrive.ts");

/** Runs the program with nothing in its environment that could lead to an account. */
function run(...args: string[]): Promise<{ code: number; output: string; complaint: string }> {
  const env = { HOME: "/nowhere", AWS_EC2_METADATA_DISABLED: "true", RUNYARD_STATE: "/nowhere" };
  return new Promise((resolve) => {
    execFile(process.execPath, [program, ...args], { env }, (error, output, complaint) =>
      resolve({ code: error === null ? 0 : Number(error.code), output, complaint }),
    );
  });
}

describe("operate/redrive.ts", () => {
  test("prints its help with every queue", async () => {
    const { code, output } = await run("--help");
    expect(code).toBe(0);
    for (const name of QUEUES) expect(output).toContain(name);
  });

  test.each([
    [["sandboxes"], 'There is no dead-letter queue of "sandboxes"'],
    [["--every"], "Unknown option '--every'"],
    [["--all"], "There are no AWS credentials or no region"],
    [["--local"], "run npm run emulator first"],
  ])("%j is rejected with the remedy", async (args, complaint) => {
    const ended = await run(...args);
    expect(ended).toMatchObject({ code: 1, output: "" });
    expect(ended.complaint).toContain(complaint);
  });
});
