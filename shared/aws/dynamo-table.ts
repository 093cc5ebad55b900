import * as v from "valibot";
import { randomId } from "#shared/ids.ts";
import { fromAttributes, toAttributes } from "#shared/table/attribute-codec.ts";
import { type Expression, keyRange, toCondition, toUpdate } from "#shared/table/expression.ts";
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
  type Write,
} from "#shared/table/table.ts";
import type { DynamoClient } from "./dynamo-client.ts";
import { memberOf } from "./middleware.ts";

/** Attempts of a write that conflicts with another transaction on the same item. */
const CONFLICT_ATTEMPTS = 12;
const CONFLICT_BASE_MS = 10;

type Client = Pick<DynamoClient, "send">;

/** Creates the table on DynamoDB. Reads of the table are strongly consistent; reads of an index cannot be. */
export function dynamoTable(client: Client, name: string): Table {
  return {
    get: (key) => getItem(client, name, key),
    batchGet: (keys) => getItems(client, name, keys),
    query: (query) => queryItems(client, name, query),
    write: (write) => retryConflicts(() => writeItem(client, name, write)),
    transact: (writes) => writeItems(client, name, writes),
  };
}

const Attributes = v.record(v.string(), v.unknown());
const GetOutput = v.object({ Item: v.exactOptional(Attributes) });
const BatchGetOutput = v.object({
  Responses: v.exactOptional(v.record(v.string(), v.array(Attributes)), {}),
  UnprocessedKeys: v.exactOptional(v.record(v.string(), v.object({ Keys: v.array(Attributes) })), {}),
});
const QueryOutput = v.object({
  Items: v.exactOptional(v.array(Attributes), []),
  LastEvaluatedKey: v.exactOptional(Attributes),
});

async function getItem(client: Client, name: string, { pk, sk }: Key): Promise<Item | undefined> {
  const input = { TableName: name, Key: toAttributes({ pk, sk }), ConsistentRead: true };
  const found = v.parse(GetOutput, await client.send("GetItem", input));
  return found.Item === undefined ? undefined : fromAttributes(found.Item);
}

async function getItems(client: Client, name: string, keys: readonly Key[]): Promise<readonly (Item | undefined)[]> {
  if (keys.length === 0) return [];
  const found = new Map<string, Item>();
  const unique = new Map(keys.map(({ pk, sk }) => [`${pk}\u0000${sk}`, { pk, sk }]));
  let missing: object[] = [...unique.values()].map(toAttributes);
  for (let attempt = 0; missing.length > 0; attempt++) {
    if (attempt > 0) await jitter(attempt);
    if (attempt === CONFLICT_ATTEMPTS) throw new Error("DynamoDB left keys of a batch unread");
    const input = { RequestItems: { [name]: { Keys: missing, ConsistentRead: true } } };
    const reply = v.parse(BatchGetOutput, await client.send("BatchGetItem", input));
    for (const raw of reply.Responses[name] ?? []) {
      const item = fromAttributes(raw);
      found.set(`${item.pk}\u0000${item.sk}`, item);
    }
    missing = reply.UnprocessedKeys[name]?.Keys ?? [];
  }
  return keys.map(({ pk, sk }) => found.get(`${pk}\u0000${sk}`));
}

async function queryItems(client: Client, name: string, query: Query): Promise<Page> {
  const range = withAttributes(keyRange(query));
  const { low, high } = bounds(query);
  // DynamoDB rejects a range that contains no key.
  if (low !== undefined && high !== undefined && !containsKeys(low, high)) return { items: [], more: false };
  const sortKey = query.index === undefined ? "sk" : INDEXES[query.index].sk;
  const isWithin = (item: Item) => high === undefined || high.inclusive || item[sortKey] !== high.value;
  const items: Item[] = [];
  let start: object | undefined;
  do {
    const input = {
      TableName: name,
      ...range,
      ...(query.index === undefined ? { ConsistentRead: true } : { IndexName: query.index }),
      ScanIndexForward: query.descending !== true,
      ...(query.limit === undefined ? {} : { Limit: query.limit - items.length }),
      ...(start === undefined ? {} : { ExclusiveStartKey: start }),
    };
    const reply = v.parse(QueryOutput, await client.send("Query", input));
    items.push(...reply.Items.map(fromAttributes).filter(isWithin));
    start = reply.LastEvaluatedKey;
  } while (start !== undefined && (query.limit === undefined || items.length < query.limit));
  return { items, more: start !== undefined };
}

async function writeItem(client: Client, name: string, write: Write): Promise<void> {
  try {
    await client.send(`${ACTIONS[write.kind]}Item`, toInput(name, write));
  } catch (error) {
    throw error instanceof Error && error.name === "ConditionalCheckFailedException" ? new ConditionFailed([0]) : error;
  }
}

async function writeItems(client: Client, name: string, writes: readonly TransactionWrite[]): Promise<void> {
  const TransactItems = writes.map((write) => ({ [ACTIONS[write.kind]]: toInput(name, write) }));
  // With one token for all attempts, DynamoDB executes the transaction once, also if it is repeated after a lost response.
  const input = { ClientRequestToken: randomId(), TransactItems };
  await retryConflicts(async () => {
    try {
      await client.send("TransactWriteItems", input);
    } catch (error) {
      throw toTransactionError(error);
    }
  });
}

function containsKeys(low: Bound, high: Bound): boolean {
  const order = Buffer.compare(Buffer.from(low.value), Buffer.from(high.value));
  return order < 0 || (order === 0 && low.inclusive && high.inclusive);
}

/** What a transaction names each write. */
const ACTIONS = { put: "Put", delete: "Delete", update: "Update", check: "ConditionCheck" } as const;

/** The input of a single write, which is also the input of an action of a transaction. */
function toInput(name: string, write: TransactionWrite): object {
  if (write.kind === "put") {
    return { TableName: name, Item: toAttributes(write.item), ...withAttributes(toCondition(write.if)) };
  }
  const target = { TableName: name, Key: toAttributes({ pk: write.key.pk, sk: write.key.sk }) };
  return { ...target, ...withAttributes(write.kind === "update" ? toUpdate(write) : toCondition(write.if)) };
}

/** Converts the values of an expression. */
function withAttributes<E extends Expression>({ ExpressionAttributeValues: values, ...rest }: E): object {
  return values === undefined ? rest : { ...rest, ExpressionAttributeValues: toAttributes(values) };
}

/** Converts failed conditions. Any other reason (a conflict, throttling) stays as it is and is retried. */
function toTransactionError(error: unknown): unknown {
  const failed = listReasons(error).flatMap((code, position) => (code === "ConditionalCheckFailed" ? [position] : []));
  return failed.length > 0 ? new ConditionFailed(failed) : error;
}

/** Why each action of a canceled transaction failed. */
function listReasons(error: unknown): unknown[] {
  const reasons = memberOf(error, "CancellationReasons");
  return Array.isArray(reasons) ? reasons.map((reason) => memberOf(reason, "Code")) : [];
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
  const name = memberOf(error, "name");
  if (name === "TransactionConflictException" || name === "TransactionInProgressException") return true;
  return listReasons(error).some((code) => CONFLICTS.has(code));
}

const CONFLICTS: ReadonlySet<unknown> = new Set([
  "TransactionConflict",
  "ThrottlingError",
  "ProvisionedThroughputExceeded",
]);

/** Full jitter: a random wait of up to 10 ms · 2ⁿ, at most 640 ms. */
const jitter = (attempt: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, Math.random() * CONFLICT_BASE_MS * 2 ** Math.min(attempt, 6)));
