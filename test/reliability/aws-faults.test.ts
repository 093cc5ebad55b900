import { randomUUID } from "node:crypto";
import { InvokeCommand, LambdaClient } from "@aws-sdk/client-lambda";
import { GetObjectCommand, S3Client } from "@aws-sdk/client-s3";
import { DeleteScheduleCommand, SchedulerClient } from "@aws-sdk/client-scheduler";
import { SendMessageCommand, SQSClient } from "@aws-sdk/client-sqs";
import { GetParameterCommand, SSMClient } from "@aws-sdk/client-ssm";
import { afterEach, describe, expect, it, vi } from "vitest";
import { emulateAws, parseFaults } from "#shared/aws/aws-emulation.ts";
import { type AwsFault, type Faults, plannedFaults } from "#shared/aws/aws-faults.ts";
import { setClientHook } from "#shared/aws/client-settings.ts";
import { dynamoClient } from "#shared/aws/clients.ts";
import { DynamoClient } from "#shared/aws/dynamo-client.ts";
import { dynamoTable } from "#shared/aws/dynamo-table.ts";
import { uuidv7 } from "#shared/ids.ts";
import { ConditionFailed } from "#shared/table/table.ts";
import { type StoodIn, standIn } from "../support/aws-stand-in.ts";

const TableName = "t";
const Key = { pk: "RUN#1", sk: "HEAD" };
const WireKey = { pk: { S: "RUN#1" }, sk: { S: "HEAD" } };
const QueueUrl = "https://sqs.us-east-1.amazonaws.com/1/q";

/** Injects these faults in order, one for each call, and then none. */
function inOrder(...faults: (AwsFault | undefined)[]): Faults {
  const { make } = plannedFaults("1/0", "");
  return { make, next: () => faults.shift() };
}

const quiet = () => undefined;

const transaction = {
  TransactItems: [
    { Put: { TableName, Item: WireKey } },
    { Delete: { TableName, Key: { ...WireKey, sk: { S: "LEASE" } } } },
  ],
};

function dynamo(faults: Faults, response?: (call: StoodIn, at: number) => object) {
  const { config, calls } = standIn(response);
  const client = emulateAws(new DynamoClient({ ...config, maxAttempts: 4 }), faults, quiet);
  return { client, calls };
}

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  setClientHook(undefined);
});

/** Makes timers fire at once. Returns the requested waits, in milliseconds. */
function skipWaits(): number[] {
  const waits: number[] = [];
  const real = globalThis.setTimeout;
  vi.spyOn(globalThis, "setTimeout").mockImplementation((work, milliseconds = 0) => {
    waits.push(milliseconds);
    return real(work, 0);
  });
  return waits;
}

