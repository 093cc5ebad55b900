import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { DynamoClient } from "#shared/aws/dynamo-client.ts";
import { dynamoTable } from "#shared/aws/dynamo-table.ts";
import { toAttributes } from "#shared/table/attribute-codec.ts";
import { ConditionFailed, type Item, type Query, TableBusy } from "#shared/table/table.ts";

/** A response of DynamoDB: a body, or an error with its status. */
interface Reply {
  readonly status?: number;
  readonly body: object;
}

/** A table on a DynamoDB that returns these responses in order; the last one is repeated. */
function openTable(...replies: readonly Reply[]) {
  const requests: { readonly operation: string; readonly input: unknown }[] = [];
  const client = new DynamoClient({
    region: "eu-west-1",
    credentials: { accessKeyId: "id", secretAccessKey: "secret" },
    maxAttempts: 1,
    requestHandler: {
      async handle({ headers, body }) {
        requests.push({ operation: `${headers["x-amz-target"]}`, input: JSON.parse(`${body}`) });
        const { status = 200, body: reply } = replies[Math.min(requests.length, replies.length) - 1] ?? { body: {} };
        return { response: { statusCode: status, headers: {}, body: Buffer.from(JSON.stringify(reply)) } };
      },
    },
  });
  return { table: dynamoTable(client, "ours"), requests };
}

const refusal = (name: string, more: object = {}): Reply => ({
  status: 400,
  body: { __type: `com.amazonaws.dynamodb.v20120810#${name}`, message: "refused", ...more },
});
const canceled = (...codes: readonly string[]) =>
  refusal("TransactionCanceledException", { CancellationReasons: codes.map((Code) => ({ Code })) });
const key = (pk: string, sk = "s") => ({ pk, sk });
const attributes = (item: Item) => toAttributes(item);
const thrown = (promise: Promise<unknown>): Promise<unknown> => promise.catch((error: unknown) => error);

// The waits between attempts are random.
beforeEach(() => void vi.spyOn(Math, "random").mockReturnValue(0));
afterEach(() => void vi.mocked(Math.random).mockRestore());

