import { createdAtOf } from "#shared/ids.ts";
import { seededRandom } from "#shared/random.ts";
import { type AwsResponse, type HttpCall, readResponse, type ServiceError, toResponse } from "./http-codec.ts";
import { memberOf } from "./middleware.ts";

/**
 * The faults that are injected into calls to AWS:
 * - `throttled`: refused because of too many calls;
 * - `conflict`: refused because another transaction uses one of the items;
 * - `failed`: refused with a 500;
 * - `slow`: a late response;
 * - `unheard`: executed, but the response is lost, so the SDK repeats the call;
 * - `twice`: executed twice: a message that is delivered twice, or an asynchronous invocation;
 * - `partial`: a response without some of the requested keys, which DynamoDB lists as unprocessed;
 * - `stale`: a response of an index that lacks the latest writes.
 */
export type AwsFault = "throttled" | "conflict" | "failed" | "slow" | "unheard" | "twice" | "partial" | "stale";

/** Percentage of calls with a fault. */
const PERCENT = 5;
const LEAST_WAIT_MS = 50;
const MAX_WAIT_MS = 1_000;
/** Maximum lag of an index. AWS says "usually within a fraction of a second", without a guarantee. */
const LAG_MS = 3_000;
/** Number of responses that are kept: of indexes, to be returned when they are stale, and of transactions, by their tokens. */
const REMEMBERED = 200;

export interface Faults {
  /** The fault of this call; undefined if there is none. */
  next(call: HttpCall): AwsFault | undefined;
  /** Makes the call with the fault. `send` makes it once. @throws TimeoutError if its response is lost */
  make(fault: AwsFault | undefined, call: HttpCall, send: () => Promise<unknown>): Promise<unknown>;
}

/**
 * A plan of faults. `setting`: a seed, or `seed/percent` of calls that get a fault. With the same seed, the n-th call of the
 * function `name` gets the same fault, if it can have that one.
 */
export function plannedFaults(setting: string, name: string): Faults {
  const [, seed = "0", percent = String(PERCENT)] = /^(\d+)(?:\/(\d+))?$/.exec(setting) ?? [];
  const random = seededRandom(
    [...name].reduce((sum, letter) => Math.imul(sum, 31) + letter.charCodeAt(0), Number(seed)),
  );
  const memory = new Map<string, { readonly at: number; readonly response: AwsResponse }>();
  const executeOnce = transactionsByToken();

  return {
    next(call) {
      const [draw, choice] = [random() * 100, random()];
      if (draw >= Number(percent)) return undefined;
      const possible = listPossibleFaults(call);
      return possible[Math.floor(choice * possible.length)];
    },

    async make(fault, call, sendOnce) {
      const send = () => executeOnce(call, sendOnce);
      if (fault === "slow") await wait(LEAST_WAIT_MS + random() * (MAX_WAIT_MS - LEAST_WAIT_MS));
      if (fault === "twice") await send();
      if (fault === "unheard") {
        await send();
        throw Object.assign(new Error("the response was lost on its way"), { name: "TimeoutError" });
      }
      if (fault === "partial") return withUnprocessed(await readResponse(await send()), call);
      if (!isIndexQuery(call)) return send();
      const key = Buffer.from(call.body).toString();
      const earlier = memory.get(key);
      const response = await readResponse(await send());
      if (fault === "stale" && earlier !== undefined && Date.now() - earlier.at < LAG_MS) return earlier.response;
      memory.delete(key);
      memory.set(key, { at: Date.now(), response });
      forgetOldest(memory);
      return fault === "stale" ? withoutLatest(response) : response;
    },
  };
}

/**
 * Returns what executes calls as DynamoDB does: a transaction with the token of one that was executed has no effect, and gets the
 * response of that one. The emulator ignores tokens.
 */
function transactionsByToken() {
  const executed = new Map<string, { readonly body: Buffer; readonly response: AwsResponse }>();
  return async (call: HttpCall, send: () => Promise<unknown>): Promise<unknown> => {
    const token = call.command === "TransactWriteItems" ? memberOf(call.json(), "ClientRequestToken") : undefined;
    if (typeof token !== "string") return send();
    const earlier = executed.get(token);
    if (earlier !== undefined) return earlier.body.equals(call.body) ? earlier.response : TOKEN_OF_ANOTHER;
    const response = await readResponse(await send());
    if (response.statusCode === 200) executed.set(token, { body: Buffer.from(call.body), response });
    forgetOldest(executed);
    return response;
  };
}

const TOKEN_OF_ANOTHER = toResponse("DynamoDB", {
  status: 400,
  code: "IdempotentParameterMismatchException",
  message: "The token was used with other parameters",
});

function forgetOldest(memory: Map<string, unknown>): void {
  for (const [oldest] of [...memory].slice(0, Math.max(0, memory.size - REMEMBERED))) memory.delete(oldest);
}