describe("an injected fault", () => {
  const { config } = standIn();
  const put = { TableName, Item: WireKey };
  const once = (fault: AwsFault) => [inOrder(fault), quiet] as const;
  const disturbed = (fault: AwsFault) => emulateAws(new DynamoClient(config), ...once(fault));

  it.each<[string, () => Promise<unknown>, object]>([
    [
      "a throttled read",
      () => disturbed("throttled").send("GetItem", { TableName, Key: WireKey }),
      throttling(400, "ProvisionedThroughputExceededException"),
    ],
    [
      "a failed write",
      () => disturbed("failed").send("PutItem", put),
      { name: "InternalServerError", $fault: "server", $metadata: { httpStatusCode: 500 } },
    ],
    [
      "a conflict of one write",
      () => disturbed("conflict").send("PutItem", put),
      { name: "TransactionConflictException", $metadata: { httpStatusCode: 400 } },
    ],
    [
      "a conflict of a transaction",
      () => disturbed("conflict").send("TransactWriteItems", transaction),
      {
        name: "TransactionCanceledException",
        CancellationReasons: [{ Code: "None" }, { Code: "TransactionConflict" }],
      },
    ],
    [
      "a throttled send",
      () =>
        emulateAws(new SQSClient(config), ...once("throttled")).send(
          new SendMessageCommand({ QueueUrl, MessageBody: "x" }),
        ),
      throttling(403, "RequestThrottled"),
    ],
    [
      "a throttled invocation",
      () => emulateAws(new LambdaClient(config), ...once("throttled")).send(new InvokeCommand({ FunctionName: "f" })),
      throttling(429, "TooManyRequestsException"),
    ],
    [
      "a throttled object",
      () =>
        emulateAws(new S3Client(config), ...once("throttled")).send(new GetObjectCommand({ Bucket: "b", Key: "k" })),
      throttling(503, "SlowDown"),
    ],
    [
      "a throttled parameter",
      () => emulateAws(new SSMClient(config), ...once("throttled")).send(new GetParameterCommand({ Name: "/a" })),
      throttling(400, "ThrottlingException"),
    ],
    [
      "a throttled timer",
      () =>
        emulateAws(new SchedulerClient(config), ...once("throttled")).send(new DeleteScheduleCommand({ Name: "a" })),
      throttling(429, "ThrottlingException"),
    ],
    ["a lost response", () => disturbed("unheard").send("PutItem", put), { name: "TimeoutError" }],
  ])("is an error of the SDK: %s", async (_, send, expected) => {
    await expect(send()).rejects.toMatchObject(expected);
  });

  it("is retried by the SDK if that is allowed, and then succeeds", async () => {
    const waits = skipWaits();
    const { client, calls } = dynamo(inOrder("throttled", "failed", "unheard"));
    const { $metadata } = await client.send("PutItem", put);
    expect($metadata.attempts).toBe(4);
    // The call whose response was lost was performed.
    expect(calls).toHaveLength(2);
    expect(waits.filter((wait) => wait > 0).length).toBeGreaterThan(0);
  });

  it("duplicates an effect: a message, and an asynchronous start", async () => {
    const queue = standIn();
    await emulateAws(new SQSClient({ ...queue.config, md5: false }), ...once("twice")).send(
      new SendMessageCommand({ QueueUrl, MessageBody: "x" }),
    );
    const lambda = standIn();
    await emulateAws(new LambdaClient(lambda.config), ...once("twice")).send(
      new InvokeCommand({ FunctionName: "f", InvocationType: "Event", Payload: "{}" }),
    );
    expect([queue.calls.length, lambda.calls.length]).toEqual([2, 2]);
  });

  it.each(["unheard", "twice"] as const)("executes a transaction once because of its token: %s", async (fault) => {
    skipWaits();
    const withToken = dynamo(inOrder(fault));
    await dynamoTable(withToken.client, TableName).transact([{ kind: "put", item: Key }]);
    expect(withToken.calls).toHaveLength(1);
    const without = dynamo(inOrder(fault));
    await without.client.send("TransactWriteItems", transaction);
    expect(without.calls).toHaveLength(2);
  });

  it("executes a transaction again that was not executed, and none with the token of another", async () => {
    skipWaits();
    const { client, calls } = dynamo(inOrder("throttled", "conflict", "failed"));
    await dynamoTable(client, TableName).transact([{ kind: "put", item: Key }]);
    expect(calls).toHaveLength(1);
    const { ClientRequestToken } = JSON.parse(calls[0]?.body ?? "");
    await expect(client.send("TransactWriteItems", { ...transaction, ClientRequestToken })).rejects.toMatchObject({
      name: "IdempotentParameterMismatchException",
    });
    expect(calls).toHaveLength(1);
  });

  it("leaves keys of a batch unread, which the table then reads", async () => {
    skipWaits();
    const items = ["a", "b", "c"].map((sk) => ({ pk: "RUN#1", sk }));
    const { client, calls } = dynamo(inOrder("partial"), ({ body }) => {
      const keys: unknown[] = JSON.parse(body).RequestItems.t.Keys;
      return { Responses: { t: keys }, UnprocessedKeys: {} };
    });
    expect(await dynamoTable(client, TableName).batchGet(items)).toEqual(items);
    expect(calls).toHaveLength(2);
    expect(JSON.parse(calls[1]?.body ?? "").RequestItems.t.Keys).toHaveLength(1);
  });

  const query = { TableName, IndexName: "gsi1", KeyConditionExpression: "a = :a" };
  const entry = (at: number) => ({ pk: { S: `RUN#${uuidv7(at)}` }, sk: { S: "HEAD" } });

  it("hides the latest writes from an index, and changes since the previous read", async () => {
    const [old, latest] = [entry(Date.now() - 60_000), entry(Date.now())];
    const first = dynamo(inOrder("stale"), () => ({ Items: [old, latest], Count: 2 }));
    expect(await first.client.send("Query", query)).toMatchObject({ Items: [old] });

    const responses = [{ Items: [old] }, { Items: [] }, { Items: [] }];
    const second = dynamo(inOrder(undefined, "stale"), (_, at) => responses[at] ?? {});
    const reads = [0, 1, 2].map(() => () => second.client.send("Query", query));
    expect([await reads[0]?.(), await reads[1]?.(), await reads[2]?.()]).toMatchObject([
      { Items: [old] },
      { Items: [old] },
      { Items: [] },
    ]);
  });

  it("never returns stale reads of the table itself", () => {
    const faults = plannedFaults("1/100", "");
    const seen = new Set<AwsFault | undefined>();
    for (let call = 0; call < 200; call++) {
      seen.add(
        faults.next({ service: "DynamoDB", command: "Query", headers: {}, body: Buffer.alloc(0), json: () => ({}) }),
      );
    }
    expect([...seen].sort()).toEqual(["failed", "slow", "throttled", "unheard"]);
  });
});

