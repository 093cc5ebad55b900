import { randomUUID } from "node:crypto";
import path from "node:path";
import { pathToFileURL } from "node:url";
import type { APIGatewayProxyEventV2, SQSEvent } from "aws-lambda";
import * as v from "valibot";
import { ACCOUNT, REGION } from "../../emulator/account.ts";
import type { EmulatorAccess } from "../../emulator/emulator-access.ts";
import { writeEntries } from "../../infra/entries.ts";
import { eventSources } from "../../infra/event-sources.ts";
import { type Route, routes } from "../../infra/routes.ts";
import { bootstrapLocal } from "../../operate/bootstrap.ts";
import { projectRoot } from "../../server/host/paths.ts";
import { setClientHook } from "../../shared/aws/client-settings.ts";
import { dynamoClient } from "../../shared/aws/clients.ts";
import { dynamoTable } from "../../shared/aws/dynamo-table.ts";
import { type Meter, type MeteredCall, type MeteredUnits, metered, newMeter } from "../../shared/aws/metering.ts";
import { keys } from "../../shared/table/keys.ts";
import type { Table } from "../../shared/table/table.ts";
import { Envelope } from "../../shared/wire/harness.ts";
import { sizeOfItem } from "./item-size.ts";
import { makeTable } from "./metered-table.ts";
import { openReplay, type Replay } from "./replay.ts";
import { type StandIn, startStandIn } from "./stand-in.ts";

/** What one invocation of a function used. */
export interface Usage {
  readonly calls: readonly MeteredCall[];
  readonly units: readonly MeteredUnits[];
  /** Items and index entries that DynamoDB returned. */
  readonly items: number;
}

export interface MeasuredResponse extends Usage {
  readonly status: number;
  readonly body: unknown;
}

