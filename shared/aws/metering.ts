import { type AnyClient, addMiddleware, commandOf, type Middleware, memberOf, serviceOf } from "./middleware.ts";

/** One attempt to call AWS, as it went over the wire. */
export interface MeteredCall {
  /** `DynamoDB`, `S3`, `SQS`, `Lambda`. */
  readonly service: string;
  /** Without its ending: `TransactWriteItems`, `PutObject`. */
  readonly command: string;
  /** Bytes of the request's and the answer's body; 0 where one has no length of its own. */
  readonly sentBytes: number;
  readonly receivedBytes: number;
}

/** Capacity units of one table or one of its indexes. */
export interface MeteredUnits {
  readonly command: string;
  /** The index; absent for the table itself. */
  readonly index?: string;
  readonly units: number;
  readonly kind: "read" | "write";
}

/** A call of DynamoDB that succeeded, with what it was asked. */
export interface MeteredRequest {
  readonly command: string;
  readonly input: object;
  /** Items or index entries that it answered. */
  readonly items: number;
}

/** What metered clients have used. Whoever measures makes it, reads it and empties it. */
export interface Meter {
  calls: MeteredCall[];
  units: MeteredUnits[];
  requests: MeteredRequest[];
}

export const newMeter = (): Meter => ({ calls: [], units: [], requests: [] });

/**
 * Counts what a client of the AWS SDK calls into `meter`. Calls of DynamoDB are made to tell the capacity that they consume,
 * table and indexes apart; a call that fails counts, but DynamoDB does not say what it consumed. Nothing is metered unless
 * this is called, and no function of ours calls it: it is for benchmarks and tests.
 */
export function metered<C extends AnyClient>(client: C, meter: Meter): C {
  addMiddleware(client, { step: "initialize", name: "meterUnits" }, countUnits(meter));
  addMiddleware(client, { step: "deserialize", name: "meterCalls" }, countCalls(meter));
  return client;
}

const countCalls =
  (meter: Meter): Middleware =>
  (next, context) =>
  async (args) => {
    let response: unknown;
    try {
      const result = await next(args);
      response = result.response;
      return result;
    } catch (error) {
      response = memberOf(error, "$response");
      throw error;
    } finally {
      meter.calls.push({
        service: serviceOf(context),
        command: commandOf(context),
        sentBytes: lengthOf(memberOf(args.request, "body")),
        receivedBytes: Number(memberOf(memberOf(response, "headers"), "content-length")) || 0,
      });
    }
  };

const countUnits =
  (meter: Meter): Middleware =>
  (next, context) =>
  async (args) => {
    if (serviceOf(context) !== "DynamoDB") return next(args);
    const result = await next({ ...args, input: { ...args.input, ReturnConsumedCapacity: "INDEXES" } });
    const command = commandOf(context);
    meter.requests.push({ command, input: args.input, items: itemsIn(result.output) });
    const consumed = memberOf(result.output, "ConsumedCapacity");
    for (const table of Array.isArray(consumed) ? consumed : [consumed]) {
      meter.units.push(...unitsOf(command, table));
    }
    return result;
  };

function unitsOf(command: string, table: unknown): MeteredUnits[] {
  const kind = /Get|Query|Scan/.test(command) ? "read" : "write";
  const entries: [string | undefined, unknown][] = [[undefined, memberOf(table, "Table")]];
  const indexes = memberOf(table, "GlobalSecondaryIndexes");
  if (typeof indexes === "object" && indexes !== null) entries.push(...Object.entries(indexes));
  const told = entries.map(([index, capacity]) => ({ index, units: numberOf(memberOf(capacity, "CapacityUnits")) }));
  // Some stand-ins tell of the table only by what the total has more than the indexes.
  const total = numberOf(memberOf(table, "CapacityUnits"));
  const rest = total - told.reduce((sum, { units }) => sum + units, 0);
  return told
    .map(({ index, units }) => ({ index, units: index === undefined ? units + Math.max(0, rest) : units }))
    .filter(({ units }) => units > 0)
    .map(({ index, units }) => ({ command, ...(index === undefined ? {} : { index }), units, kind }));
}

/** In the words of GetItem, of Query, and of BatchGetItem, which answers by table. */
function itemsIn(output: unknown): number {
  if (memberOf(output, "Item") !== undefined) return 1;
  const responses = memberOf(output, "Responses");
  const lists = [memberOf(output, "Items"), ...(typeof responses === "object" ? Object.values(responses ?? {}) : [])];
  return lists.reduce((sum: number, list) => sum + (Array.isArray(list) ? list.length : 0), 0);
}

const numberOf = (value: unknown): number => (typeof value === "number" ? value : 0);

function lengthOf(body: unknown): number {
  if (typeof body === "string") return Buffer.byteLength(body);
  return body instanceof Uint8Array ? body.byteLength : 0;
}
