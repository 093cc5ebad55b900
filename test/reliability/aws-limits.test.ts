import {
  BatchWriteItemCommand,
  DynamoDBClient,
  type DynamoDBServiceException,
  ScanCommand,
} from "@aws-sdk/client-dynamodb";
import { InvokeCommand, LambdaClient } from "@aws-sdk/client-lambda";
import { SendMessageBatchCommand, SendMessageCommand, SQSClient } from "@aws-sdk/client-sqs";
import {
  BatchGetCommand,
  DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  QueryCommand,
  TransactWriteCommand,
  UpdateCommand,
} from "@aws-sdk/lib-dynamodb";
import { describe, expect, it } from "vitest";
import { emulateAws } from "#shared/aws/aws-emulation.ts";
import { standIn } from "../support/aws-stand-in.ts";

const TableName = "t";
const Key = { pk: "RUN#1", sk: "HEAD" };

/** Refused as AWS does, and never sent: the SDK's own exception, which is not repeated. */
async function expectRefused(sent: Promise<unknown>, calls: readonly unknown[], name: string, words: RegExp) {
  const error: Partial<DynamoDBServiceException> = await sent.then(
    () => ({ name: "nothing", message: "it was taken" }),
    (reason: unknown) => Object(reason),
  );
  expect(error).toMatchObject({ name, message: expect.stringMatching(words), $fault: "client" });
  expect(error.$metadata).toMatchObject({ attempts: 1 });
  expect(calls).toEqual([]);
}

describe("the emulated limits of DynamoDB", () => {
  type Send = (client: DynamoDBDocumentClient) => Promise<unknown>;
  const table = () => {
    const { config, calls } = standIn();
    return {
      calls,
      client: emulateAws(DynamoDBDocumentClient.from(new DynamoDBClient({ ...config, maxAttempts: 4 }))),
    };
  };
  const put =
    (Item: Record<string, unknown>): Send =>
    (client) =>
      client.send(new PutCommand({ TableName, Item: { ...Key, ...Item } }));
  const get =
    (sk: string): Send =>
    (client) =>
      client.send(new GetCommand({ TableName, Key: { ...Key, sk } }));
  const actions =
    (count: number, text = ""): Send =>
    (client) =>
      client.send(
        new TransactWriteCommand({
          TransactItems: Array.from({ length: count }, (_, index) => ({
            Put: { TableName, Item: { pk: `RUN#${index}`, sk: "HEAD", text } },
          })),
        }),
      );
  const update =
    (UpdateExpression: string, names: Record<string, string> = {}): Send =>
    (client) =>
      client.send(
        new UpdateCommand({
          TableName,
          Key,
          UpdateExpression,
          ...(Object.keys(names).length > 0 && { ExpressionAttributeNames: names }),
          ...(UpdateExpression.includes(":v") && { ExpressionAttributeValues: { ":v": 1 } }),
        }),
      );
  const query =
    (FilterExpression: string, IndexName?: string): Send =>
    (client) =>
      client.send(
        new QueryCommand({
          TableName,
          KeyConditionExpression: "#k = :k",
          FilterExpression,
          ExpressionAttributeNames: { "#k": IndexName === undefined ? "pk" : "group", "#f": "updated_key" },
          ExpressionAttributeValues: { ":k": "a", ":v": "b" },
          ...(IndexName !== undefined && { IndexName }),
        }),
      );
  const scan: Send = (client) => client.send(new ScanCommand({ TableName }));
  const keys = (count: number) => Array.from({ length: count }, (_, index) => ({ pk: "RUN#1", sk: `EVENT#${index}` }));
  const reads =
    (count: number): Send =>
    (client) =>
      client.send(new BatchGetCommand({ RequestItems: { t: { Keys: keys(count) } } }));
  const writes =
    (count: number): Send =>
    (client) => {
      const t = keys(count).map(({ pk, sk }) => ({ PutRequest: { Item: { pk: { S: pk }, sk: { S: sk } } } }));
      return client.send(new BatchWriteItemCommand({ RequestItems: { t } }));
    };

  it.each([
    ["an item of more than 400 KB", put({ text: "ä".repeat(205_000) }), /400 KB/],
    ["one that is so large within", put({ list: Array.from({ length: 50 }, () => ["x".repeat(9_000)]) }), /400 KB/],
    ["a partition key of more than 2,048 bytes", put({ pk: "x".repeat(2_049) }), /pk has more than 2048 bytes/],
    ["a sort key of more than 1,024 bytes", put({ sk: "ä".repeat(513) }), /sk has more than 1024 bytes/],
    ["a sort key of an index of more than 1,024 bytes", put({ title_key: "x".repeat(1_025) }), /title_key has more/],
    ["an empty key of an index", put({ group: "" }), /group must be a text that is not empty/],
    ["a key to read by that is too long", get("x".repeat(1_025)), /sk/],
    ["a transaction of 101 actions", actions(101), /less than or equal to 100/],
    ["a transaction of more than 4 MB", actions(30, "x".repeat(150_000)), /at most 4 MB/],
    ["a transaction with an item of more than 400 KB", actions(2, "x".repeat(410_000)), /400 KB/],
    ["a batch of 101 keys", reads(101), /BatchGetItem/],
    ["a batch of 26 writes", writes(26), /BatchWriteItem/],
    ["an attribute that is set and removed", update("SET #a = :v REMOVE #a", { "#a": "state" }), /overlap.*\[state\]/],
    ["one that is added to, and set within", update("SET a.b = :v ADD a :v"), /overlap.*path one: \[a, b\].*\[a\]/],
    ["one that is set twice, under two names", update("SET #a = :v, #b = :v", { "#a": "x", "#b": "x" }), /overlap/],
    ["a key that is set", update("SET #a = :v", { "#a": "sk" }), /Cannot update attribute sk/],
    ["a filter by a key of the table", query("begins_with(sk, :v)"), /non-primary key attributes.*sk/],
    ["a filter by a key of the index", query("#f > :v", "gsi7"), /non-primary key attributes.*updated_key/],
    ["an expression of more than 4 KB", update(`SET a = :v REMOVE ${"b".repeat(4_096)}`), /Expression size/],
  ])("reject %s", async (_, send, words) => {
    const { client, calls } = table();
    await expectRefused(send(client), calls, "ValidationException", words);
  });

  it.each([
    ["an item of nearly 400 KB", put({ text: "x".repeat(409_000) })],
    ["a transaction of 100 actions", actions(100)],
    ["a batch of 100 keys", reads(100)],
    ["a batch of 25 writes", writes(25)],
    ["different paths within one attribute", update("SET a.b = :v, a.c = if_not_exists(a.b, :v), l[0] = :v")],
    ["a filter by what is no key of that index", query("begins_with(sk, :v)", "gsi7")],
    ["a command without items", scan],
  ])("accept %s", async (_, send) => {
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
    const answer = await client.send(invoke("RequestResponse", 1));
    expect(answer.FunctionError).toBe("Unhandled");
    expect(Buffer.from(answer.Payload ?? []).toString()).toContain("Function.ResponseSizeTooLarge");
  });
});
