import { type AnyClient, addMiddleware, commandOf, type Middleware, memberOf, serviceOf } from "./middleware.ts";

/** One attempt to call AWS, as it went over the wire. */
export interface MeteredCall {
  /** `DynamoDB`, `S3`, `SQS`, `Lambda`. */
  readonly service: string;
  /** Without its ending: `TransactWriteItems`, `PutObject`. */
  readonly command: string;
  /** Bytes of the bodies of request and response; 0 if one has no length. */
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

/** A successful call of DynamoDB, with its input. */
export interface MeteredRequest {
  readonly command: string;
  readonly input: object;
  /** Items or index entries that it returned. */
  readonly items: number;
}

/** What metered clients have used. The benchmark or test that measures creates it, reads it and empties it. */
export interface Meter {
  calls: MeteredCall[];
  units: MeteredUnits[];
  requests: MeteredRequest[];
}

export const newMeter = (): Meter => ({ calls: [], units: [], requests: [] });

/**
 * Counts the calls of an AWS SDK client in `meter`. DynamoDB calls request the consumed capacity of the table and of each index; a failed
 * call counts too, but DynamoDB does not return its capacity. Only benchmarks and tests meter clients.
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
        sentBytes: countBytes(memberOf(args.request, "body")),
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
    meter.requests.push({ command, input: args.input, items: countItems(result.output) });
    const consumed = memberOf(result.output, "ConsumedCapacity");
    for (const table of Array.isArray(consumed) ? consumed : [consumed]) {
      meter.units.push(...toUnits(command, table));
    }
    return result;
  };

function toUnits(command: string, table: unknown): MeteredUnits[] {
  const kind = /Get|Query|Scan/.test(command) ? "read" : "write";
  const entries: [string | undefined, unknown][] = [[undefined, memberOf(table, "Table")]];
  const indexes = memberOf(table, "GlobalSecondaryIndexes");
  if (typeof indexes === "object" && indexes !== null) entries.push(...Object.entries(indexes));
  const reported = entries.map(([index, capacity]) => ({
    index,
    units: toNumber(memberOf(capacity, "CapacityUnits")),
  }));
  // Some emulators return the units of the table only as the difference between the total and the indexes.
  const total = toNumber(memberOf(table, "CapacityUnits"));
  const rest = total - reported.reduce((sum, { units }) => sum + units, 0);
  return reported
    .map(({ index, units }) => ({ index, units: index === undefined ? units + Math.max(0, rest) : units }))
    .filter(({ units }) => units > 0)
    .map(({ index, units }) => ({ command, ...(index === undefined ? {} : { index }), units, kind }));
}

/** Counts the items in a response of GetItem, Query, or BatchGetItem, which returns lists by table. */
function countItems(output: unknown): number {
  if (memberOf(output, "Item") !== undefined) return 1;
  const responses = memberOf(output, "Responses");
  const lists = [memberOf(output, "Items"), ...(typeof responses === "object" ? Object.values(responses ?? {}) : [])];
  return lists.reduce((sum: number, list) => sum + (Array.isArray(list) ? list.length : 0), 0);
}

const toNumber = (value: unknown): number => (typeof value === "number" ? value : 0);

function countBytes(body: unknown): number {
  if (typeof body === "string") return Buffer.byteLength(body);
  return body instanceof Uint8Array ? body.byteLength : 0;
}