describe("the table on DynamoDB", () => {
  it("reads an item consistently, by its key alone", async () => {
    const { table, requests } = openTable({ body: { Item: attributes({ ...key("a"), n: 1 }) } }, { body: {} });
    const read: Item = { ...key("a"), n: 5 };
    expect(await table.get(read)).toEqual({ ...key("a"), n: 1 });
    expect(await table.get(key("b"))).toBeUndefined();
    expect(requests[0]).toEqual({
      operation: "DynamoDB_20120810.GetItem",
      input: { TableName: "ours", Key: attributes(key("a")), ConsistentRead: true },
    });
  });

  it("reads a batch until no key is left, each key once, and returns the items in order", async () => {
    const batch = (items: readonly Item[], left: readonly Item[]): Reply => ({
      body: {
        Responses: { ours: items.map(attributes) },
        UnprocessedKeys: left.length === 0 ? {} : { ours: { Keys: left.map(attributes) } },
      },
    });
    const { table, requests } = openTable(batch([key("b")], [key("a"), key("c")]), batch([key("a")], []));
    expect(await table.batchGet([key("a"), key("b"), key("a"), key("c")])).toEqual([
      key("a"),
      key("b"),
      key("a"),
      undefined,
    ]);
    const input = (...keys: readonly Item[]) => ({
      RequestItems: { ours: { Keys: keys.map(attributes), ConsistentRead: true } },
    });
    expect(requests.map((request) => request.input)).toEqual([
      input(key("a"), key("b"), key("c")),
      input(key("a"), key("c")),
    ]);
    expect(await openTable().table.batchGet([])).toEqual([]);
  });

  it("aborts a batch after twelve requests", async () => {
    const { table, requests } = openTable({ body: { UnprocessedKeys: { ours: { Keys: [attributes(key("a"))] } } } });
    expect(await thrown(table.batchGet([key("a")]))).toMatchObject({ message: expect.stringContaining("unread") });
    expect(requests).toHaveLength(12);
  });

  it.each<[Query, object]>([
    [{ pk: "p" }, { ConsistentRead: true, ScanIndexForward: true }],
    [
      { pk: "p", descending: true },
      { ConsistentRead: true, ScanIndexForward: false },
    ],
    [
      { pk: "p", index: "gsi1" },
      { IndexName: "gsi1", ScanIndexForward: true },
    ],
    [
      { pk: "p", limit: 3 },
      { ConsistentRead: true, ScanIndexForward: true, Limit: 3 },
    ],
  ])("queries %j", async (query, expected) => {
    const { table, requests } = openTable({ body: { Items: [attributes(key("p"))] } });
    expect(await table.query(query)).toEqual({ items: [key("p")], more: false });
    expect(requests[0]?.input).toEqual({
      TableName: "ours",
      KeyConditionExpression: expect.any(String),
      ExpressionAttributeNames: expect.any(Object),
      ExpressionAttributeValues: expect.objectContaining({ ":0": { S: "p" } }),
      ...expected,
    });
  });

  it("continues a query until its limit, and reports whether there is more", async () => {
    const page = (sk: string, isLast = false): Reply => ({
      body: { Items: [attributes(key("p", sk))], ...(isLast ? {} : { LastEvaluatedKey: attributes(key("p", sk)) }) },
    });
    const limited = openTable(page("1"), page("2"), page("3"));
    expect(await limited.table.query({ pk: "p", limit: 2 })).toEqual({
      items: [key("p", "1"), key("p", "2")],
      more: true,
    });
    expect(limited.requests.map(({ input }) => input)).toMatchObject([
      { Limit: 2 },
      { Limit: 1, ExclusiveStartKey: attributes(key("p", "1")) },
    ]);
    expect(limited.requests[0]?.input).not.toHaveProperty("ExclusiveStartKey");
    const whole = openTable(page("1"), page("2"), page("3", true));
    expect(await whole.table.query({ pk: "p" })).toEqual({
      items: [key("p", "1"), key("p", "2"), key("p", "3")],
      more: false,
    });
    expect(whole.requests).toHaveLength(3);
  });

  it("sends no query for a range that contains no key, which DynamoDB refuses", async () => {
    for (const range of [
      { after: "b", before: "b" },
      { after: "c", before: "b" },
      { from: "b", before: "b" },
      { from: "é", before: "f" },
    ]) {
      const { table, requests } = openTable();
      expect(await table.query({ pk: "p", ...range })).toEqual({ items: [], more: false });
      expect(requests, JSON.stringify(range)).toEqual([]);
    }
    const { table, requests } = openTable({ body: {} });
    await table.query({ pk: "p", from: "a", before: "b" });
    expect(requests).toHaveLength(1);
  });

  it.each([
    [{ kind: "put", item: key("a") } as const, "PutItem", { Item: attributes(key("a")) }],
    [{ kind: "delete", key: key("a") } as const, "DeleteItem", { Key: attributes(key("a")) }],
    [
      { kind: "update", key: key("a"), set: { n: 1 } } as const,
      "UpdateItem",
      {
        Key: attributes(key("a")),
        UpdateExpression: "SET #n = :0",
        ExpressionAttributeNames: { "#n": "n" },
        ExpressionAttributeValues: { ":0": { N: "1" } },
      },
    ],
  ])("writes %j, alone and in a transaction", async (write, operation, input) => {
    const { table, requests } = openTable({ body: {} });
    await table.write(write);
    await table.transact([write, { kind: "check", key: key("b"), if: { n: { exists: true } } }]);
    const whole = { TableName: "ours", ...input };
    expect(requests).toEqual([
      { operation: `DynamoDB_20120810.${operation}`, input: whole },
      {
        operation: "DynamoDB_20120810.TransactWriteItems",
        input: {
          ClientRequestToken: expect.stringMatching(/^[0-9a-f-]{36}$/),
          TransactItems: [
            { [operation.replace("Item", "")]: whole },
            {
              ConditionCheck: {
                TableName: "ours",
                Key: attributes(key("b")),
                ConditionExpression: "attribute_exists(#n)",
                ExpressionAttributeNames: { "#n": "n" },
              },
            },
          ],
        },
      },
    ]);
  });
});

describe("a write that DynamoDB refuses", () => {
  const put = { kind: "put", item: key("a") } as const;

  it("names the failed conditions, and is not retried", async () => {
    const single = openTable(refusal("ConditionalCheckFailedException"));
    expect(await thrown(single.table.write(put))).toEqual(new ConditionFailed([0]));
    expect(single.requests).toHaveLength(1);
    const several = openTable(
      canceled("None", "ConditionalCheckFailed", "TransactionConflict", "ConditionalCheckFailed"),
    );
    expect(await thrown(several.table.transact([put]))).toMatchObject({ positions: [1, 3] });
    expect(several.requests).toHaveLength(1);
  });

  it.each([
    refusal("TransactionConflictException"),
    refusal("TransactionInProgressException"),
    canceled("None", "TransactionConflict"),
    canceled("ThrottlingError"),
    canceled("ProvisionedThroughputExceeded"),
  ])("because of another transaction is retried, twelve times at most: %j", async (reply) => {
    const once = openTable(reply, { body: {} });
    await once.table.transact([put]);
    expect(once.requests).toHaveLength(2);
    expect(once.requests[0]).toEqual(once.requests[1]);
    const always = openTable(reply);
    expect(await thrown(always.table.write(put))).toBeInstanceOf(TableBusy);
    expect(always.requests).toHaveLength(12);
  });

  it.each([refusal("ValidationException"), canceled("None", "ValidationError")])(
    "for another reason is not retried: %j",
    async (reply) => {
      const { table, requests } = openTable(reply);
      expect(await thrown(table.transact([put]))).toMatchObject({ message: "refused" });
      expect(requests).toHaveLength(1);
    },
  );
});