describe("a fault plan", () => {
  const fates = (setting: string, name: string, calls = 400) => {
    const faults = plannedFaults(setting, name);
    const call = { service: "SQS", command: "SendMessage", headers: {}, body: Buffer.alloc(0), json: () => ({}) };
    return Array.from({ length: calls }, () => faults.next(call));
  };

  it("is the same for the same seed and function, and differs for any other", () => {
    expect(fates("7", "runyard-create-run")).toEqual(fates("7", "runyard-create-run"));
    expect(fates("7", "runyard-create-run")).not.toEqual(fates("8", "runyard-create-run"));
    expect(fates("7", "runyard-create-run")).not.toEqual(fates("7", "runyard-get-run"));
  });

  it("affects five calls in a hundred, or the configured number", () => {
    const happened = (setting: string) => fates(setting, "f", 4_000).filter((fate) => fate !== undefined).length / 40;
    expect(happened("3")).toBeGreaterThan(3.5);
    expect(happened("3")).toBeLessThan(6.5);
    expect(happened("3/50")).toBeGreaterThan(45);
    expect(happened("3/0")).toBe(0);
  });

  it("exists only if RUNYARD_FAULTS requests one", () => {
    expect(parseFaults({})).toBeUndefined();
    expect(parseFaults({ RUNYARD_FAULTS: "" })).toBeUndefined();
    expect(parseFaults({ RUNYARD_FAULTS: "7" })).toHaveProperty("next");
  });
});

describe("AWS clients", () => {
  /** A client as functions create it, whose first calls fail. */
  function disturbed(...faults: AwsFault[]) {
    vi.stubEnv("AWS_REGION", "us-east-1");
    vi.stubEnv("AWS_ACCESS_KEY_ID", "test");
    vi.stubEnv("AWS_SECRET_ACCESS_KEY", "test");
    const { config, calls } = standIn();
    setClientHook((client) => {
      Object.assign(Reflect.get(client, "config"), { requestHandler: config.requestHandler });
      emulateAws(client, inOrder(...faults), quiet);
    });
    return { client: dynamoClient(), calls };
  }

  it("try four times at most, and then report the error", async () => {
    skipWaits();
    const { client, calls } = disturbed("throttled", "throttled", "throttled", "throttled");
    await expect(client.send("GetItem", { TableName, Key: WireKey })).rejects.toMatchObject({
      name: "ProvisionedThroughputExceededException",
      $metadata: { attempts: 4 },
    });
    expect(calls).toEqual([]);
  });

  it("wait longer after each throttling, by a random part of 1, 2 and 4 seconds", async () => {
    const rounds: number[][] = [];
    for (let round = 0; round < 12; round++) {
      const waits = skipWaits();
      const { client, calls } = disturbed("throttled", "throttled", "throttled");
      await client.send("GetItem", { TableName, Key: WireKey });
      expect(calls).toHaveLength(1);
      rounds.push(waits);
      vi.restoreAllMocks();
    }
    for (const [index, most] of [1_000, 2_000, 4_000].entries()) {
      const waits = rounds.map((round) => round[index] ?? Number.NaN);
      expect(Math.max(...waits)).toBeLessThanOrEqual(most);
      expect(Math.max(...waits)).toBeGreaterThan(most / 4);
      expect(new Set(waits).size).toBeGreaterThan(6);
    }
  });

  it("repeat a transaction whose response was lost with the same token, and give each transaction its own", async () => {
    skipWaits();
    const { config, calls } = standIn();
    const { handle } = config.requestHandler;
    const losing = {
      async handle(request: Parameters<typeof handle>[0]) {
        const reply = await handle(request);
        if (calls.length === 1) throw Object.assign(new Error("socket hang up"), { name: "TimeoutError" });
        return reply;
      },
    };
    const client = new DynamoClient({ ...config, requestHandler: losing, maxAttempts: 4 });
    const table = dynamoTable(client, TableName);
    await table.transact([{ kind: "put", item: Key }]);
    await table.transact([{ kind: "put", item: Key }]);
    const [first, repeated, second] = calls.map(({ body }): unknown => JSON.parse(body).ClientRequestToken);
    expect(first).toMatch(/^[\da-f-]{36}$/);
    expect(repeated).toBe(first);
    expect(second).not.toBe(first);
    expect(calls).toHaveLength(3);
  });

  it("do not retry a failed condition", async () => {
    const { config, calls } = standIn();
    const refusing = { handle: async () => ({ response: await refused(calls) }) };
    const client = new DynamoClient({ ...config, requestHandler: refusing, maxAttempts: 4 });
    const table = dynamoTable(client, TableName);
    await expect(table.write({ kind: "put", item: Key, if: { pk: { exists: false } } })).rejects.toBeInstanceOf(
      ConditionFailed,
    );
    expect(calls).toHaveLength(1);
  });
});

async function refused(calls: StoodIn[]) {
  calls.push({ target: "PutItem", body: randomUUID() });
  const body = { __type: "com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException", message: "no" };
  return { statusCode: 400, headers: {}, body: Buffer.from(JSON.stringify(body)) };
}

function throttling(httpStatusCode: number, name: string): object {
  return { name, $metadata: { httpStatusCode } };
}
