import { TransactionCanceledException } from "@aws-sdk/client-dynamodb";
import {
  BatchGetCommand,
  DeleteCommand,
  type DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  QueryCommand,
  TransactWriteCommand,
  type TransactWriteCommandInput,
  UpdateCommand,
} from "@aws-sdk/lib-dynamodb";
import { conditionOf, keyRange, updateOf } from "#shared/table/expression.ts";
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

/** Attempts at a write that lost against another transaction on the same item. */
const CONFLICT_ATTEMPTS = 12;
const CONFLICT_BASE_MS = 10;

/** The table on DynamoDB. Base-table reads are strongly consistent; index reads cannot be. */
export function dynamoTable(client: DynamoDBDocumentClient, name: string): Table {
  async function get(key: Key): Promise<Item | undefined> {
    const found = await client.send(
      new GetCommand({ TableName: name, Key: { pk: key.pk, sk: key.sk }, ConsistentRead: true }),
    );
    return found.Item === undefined ? undefined : toItem(found.Item);
  }

  async function batchGet(keys: readonly Key[]): Promise<readonly (Item | undefined)[]> {
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

  async function query(query: Query): Promise<Page> {
    const range = keyRange(query);
    const { low, high } = bounds(query);
    // DynamoDB takes a range without room in it for an error.
    if (low !== undefined && high !== undefined && !hasRoom(low, high)) return { items: [], more: false };
    const sortKey = query.index === undefined ? "sk" : INDEXES[query.index].sk;
    const inside = (item: Item) => high === undefined || high.inclusive || item[sortKey] !== high.value;
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
      items.push(...(reply.Items ?? []).map(toItem).filter(inside));
      start = reply.LastEvaluatedKey;
    } while (start !== undefined && (query.limit === undefined || items.length < query.limit));
    return { items, more: start !== undefined };
  }

  const write = (write: Write): Promise<void> =>
    retryConflicts(async () => {
      try {
        if (write.kind === "put")
          await client.send(new PutCommand({ TableName: name, Item: write.item, ...conditionOf(write.if) }));
        if (write.kind === "delete") {
          await client.send(new DeleteCommand({ TableName: name, Key: plain(write.key), ...conditionOf(write.if) }));
        }
        if (write.kind === "update") {
          await client.send(new UpdateCommand({ TableName: name, Key: plain(write.key), ...updateOf(write) }));
        }
      } catch (error) {
        throw error instanceof Error && error.name === "ConditionalCheckFailedException"
          ? new ConditionFailed([0])
          : error;
      }
    });

  const transact = (writes: readonly TransactionWrite[]): Promise<void> =>
    retryConflicts(async () => {
      try {
        await client.send(
          new TransactWriteCommand({ TransactItems: writes.map((write) => transactItem(name, write)) }),
        );
      } catch (error) {
        throw error instanceof TransactionCanceledException ? cancelled(error) : error;
      }
    });

  return { get, batchGet, query, write, transact };
}

function hasRoom(low: Bound, high: Bound): boolean {
  const order = Buffer.compare(Buffer.from(low.value), Buffer.from(high.value));
  return order < 0 || (order === 0 && low.inclusive && high.inclusive);
}

type TransactItem = NonNullable<TransactWriteCommandInput["TransactItems"]>[number];

const plain = ({ pk, sk }: Key) => ({ pk, sk });

function toItem(raw: Record<string, Value>): Item {
  const { pk, sk } = raw;
  if (typeof pk !== "string" || typeof sk !== "string") throw new TypeError("an item without string keys");
  return { ...raw, pk, sk };
}

function transactItem(name: string, write: TransactionWrite): TransactItem {
  const where = conditionOf(write.if);
  if (write.kind === "put") return { Put: { TableName: name, Item: write.item, ...where } };
  if (write.kind === "delete") return { Delete: { TableName: name, Key: plain(write.key), ...where } };
  if (write.kind === "update") {
    return { Update: { TableName: name, Key: plain(write.key), UpdateExpression: undefined, ...updateOf(write) } };
  }
  return {
    ConditionCheck: {
      TableName: name,
      Key: plain(write.key),
      ...where,
      ConditionExpression: where.ConditionExpression ?? "",
    },
  };
}

/** A failed condition says so; any other reason (a conflict, a throttle) passes as it is and is tried again. */
function cancelled(error: TransactionCanceledException): Error {
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
