import { createHash } from "node:crypto";
import * as v from "valibot";

const Text = v.pipe(v.string(), v.nonEmpty());
const Account = v.pipe(v.string(), v.regex(/^\d{12}$/));
const Region = v.literal("us-east-1");
const Milliseconds = v.pipe(v.string(), v.regex(/^\d{13}$/));
const HeaderName = v.pipe(v.string(), v.regex(/^[a-z0-9-]+$/, "headers are named in lower case"), v.notValue("cookie"));

const Request = v.strictObject({
  version: v.literal("2.0"),
  routeKey: v.pipe(v.string(), v.regex(/^(\$default|(GET|POST|PUT|DELETE) \/.*)$/)),
  rawPath: v.pipe(v.string(), v.startsWith("/")),
  rawQueryString: v.string(),
  cookies: v.exactOptional(v.pipe(v.array(v.pipe(v.string(), v.regex(/^[^=;]+=[^;]*$/))), v.minLength(1))),
  headers: v.record(HeaderName, v.string()),
  queryStringParameters: v.exactOptional(v.record(v.string(), v.string())),
  requestContext: v.strictObject({
    accountId: Account,
    apiId: v.pipe(v.string(), v.regex(/^[a-z0-9]{10}$/)),
    domainName: Text,
    domainPrefix: Text,
    http: v.strictObject({
      method: v.picklist(["GET", "POST", "PUT", "DELETE"]),
      path: Text,
      protocol: v.literal("HTTP/1.1"),
      sourceIp: v.pipe(v.string(), v.ip()),
      userAgent: v.string(),
    }),
    requestId: v.pipe(v.string(), v.regex(/^[\w-]{15}=$/)),
    routeKey: Text,
    stage: v.literal("$default"),
    time: v.pipe(v.string(), v.regex(/^\d{2}\/[A-Z][a-z]{2}\/\d{4}:\d{2}:\d{2}:\d{2} \+0000$/)),
    timeEpoch: v.pipe(v.number(), v.integer()),
  }),
  pathParameters: v.exactOptional(v.record(v.string(), Text)),
  body: v.exactOptional(v.string()),
  isBase64Encoded: v.boolean(),
});
type Request = v.InferOutput<typeof Request>;

/** Members that must match other members of the same event. */
const agreements: Readonly<Record<string, (event: Request) => boolean>> = {
  "requestContext.routeKey": ({ routeKey, requestContext }) => requestContext.routeKey === routeKey,
  "requestContext.http.method": ({ routeKey, requestContext }) =>
    routeKey === "$default" || routeKey.startsWith(`${requestContext.http.method} /`),
  "requestContext.http.path": ({ rawPath, requestContext }) => requestContext.http.path === rawPath,
  "requestContext.domainName": ({ headers, requestContext: { apiId, domainName, domainPrefix } }) =>
    headers["host"] === domainName && domainPrefix === apiId && domainName.startsWith(`${apiId}.execute-api.`),
  "requestContext.time": ({ requestContext: { time, timeEpoch } }) =>
    Date.parse(time.replace(":", " ").replaceAll("/", " ")) === Math.floor(timeEpoch / 1000) * 1000,
  "requestContext.http.userAgent": ({ headers, requestContext }) =>
    requestContext.http.userAgent === headers["user-agent"],
  "requestContext.http.sourceIp": ({ headers, requestContext }) =>
    headers["x-forwarded-for"]?.split(", ").at(-1) === requestContext.http.sourceIp,
  pathParameters: ({ routeKey, rawPath, pathParameters = {} }) =>
    routeKey === "$default"
      ? Object.keys(pathParameters).length === 0
      : routeKey.slice(routeKey.indexOf("/")).replace(/\{(\w+)\}/g, (_, name) => pathParameters[name] ?? "") ===
        rawPath,
  queryStringParameters: ({ rawQueryString, queryStringParameters = {} }) => {
    const query = new URLSearchParams(rawQueryString);
    const joined = [...new Set(query.keys())].map((name) => [name, query.getAll(name).join(",")]);
    return JSON.stringify(joined) === JSON.stringify(Object.entries(queryStringParameters));
  },
  "headers.content-length": ({ headers, body = "", isBase64Encoded }) =>
    headers["content-length"] === String(Buffer.from(body, isBase64Encoded ? "base64" : "utf8").length),
  // API Gateway takes these types for text and encodes the rest, bodies without a type included.
  isBase64Encoded: ({ headers, body, isBase64Encoded }) =>
    isBase64Encoded ===
    (body !== undefined &&
      !/^(text\/.*|application\/(json|xml|javascript))(;.*)?$/.test(headers["content-type"] ?? "")),
  body: ({ body, requestContext }) => body === undefined || requestContext.http.method !== "GET",
};

/** A request as API Gateway's HTTP API sends it to a function, payload format 2.0, with no other members. */
export const HttpEvent = v.pipe(
  Request,
  v.rawCheck(({ dataset, addIssue }) => {
    if (!dataset.typed) return;
    for (const [member, agrees] of Object.entries(agreements)) {
      if (!agrees(dataset.value)) addIssue({ message: `${member} does not match the rest of the event` });
    }
  }),
);

const { accountId: _, requestId: __, apiId: ___, ...requestContext } = Request.entries.requestContext.entries;

/** A request as a function URL sends it: the payload of API Gateway, from an anonymous caller. */
export const UrlEvent = v.pipe(
  v.strictObject({
    ...Request.entries,
    routeKey: v.literal("$default"),
    requestContext: v.strictObject({
      ...requestContext,
      accountId: v.literal("anonymous"),
      apiId: v.pipe(v.string(), v.regex(/^[a-z0-9]{32}$/)),
      requestId: v.pipe(v.string(), v.uuid()),
    }),
  }),
  v.check(
    ({ headers, requestContext: { apiId, domainName } }) =>
      headers["host"] === domainName && domainName.startsWith(`${apiId}.lambda-url.`),
    "the host is not that of the URL",
  ),
);

