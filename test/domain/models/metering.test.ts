import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { SendMessageCommand, SQSClient } from "@aws-sdk/client-sqs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DynamoClient } from "#shared/aws/dynamo-client.ts";
import { metered, newMeter } from "#shared/aws/metering.ts";

/** Returns the result that the test sets, and records the requests. */
let server: Server;
let result: { status: number; body: unknown };
let requests: { target: string; body: Record<string, unknown> }[] = [];
let config: { endpoint: string; region: string; credentials: { accessKeyId: string; secretAccessKey: string } };

beforeAll(async () => {
  server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(Buffer.from(chunk));
    requests.push({
      target: String(request.headers["x-amz-target"]),
      body: JSON.parse(Buffer.concat(chunks).toString()),
    });
    const text = JSON.stringify(result.body);
    response.writeHead(result.status, { "content-length": Buffer.byteLength(text) }).end(text);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const { port }: Pick<AddressInfo, "port"> = typeof address === "object" && address !== null ? address : { port: 0 };
  config = {
    endpoint: `http://127.0.0.1:${port}`,
    region: "us-east-1",
    credentials: { accessKeyId: "test", secretAccessKey: "test" },
  };
});
afterAll(() => void server.close());

const write = { TransactItems: [{ Put: { TableName: "t", Item: { pk: { S: "p" } } } }] };

describe("a metered client", () => {
  test("counts calls by service and command, with their bytes, and units of table and indexes separately", async () => {
    const meter = newMeter();
    const client = metered(new DynamoClient(config), meter);
    requests = [];
    result = {
      status: 200,
      body: {
        ConsumedCapacity: [
          {
            TableName: "t",
            CapacityUnits: 5,
            Table: { CapacityUnits: 2 },
            GlobalSecondaryIndexes: { gsi1: { CapacityUnits: 2 }, gsi2: { CapacityUnits: 1 } },
          },
        ],
      },
    };
    await client.send("TransactWriteItems", write);
    const command = "TransactWriteItems";
    expect(meter.calls).toEqual([
      {
        service: "DynamoDB",
        command,
        sentBytes: expect.any(Number),
        receivedBytes: JSON.stringify(result.body).length,
      },
    ]);
    expect(meter.calls[0]?.sentBytes).toBeGreaterThan(50);
    expect(requests[0]?.body["ReturnConsumedCapacity"]).toBe("INDEXES");
    expect(meter.units).toEqual([
      { command, units: 2, kind: "write" },
      { command, index: "gsi1", units: 2, kind: "write" },
      { command, index: "gsi2", units: 1, kind: "write" },
    ]);
    expect(meter.requests).toEqual([{ command, input: write, items: 0 }]);
  });

  test("counts the part of a total that is not the indexes' as the table's", async () => {
    const meter = newMeter();
    const client = metered(new DynamoClient(config), meter);
    result = { status: 200, body: { Item: { pk: { S: "p" } }, ConsumedCapacity: { CapacityUnits: 1 } } };
    await client.send("GetItem", { TableName: "t", Key: { pk: { S: "p" } } });
    expect(meter.units).toEqual([{ command: "GetItem", units: 1, kind: "read" }]);
    expect(meter.requests).toMatchObject([{ command: "GetItem", items: 1 }]);
  });

  test("counts no units where the response has none", async () => {
    const meter = newMeter();
    const client = metered(new DynamoClient(config), meter);
    result = { status: 200, body: { ConsumedCapacity: { TableName: "t", GlobalSecondaryIndexes: { gsi1: {} } } } };
    await client.send("Query", { TableName: "t" });
    expect(meter.units).toEqual([]);
  });

  test("counts each attempt, and those that fail", async () => {
    const meter = newMeter();
    const client = metered(new DynamoClient({ ...config, maxAttempts: 2 }), meter);
    result = { status: 500, body: { __type: "InternalServerError" } };
    await expect(client.send("TransactWriteItems", write)).rejects.toThrow();
    expect(meter.calls).toHaveLength(2);
    expect(meter.units).toEqual([]);
    expect(meter.requests).toEqual([]);
  });

  test("requests capacity of no other service", async () => {
    const meter = newMeter();
    const client = metered(new SQSClient(config), meter);
    result = { status: 200, body: { MessageId: "1", MD5OfMessageBody: "99914b932bd37a50b983c5e7c90ae93b" } };
    requests = [];
    await client.send(new SendMessageCommand({ QueueUrl: `${config.endpoint}/queue`, MessageBody: "{}" }));
    expect(meter.calls).toMatchObject([{ service: "SQS", command: "SendMessage" }]);
    expect(requests[0]?.body).not.toHaveProperty("ReturnConsumedCapacity");
  });

  test("behaves like any other until it is metered", async () => {
    requests = [];
    result = { status: 200, body: {} };
    await new DynamoClient(config).send("TransactWriteItems", write);
    expect(requests[0]?.body).not.toHaveProperty("ReturnConsumedCapacity");
  });
});