export interface CallOptions {
  readonly key?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The deployed handlers in this process, against a metered table; callers check the responses. */
export interface ControlPlane {
  /** `target` is a path below /api/v1 with its query. */
  call(method: string, target: string, options?: CallOptions): Promise<MeasuredResponse>;
  /** Hands a run's message to the consumer of a queue. */
  consume(consumer: "dispatchRun" | "endRun", runId: string): Promise<Usage>;
  /** Bytes of the run's head as it is stored. */
  headBytes(runId: string): Promise<number>;
  /** The table itself, for items that no call creates, and the team of the calls. */
  readonly table: Table;
  readonly tableName: string;
  readonly teamUid: string;
  /** The input of the last sandbox that was started. */
  lastEnvelope(): v.InferOutput<typeof Envelope>;
  close(): Promise<void>;
}

const PREFIX = "/api/v1";
const TABLE_NAME = "runyard-bench";

/** `countsTransactions`: whether that DynamoDB reports the cost of a transaction as AWS does. */
export async function openControlPlane(dynamo: EmulatorAccess, countsTransactions: boolean): Promise<ControlPlane> {
  const standIn = await startStandIn();
  const { drop } = await makeTable(dynamo, TABLE_NAME);
  const replay = countsTransactions ? undefined : await openReplay(dynamo, `${TABLE_NAME}-again`);
  const meter = newMeter();
  Object.assign(process.env, environmentFor(standIn, dynamo));
  setClientHook((client) => void metered(client, meter));
  const { api_key: userKey, team_uid: teamUid } = await bootstrapLocal(dynamo, TABLE_NAME);
  const table = dynamoTable(dynamoClient(), TABLE_NAME);

  async function call(method: string, target: string, options: CallOptions = {}): Promise<MeasuredResponse> {
    const [pathname = "", query = ""] = target.split("?");
    const { route, parameters } = matchRoute(method, pathname);
    process.env["PRINCIPALS"] = [route.who].flat().join();
    const handler = await loadHandler(route.file);
    const event = httpEvent(route, parameters, pathname, query, { key: userKey, ...options });
    const { result, usage } = await measured(meter, replay, () => handler(event, {}));
    const { statusCode, body } = v.parse(Reply, result);
    return { ...usage, status: statusCode, body: body === "" ? undefined : JSON.parse(body) };
  }

  return {
    call,
    async consume(consumer, runId) {
      const handler = await loadHandler(eventSources[consumer].file);
      const { result, usage } = await measured(meter, replay, () => handler(sqsEvent(runId), {}));
      const { batchItemFailures } = v.parse(BatchReply, result);
      if (batchItemFailures.length > 0) throw new Error(`${consumer} failed for run ${runId}`);
      return usage;
    },
    async headBytes(runId) {
      const item = await table.get(keys.head(runId));
      return sizeOfItem(item ?? {});
    },
    table,
    tableName: TABLE_NAME,
    teamUid,
    lastEnvelope: () => v.parse(Envelope, standIn.invoked.at(-1)),
    async close() {
      setClientHook(undefined);
      await replay?.close();
      await drop();
      await standIn.close();
    },
  };
}

const Reply = v.object({ statusCode: v.number(), body: v.string() });
const BatchReply = v.object({ batchItemFailures: v.array(v.unknown()) });

function environmentFor({ endpoint }: StandIn, dynamo: EmulatorAccess): Record<string, string> {
  return {
    AWS_REGION: REGION,
    AWS_ACCESS_KEY_ID: ACCOUNT,
    AWS_SECRET_ACCESS_KEY: dynamo.secretKey,
    AWS_ENDPOINT_URL: endpoint,
    AWS_ENDPOINT_URL_DYNAMODB: dynamo.endpoint,
    TABLE_NAME,
    BUCKET_NAME: "runyard-bench",
    RUNS_QUEUE_URL: `${endpoint}/queue/runs`,
    ENDS_QUEUE_URL: `${endpoint}/queue/ends`,
    EVENTS_QUEUE_URL: `${endpoint}/queue/events`,
    SANDBOX_FUNCTION_NAME: "runyard-run-sandbox-zip",
    BASE_URL: `http://127.0.0.1${PREFIX}`,
    STAGE: "local",
  };
}

async function measured<T>(
  meter: Meter,
  replay: Replay | undefined,
  work: () => Promise<T>,
): Promise<{ result: T; usage: Usage }> {
  Object.assign(meter, newMeter());
  // Each request logs a line where Lambda takes its log from, which is where this program prints its tables.
  const write = process.stdout.write;
  process.stdout.write = () => true;
  try {
    const result = await work();
    const { calls, units, requests } = meter;
    const items = requests.reduce((sum, request) => sum + request.items, 0);
    if (replay === undefined) return { result, usage: { calls, units, items } };
    const reads = units.filter(({ kind }) => kind === "read");
    return { result, usage: { calls, units: [...reads, ...(await replay.measureUnits(requests))], items } };
  } finally {
    process.stdout.write = write;
  }
}

type Handler = (event: unknown, context: unknown) => Promise<unknown>;

let entries: ReadonlyMap<string, string> | undefined;

async function loadHandler(file: string): Promise<Handler> {
  entries ??= writeEntries(projectRoot, path.join(projectRoot, "dist/bench-entries"));
  const module: unknown = await import(pathToFileURL(entries.get(file) ?? "").href);
  const { handler } = v.parse(v.object({ handler: v.function() }), module);
  return async (event, context) => handler(event, context);
}

function matchRoute(method: string, pathname: string): { route: Route; parameters: Record<string, string> } {
  for (const route of routes) {
    const names = route.path.split("/");
    const parts = pathname.split("/");
    if (route.method !== method || names.length !== parts.length) continue;
    const isParameter = (name: string) => name.startsWith("{");
    if (!names.every((name, index) => isParameter(name) || name === parts[index])) continue;
    const pairs = names.map((name, index) => [name.slice(1, -1), parts[index] ?? "", isParameter(name)] as const);
    return { route, parameters: Object.fromEntries(pairs.filter(([, , is]) => is)) };
  }
  throw new Error(`routes.ts has no ${method} ${pathname}`);
}

/** As API Gateway's HTTP API sends it, payload format 2.0. */
function httpEvent(
  route: Route,
  pathParameters: Record<string, string>,
  pathname: string,
  query: string,
  { key = "", body, headers }: CallOptions,
): APIGatewayProxyEventV2 {
  const rawPath = PREFIX + pathname;
  const routeKey = `${route.method} ${PREFIX}${route.path}`;
  const http = { method: route.method, path: rawPath, protocol: "HTTP/1.1", sourceIp: "127.0.0.1", userAgent: "bench" };
  return {
    version: "2.0",
    routeKey,
    rawPath,
    rawQueryString: query,
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json", ...headers },
    requestContext: {
      accountId: "000000000000",
      apiId: "bench",
      domainName: "127.0.0.1",
      domainPrefix: "bench",
      http,
      requestId: randomUUID(),
      routeKey,
      stage: "$default",
      time: new Date().toUTCString(),
      timeEpoch: Date.now(),
    },
    pathParameters,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    isBase64Encoded: false,
  };
}

function sqsEvent(runId: string): SQSEvent {
  const attributes = {
    ApproximateReceiveCount: "1",
    SentTimestamp: "0",
    SenderId: "bench",
    ApproximateFirstReceiveTimestamp: "0",
  };
  const record = {
    messageId: randomUUID(),
    receiptHandle: "bench",
    body: JSON.stringify({ v: 1, run_id: runId }),
    attributes,
    messageAttributes: {},
    md5OfBody: "",
    eventSource: "aws:sqs",
    eventSourceARN: `arn:aws:sqs:${REGION}:000000000000:bench`,
    awsRegion: REGION,
  };
  return { Records: [record] };
}
