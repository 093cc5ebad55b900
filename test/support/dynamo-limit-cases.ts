import { BatchWriteItemCommand, ScanCommand } from "@aws-sdk/client-dynamodb";
import {
  BatchGetCommand,
  type DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  QueryCommand,
  TransactWriteCommand,
  UpdateCommand,
} from "@aws-sdk/lib-dynamodb";

/** The table of the requests. */
export const TableName = "limits";
const Key = { pk: "RUN#1", sk: "HEAD" };

type Send = (client: DynamoDBDocumentClient) => Promise<unknown>;
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
        ExpressionAttributeNames: {
          "#k": IndexName === undefined ? "pk" : "group",
          ...(FilterExpression.includes("#f") && { "#f": "updated_key" }),
        },
        ExpressionAttributeValues: { ":k": "a", ":v": "b" },
        ...(IndexName !== undefined && { IndexName }),
      }),
    );
const scan: Send = (client) => client.send(new ScanCommand({ TableName }));
const keys = (count: number) => Array.from({ length: count }, (_, index) => ({ pk: "RUN#1", sk: `EVENT#${index}` }));
const reads =
  (count: number): Send =>
  (client) =>
    client.send(new BatchGetCommand({ RequestItems: { [TableName]: { Keys: keys(count) } } }));
const writes =
  (count: number): Send =>
  (client) => {
    const requests = keys(count).map(({ pk, sk }) => ({ PutRequest: { Item: { pk: { S: pk }, sk: { S: sk } } } }));
    return client.send(new BatchWriteItemCommand({ RequestItems: { [TableName]: requests } }));
  };

/** Requests beyond a limit of DynamoDB, each with the error of the emulation. DynamoDB returns the same error. */
export const REFUSED_REQUESTS: readonly (readonly [string, Send, RegExp])[] = [
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
];

/** Requests just within the limits. */
export const ACCEPTED_REQUESTS: readonly (readonly [string, Send])[] = [
  ["an item of nearly 400 KB", put({ text: "x".repeat(409_000) })],
  ["a transaction of 100 actions", actions(100)],
  ["a batch of 100 keys", reads(100)],
  ["a batch of 25 writes", writes(25)],
  ["an item with a map and a list", put({ a: { b: 1 }, l: [1] })],
  ["different paths within one attribute", update("SET a.b = :v, a.c = if_not_exists(a.b, :v), l[0] = :v")],
  ["a filter by what is no key of that index", query("begins_with(sk, :v)", "gsi7")],
  ["a command without items", scan],
];