/** The error response of a fault; undefined if the call is made. */
export function toServiceError(fault: AwsFault, { service, command, json }: HttpCall): ServiceError | undefined {
  if (fault === "throttled") return THROTTLED[service] ?? THROTTLED["SSM"];
  if (fault === "failed") return { status: 500, code: FAILED[service] ?? "InternalServerError", message: "Injected" };
  if (fault !== "conflict") return undefined;
  const message = "Transaction is ongoing for the item";
  if (command !== "TransactWriteItems") return { status: 400, code: "TransactionConflictException", message };
  const items = memberOf(json(), "TransactItems");
  const count = Array.isArray(items) ? items.length : 1;
  const CancellationReasons = Array.from({ length: count }, (_, index) =>
    index === count - 1 ? { Code: "TransactionConflict", Message: message } : { Code: "None" },
  );
  const summary = `Transaction cancelled, please refer cancellation reasons for specific reasons [${CancellationReasons.map(({ Code }) => Code).join(", ")}]`;
  return { status: 400, code: "TransactionCanceledException", message: summary, more: { CancellationReasons } };
}

const throttle = (status: number, code: string): ServiceError => ({ status, code, message: "Rate exceeded" });
const THROTTLED: Readonly<Record<string, ServiceError>> = {
  DynamoDB: throttle(400, "ProvisionedThroughputExceededException"),
  SQS: throttle(403, "RequestThrottled"),
  Lambda: throttle(429, "TooManyRequestsException"),
  S3: throttle(503, "SlowDown"),
  SSM: throttle(400, "ThrottlingException"),
  Scheduler: throttle(429, "ThrottlingException"),
};
const FAILED: Readonly<Record<string, string>> = {
  Lambda: "ServiceException",
  S3: "InternalError",
  SQS: "InternalError",
  Scheduler: "InternalServerException",
};

function listPossibleFaults(call: HttpCall): readonly AwsFault[] {
  const always = ["throttled", "failed", "slow", "unheard"] as const;
  if (call.service === "SQS" && call.command === "SendMessage") return [...always, "twice"];
  if (call.service === "Lambda") {
    // Repeating a synchronous call would run the function twice at a time, which Lambda never does by itself.
    return call.headers["x-amz-invocation-type"] === "Event" ? [...always, "twice"] : ["throttled", "failed", "slow"];
  }
  // Indexes are often stale, while the other faults are rare.
  if (isIndexQuery(call)) return [...always, "stale", "stale", "stale", "stale"];
  if (call.command === "BatchGetItem") return [...always, "partial"];
  const isWrite = /^(TransactWrite|Put|Update|Delete)Items?$/.test(call.command);
  return isWrite ? [...always, "conflict"] : always;
}

const isIndexQuery = ({ command, json }: HttpCall): boolean =>
  command === "Query" && memberOf(json(), "IndexName") !== undefined;

/** Returns half of the found items, and the keys of the others as unprocessed. */
function withUnprocessed(response: AwsResponse, call: HttpCall): AwsResponse {
  if (response.statusCode !== 200) return response;
  const body: unknown = JSON.parse(Buffer.from(response.body).toString());
  const found = Object.entries(Object(memberOf(body, "Responses")));
  const requested = Object(memberOf(call.json(), "RequestItems"));
  const [table, items] = found[0] ?? [];
  if (table === undefined || !Array.isArray(items) || items.length < 2) return response;
  const half = Math.ceil(items.length / 2);
  const remainder = items.slice(half).map((item: unknown) => ({ pk: memberOf(item, "pk"), sk: memberOf(item, "sk") }));
  const UnprocessedKeys = { [table]: { ...Object(memberOf(requested, table)), Keys: remainder } };
  const Responses = { ...Object.fromEntries(found), [table]: items.slice(0, half) };
  return { ...response, body: Buffer.from(JSON.stringify({ ...Object(body), Responses, UnprocessedKeys })) };
}

/** Removes what was written in the last seconds from the response of an index query. */
function withoutLatest(response: AwsResponse): AwsResponse {
  if (response.statusCode !== 200) return response;
  const body: unknown = JSON.parse(Buffer.from(response.body).toString());
  const items = memberOf(body, "Items");
  if (!Array.isArray(items)) return response;
  const since = Date.now() - LAG_MS;
  const Items = items.filter((item: unknown) => writtenAt(item) < since);
  return { ...response, body: Buffer.from(JSON.stringify({ ...Object(body), Items, Count: Items.length })) };
}

/** The time of the last write of an entry according to its keys, in milliseconds since the epoch. */
function writtenAt(item: unknown): number {
  const text = (name: string): string => String(memberOf(memberOf(item, name), "S") ?? "");
  const [updated] = text("updated_key").split("#");
  return Math.max(Number(updated) || 0, ...text("pk").split("#").map(createdAtOf));
}

const wait = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds));