/** A batch as Lambda sends it from a standard queue. */
export const QueueEvent = v.strictObject({
  Records: v.pipe(
    v.array(
      v.pipe(
        v.strictObject({
          messageId: v.pipe(v.string(), v.uuid()),
          receiptHandle: v.pipe(v.string(), v.regex(/^AQEB[A-Za-z0-9+/]+=*$/)),
          body: v.string(),
          attributes: v.strictObject({
            ApproximateReceiveCount: v.pipe(v.string(), v.regex(/^[1-9]\d*$/)),
            AWSTraceHeader: v.exactOptional(
              v.pipe(v.string(), v.regex(/^Root=1-[0-9a-f]{8}-[0-9a-f]{24};Parent=[0-9a-f]{16};Sampled=[01]$/)),
            ),
            SentTimestamp: Milliseconds,
            // The run's owner. SQS balances deliveries between groups, on standard queues too.
            MessageGroupId: v.exactOptional(v.pipe(v.string(), v.regex(/^(TEAM|USER|TRIGGER)#/))),
            SenderId: v.pipe(v.string(), v.regex(/^AROA[A-Z0-9]{17}:runyard-[a-z-]+$/)),
            DeadLetterQueueSourceArn: v.exactOptional(queueArn()),
            ApproximateFirstReceiveTimestamp: Milliseconds,
          }),
          messageAttributes: v.strictObject({}),
          md5OfBody: v.pipe(v.string(), v.regex(/^[0-9a-f]{32}$/)),
          eventSource: v.literal("aws:sqs"),
          eventSourceARN: queueArn(),
          awsRegion: Region,
        }),
        v.check(
          ({ body, md5OfBody }) => createHash("md5").update(body).digest("hex") === md5OfBody,
          "md5OfBody is another body's",
        ),
      ),
    ),
    v.minLength(1),
    v.maxLength(10),
  ),
});

/** An event of EventBridge; a rule with a rate sends the first kind. */
export const BusEvent = v.strictObject({
  version: v.literal("0"),
  id: v.pipe(v.string(), v.uuid()),
  "detail-type": Text,
  source: v.pipe(v.string(), v.startsWith("aws.")),
  account: Account,
  time: v.pipe(v.string(), v.isoTimestamp(), v.regex(/^[^.]+Z$/)),
  region: Region,
  resources: v.array(v.pipe(v.string(), v.startsWith("arn:aws:"))),
  detail: v.record(v.string(), v.unknown()),
});

const TextValue = v.strictObject({ S: v.string() });

/** A batch of the stream of the table, with new and old images. */
export const StreamEvent = v.strictObject({
  Records: v.pipe(
    v.array(
      v.strictObject({
        eventID: v.pipe(v.string(), v.regex(/^[0-9a-f]{32}$/)),
        eventName: v.picklist(["INSERT", "MODIFY", "REMOVE"]),
        eventVersion: v.literal("1.1"),
        eventSource: v.literal("aws:dynamodb"),
        awsRegion: Region,
        dynamodb: v.strictObject({
          ApproximateCreationDateTime: v.number(),
          Keys: v.strictObject({ pk: TextValue, sk: TextValue }),
          NewImage: v.record(v.string(), v.unknown()),
          SequenceNumber: v.pipe(v.string(), v.regex(/^\d+$/)),
          SizeBytes: v.number(),
          StreamViewType: v.literal("NEW_AND_OLD_IMAGES"),
        }),
        eventSourceARN: v.pipe(
          v.string(),
          v.regex(/^arn:aws:dynamodb:us-east-1:\d{12}:table\/runyard\/stream\/[\d:T.-]+$/),
        ),
      }),
    ),
    v.minLength(1),
  ),
});

function queueArn() {
  return v.pipe(v.string(), v.regex(/^arn:aws:sqs:us-east-1:\d{12}:runyard-[a-z-]+$/));
}

const Headers = v.record(v.string(), v.string());
const MultiHeaders = v.record(v.string(), v.array(v.string()));

/** An event of a WebSocket API. The bad ones lack the connection's id. */
export const SocketEvent = v.strictObject({
  headers: v.exactOptional(Headers),
  multiValueHeaders: v.exactOptional(MultiHeaders),
  queryStringParameters: v.exactOptional(Headers),
  multiValueQueryStringParameters: v.exactOptional(MultiHeaders),
  requestContext: v.strictObject({
    routeKey: v.picklist(["$connect", "$disconnect", "$default"]),
    eventType: v.picklist(["CONNECT", "DISCONNECT", "MESSAGE"]),
    extendedRequestId: Text,
    requestTime: Text,
    messageDirection: v.literal("IN"),
    messageId: v.exactOptional(Text),
    disconnectStatusCode: v.exactOptional(v.number()),
    disconnectReason: v.exactOptional(v.string()),
    stage: v.literal("workers"),
    connectedAt: v.number(),
    requestTimeEpoch: v.number(),
    identity: v.strictObject({ userAgent: v.string(), sourceIp: v.pipe(v.string(), v.ip()) }),
    requestId: Text,
    domainName: Text,
    connectionId: v.exactOptional(Text),
    apiId: v.pipe(v.string(), v.regex(/^[a-z0-9]{10}$/)),
  }),
  body: v.exactOptional(v.string()),
  isBase64Encoded: v.boolean(),
});
