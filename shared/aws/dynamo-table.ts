import {
  BatchGetCommand,
  DeleteCommand,
  type DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  QueryCommand,
  TransactionCanceledException,
  TransactWriteCommand,
  type TransactWriteCommandInput,
  UpdateCommand,
} from "#shared/aws/dynamodb-sdk.ts";
import { keyRange, toCondition, toUpdate } from "#shared/table/expression.ts";
import {
  type Bound,
  bounds,
  ConditionFailed,
  INDEXES,
  type Item,
  type Key,
  type Page,
  type Query,
  type Table,
  TableBusy,
  type TransactionWrite,
  type Value,
  type Write,
} from "#shared/table/table.ts";

/** Attempts of a write that conflicts with another transaction on the same item. */
const CONFLICT_ATTEMPTS = 12;
const CONFLICT_BASE_MS = 10;

/** Creates the table on DynamoDB. Reads of the table are strongly consistent; reads of an index cannot be. */
export function dynamoTable(client: DynamoDBDocumentClient, name: string): Table {
  return {
    get: (key) => getItem(client, name, key),
    batchGet: (keys) => getItems(client, name, keys),
    query: (query) => queryItems(client, name, query),
    write: (write) => retryConflicts(() => writeItem(client, name, write)),
    transact: (writes) => retryConflicts(() => writeItems(client, name, writes)),
  };
}

async function getItem(client: DynamoDBDocumentClient, name: string, { pk, sk }: Key): Promise<Item | undefined> {
  const found = await client.send(new GetCommand({ TableName: name, Key: { pk, sk }, ConsistentRead: true }));
  return found.Item === undefined ? undefined : toItem(found.Item);
}

async function getItems(
  client: DynamoDBDocumentClient,
  name: string,
  keys: readonly Key[],
): Promise<readonly (Item | undefined)[]> {
  if (keys.length === 0) return [];
  const found = new Map<string, Item>();
  let missing: Record<string, unknown>[] = [
    ...new Map(keys.map(({ pk, sk }) => [`${pk}\u0000${sk}`, { pk, sk }])).values(),
  ];
  for (let attempt = 0; missing.length > 0; attempt++) {
    if (attempt > 0) await jitter(attempt);
    if (attempt === CONFLICT_ATTEMPTS) throw new Error("DynamoDB left keys of a batch unread");
    const reply = await client.send(
      new BatchGetCommand({ RequestItems: { [name]: { Keys: missing, ConsistentRead: true } } }),
    );
    for (const raw of reply.Responses?.[name] ?? []) {
      const item = toItem(raw);
      found.set(`${item.pk}\u0000${item.sk}`, item);
    }
    missing = reply.UnprocessedKeys?.[name]?.Keys ?? [];
  }
  return keys.map(({ pk, sk }) => found.get(`${pk}\u0000${sk}`));
}

async function queryItems(client: DynamoDBDocumentClient, name: string, query: Query): Promise<Page> {
  const range = keyRange(query);
  const { low, high } = bounds(query);
  // DynamoDB rejects a range that contains no key.
  if (low !== undefined && high !== undefined && !containsKeys(low, high)) return { items: [], more: false };
  const sortKey = query.index === undefined ? "sk" : INDEXES[query.index].sk;
  const isWithin = (item: Item) => high === undefined || high.inclusive || item[sortKey] !== high.value;
  const items: Item[] = [];
  let start: Record<string, unknown> | undefined;
  do {
    const reply = await client.send(
      new QueryCommand({
        TableName: name,
        ...range,
        ...(query.index === undefined ? { ConsistentRead: true } : { IndexName: query.index }),
        ScanIndexForward: query.descending !== true,
        ...(query.limit === undefined ? {} : { Limit: query.limit - items.length }),
        ...(start === undefined ? {} : { ExclusiveStartKey: start }),
      }),
    );
    items.push(...(reply.Items ?? []).map(toItem).filter(isWithin));
    start = reply.LastEvaluatedKey;
  } while (start !== undefined && (query.limit === undefined || items.length < query.limit));
  return { items, more: start !== undefined };
}

async function writeItem(client: DynamoDBDocumentClient, name: string, write: Write): Promise<void> {
  try {
    if (write.kind === "put") {
      await client.send(new PutCommand({ TableName: name, Item: write.item, ...toCondition(write.if) }));
    }
    if (write.kind === "delete") {
      await client.send(new DeleteCommand({ TableName: name, Key: toKey(write.key), ...toCondition(write.if) }));
    }
    if (write.kind === "update") {
      await client.send(new UpdateCommand({ TableName: name, Key: toKey(write.key), ...toUpdate(write) }));
    }
  } catch (error) {
    throw error instanceof Error && error.name === "ConditionalCheckFailedException" ? new ConditionFailed([0]) : error;
  }
}

async function writeItems(
  client: DynamoDBDocumentClient,
  name: string,
  writes: readonly TransactionWrite[],
): Promise<void> {
  try {
    await client.send(new TransactWriteCommand({ TransactItems: writes.map((write) => toTransactItem(name, write)) }));
  } catch (error) {
    throw error instanceof TransactionCanceledException ? toTransactionError(error) : error;
  }
}

function containsKeys(low: Bound, high: Bound): boolean {
  const order = Buffer.compare(Buffer.from(low.value), Buffer.from(high.value));
  return order < 0 || (order === 0 && low.inclusive && high.inclusive);
}

type TransactItem = NonNullable<TransactWriteCommandInput["TransactItems"]>[number];

const toKey = ({ pk, sk }: Key) => ({ pk, sk });

/** Converts what DynamoDB returns. */
export function toItem(raw: Record<string, Value>): Item {
  const { pk, sk } = raw;
  if (typeof pk !== "string" || typeof sk !== "string") throw new TypeError("an item without string keys");
  return { ...raw, pk, sk };
}

function toTransactItem(name: string, write: TransactionWrite): TransactItem {
  const where = toCondition(write.if);
  if (write.kind === "put") return { Put: { TableName: name, Item: write.item, ...where } };
  if (write.kind === "delete") return { Delete: { TableName: name, Key: toKey(write.key), ...where } };
  if (write.kind === "update") {
    return { Update: { TableName: name, Key: toKey(write.key), UpdateExpression: undefined, ...toUpdate(write) } };
  }
  return {
    ConditionCheck: {
      TableName: name,
      Key: toKey(write.key),
      ...where,
      ConditionExpression: where.ConditionExpression ?? "",
    },
  };
}

/** Converts failed conditions. Any other reason (a conflict, throttling) stays as it is and is retried. */
function toTransactionError(error: TransactionCanceledException): Error {
  const reasons = error.CancellationReasons ?? [];
  const failed = reasons.flatMap((reason, position) => (reason.Code === "ConditionalCheckFailed" ? [position] : []));
  return failed.length > 0 ? new ConditionFailed(failed) : error;
}

async function retryConflicts(attempt: () => Promise<void>): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      return await attempt();
    } catch (error) {
      if (!isConflict(error)) throw error;
      if (tries === CONFLICT_ATTEMPTS) throw new TableBusy(error);
      await jitter(tries);
    }
  }
}

function isConflict(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error.name === "TransactionConflictException" || error.name === "TransactionInProgressException") return true;
  return (
    error instanceof TransactionCanceledException &&
    (error.CancellationReasons ?? []).some(({ Code }) =>
      ["TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded"].includes(Code ?? ""),
    )
  );
}

/** Full jitter: a random wait of up to 10 ms · 2ⁿ, at most 640 ms. */
const jitter = (attempt: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, Math.random() * CONFLICT_BASE_MS * 2 ** Math.min(attempt, 6)));
