import { DynamoDBClient, type DynamoDBServiceException } from "@aws-sdk/client-dynamodb";
import { InvokeCommand, LambdaClient } from "@aws-sdk/client-lambda";
import { SendMessageBatchCommand, SendMessageCommand, SQSClient } from "@aws-sdk/client-sqs";
import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { describe, expect, it } from "vitest";
import { emulateAws } from "#shared/aws/aws-emulation.ts";
import { standIn } from "../support/aws-stand-in.ts";
import { ACCEPTED_REQUESTS, REFUSED_REQUESTS } from "../support/dynamo-limit-cases.ts";

/** Checks that the request is refused with the SDK's own exception, is not retried and was never sent. */
async function expectRefused(sent: Promise<unknown>, calls: readonly unknown[], name: string, words: RegExp) {
  const error: Partial<DynamoDBServiceException> = await sent.then(
    () => ({ name: "nothing", message: "it was accepted" }),
    (reason: unknown) => Object(reason),
  );
  expect(error).toMatchObject({ name, message: expect.stringMatching(words), $fault: "client" });
  const httpStatusCode = name === "RequestTooLargeException" ? 413 : 400;
  expect(error.$metadata).toMatchObject({ attempts: 1, httpStatusCode });
  expect(calls).toEqual([]);
}

describe("the emulated limits of DynamoDB", () => {
  const table = () => {
    const { config, calls } = standIn();
    return {
      calls,
      client: emulateAws(DynamoDBDocumentClient.from(new DynamoDBClient({ ...config, maxAttempts: 4 }))),
    };
  };

  it.each(REFUSED_REQUESTS)("reject %s", async (_, send, words) => {
    const { client, calls } = table();
    await expectRefused(send(client), calls, "ValidationException", words);
  });

  it.each(ACCEPTED_REQUESTS)("accept %s", async (_, send) => {
    const { client, calls } = table();
    await send(client);
    expect(calls).toHaveLength(1);
  });
});

describe("the emulated limits of SQS", () => {
  const queue = () => {
    const { config, calls } = standIn(({ body }) => (body.includes("Entries") ? { Successful: [], Failed: [] } : {}));
    return { calls, client: emulateAws(new SQSClient({ ...config, md5: false })) };
  };
  const QueueUrl = "https://sqs.us-east-1.amazonaws.com/1/q";
  type Send = (client: SQSClient) => Promise<unknown>;
  const message =
    (MessageBody: string, DelaySeconds = 0): Send =>
    (client) =>
      client.send(new SendMessageCommand({ QueueUrl, MessageBody, DelaySeconds }));
  const batch =
    (count: number, bytes: number): Send =>
    (client) => {
      const entry = (index: number) => ({ Id: `${index}`, MessageBody: "x".repeat(bytes) });
      const Entries = Array.from({ length: count }, (_, index) => entry(index));
      return client.send(new SendMessageBatchCommand({ QueueUrl, Entries }));
    };

  it.each([
    ["a message of more than 1 MiB", message("x".repeat(1024 * 1024 + 1)), "InvalidParameterValue", /shorter than/],
    ["a delay of more than 900 seconds", message("x", 901), "InvalidParameterValue", /DelaySeconds/],
    ["a negative delay", message("x", -1), "InvalidParameterValue", /DelaySeconds/],
    ["a batch of 11 messages", batch(11, 1), "TooManyEntriesInBatchRequest", /10/],
    ["a batch of more than 1 MiB", batch(3, 400_000), "BatchRequestTooLong", /1048576/],
  ])("reject %s", async (_, send, name, words) => {
    const { client, calls } = queue();
    await expectRefused(send(client), calls, name, words);
  });

  it.each([
    ["a message of 1 MiB", message("x".repeat(1024 * 1024), 900)],
    ["a batch of 10 messages", batch(10, 100_000)],
  ])("accept %s", async (_, send) => {
    const { client, calls } = queue();
    await send(client);
    expect(calls).toHaveLength(1);
  });
});

describe("the emulated limits of Lambda", () => {
  const invoke = (InvocationType: "Event" | "RequestResponse", bytes: number) =>
    new InvokeCommand({ FunctionName: "f", InvocationType, Payload: "x".repeat(bytes) });

  it.each([
    ["an asynchronous event of more than 1 MB", invoke("Event", 1024 * 1024 + 1)],
    ["a synchronous event of more than 6 MB", invoke("RequestResponse", 6_291_557)],
  ])("reject %s", async (_, command) => {
    const { config, calls } = standIn();
    const client = emulateAws(new LambdaClient(config));
    await expectRefused(client.send(command), calls, "RequestTooLargeException", /too large for the/);
  });

  it("accept events up to the limit", async () => {
    const { config, calls } = standIn();
    const client = emulateAws(new LambdaClient(config));
    await client.send(invoke("Event", 1024 * 1024));
    await client.send(invoke("RequestResponse", 6_291_556));
    expect(calls).toHaveLength(2);
  });

  it("fail a function whose response is longer than 6 MB", async () => {
    const lengths = [6_000_000, 6_300_000];
    const { config } = standIn((_, at) => ({ text: "x".repeat(lengths[at] ?? 0) }));
    const client = emulateAws(new LambdaClient(config));
    expect(await client.send(invoke("RequestResponse", 1))).not.toHaveProperty("FunctionError");
    const response = await client.send(invoke("RequestResponse", 1));
    expect(response.FunctionError).toBe("Unhandled");
    expect(Buffer.from(response.Payload ?? []).toString()).toContain("Function.ResponseSizeTooLarge");
  });
});
