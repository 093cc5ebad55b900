import { Sha256 } from "@smithy/core/checksum";
import { constructStack } from "@smithy/core/client";
import { getRetryPlugin, StandardRetryStrategy } from "@smithy/core/retry";
import { HttpRequest } from "@smithy/core/transport";
import { NodeHttpHandler } from "@smithy/node-http-handler";
import { SignatureV4 } from "@smithy/signature-v4";
import type { AwsCredentialIdentity, MiddlewareStack, Provider } from "@smithy/types";
import * as v from "valibot";
import { limitSilence, RECORD_SILENCE_MS } from "./client-settings.ts";
import { readResponse } from "./http-codec.ts";

export type DynamoOperation =
  | "BatchGetItem"
  | "DeleteItem"
  | "GetItem"
  | "PutItem"
  | "Query"
  | "Scan"
  | "TransactWriteItems"
  | "UpdateItem";

export interface DynamoSettings {
  /** @default AWS_REGION */
  readonly region?: string;
  /** @default AWS_ENDPOINT_URL_DYNAMODB or AWS_ENDPOINT_URL, and else AWS's own */
  readonly endpoint?: string;
  /** @default the variables that Lambda sets */
  readonly credentials?: AwsCredentialIdentity | Provider<AwsCredentialIdentity>;
  /** @default 4 */
  readonly maxAttempts?: number;
  /** Sends requests. @default over HTTP */
  readonly requestHandler?: RequestHandler;
}

interface RequestHandler {
  handle(request: HttpRequest): Promise<{ readonly response: unknown }>;
}

interface Output {
  readonly $metadata: { readonly httpStatusCode: number; readonly attempts?: number };
}

/** An error that DynamoDB returned, with its name there. */
class DynamoError extends Error {
  readonly $fault: "client" | "server";
  readonly $metadata: { readonly httpStatusCode: number };
  readonly $response: unknown;
  /** Why each action of a canceled transaction failed, `None` for those that did not. */
  readonly CancellationReasons: readonly CancellationReason[] | undefined;

  constructor(response: unknown, httpStatusCode: number, body: ErrorBody) {
    super(body.message ?? body.Message ?? `DynamoDB returned status ${httpStatusCode}`);
    this.name = body.__type?.replace(/^.*#/, "") ?? "UnknownError";
    this.$fault = httpStatusCode < 500 ? "client" : "server";
    this.$metadata = { httpStatusCode };
    this.$response = response;
    this.CancellationReasons = body.CancellationReasons;
  }
}

const CancellationReason = v.object({ Code: v.exactOptional(v.string()) });
type CancellationReason = v.InferOutput<typeof CancellationReason>;
const ErrorBody = v.object({
  __type: v.exactOptional(v.string()),
  message: v.exactOptional(v.string()),
  Message: v.exactOptional(v.string()),
  CancellationReasons: v.exactOptional(v.array(CancellationReason)),
});
type ErrorBody = v.InferOutput<typeof ErrorBody>;

/**
 * A client for the DynamoDB operations that the table uses, built from the parts of the AWS SDK's clients: middleware, retries,
 * signature and HTTP. The SDK's own client has all operations, endpoint rules and protocols, which more than double the code that
 * each function loads at its start: see design/decisions/0056-dynamodb-client-of-the-sdks-parts.md.
 */
export class DynamoClient {
  readonly middlewareStack: MiddlewareStack<object, Output> = constructStack();
  /** Tests replace the handler. */
  readonly config: { requestHandler: RequestHandler };
  /** Closes the connections. */
  readonly destroy: () => void;

  constructor(settings: DynamoSettings = {}) {
    const { region = process.env["AWS_REGION"] ?? "", credentials = readCredentials, maxAttempts = 4 } = settings;
    const endpoint = new URL(settings.endpoint ?? findEndpoint(region));
    const http = new NodeHttpHandler(limitSilence(RECORD_SILENCE_MS));
    this.config = { requestHandler: settings.requestHandler ?? http };
    this.destroy = () => http.destroy();
    const strategy = new StandardRetryStrategy(maxAttempts);
    const retries = { maxAttempts: async () => maxAttempts, retryStrategy: async () => strategy };
    const signer = new SignatureV4({ service: "dynamodb", region, credentials, sha256: Sha256 });

    this.middlewareStack.add(
      (next, { commandName = "" }) =>
        (args) =>
          next({ ...args, request: toRequest(endpoint, commandName.replace(/Command$/, ""), args.input) }),
      { step: "serialize", name: "serialize" },
    );
    this.middlewareStack.use(getRetryPlugin(retries));
    this.middlewareStack.add(
      (next) => async (args) =>
        next(HttpRequest.isInstance(args.request) ? { ...args, request: await signer.sign(args.request) } : args),
      { step: "finalizeRequest", priority: "low", name: "sign" },
    );
    this.middlewareStack.add(
      (next) => async (args) => {
        const { response } = await next(args);
        return { response, output: await readOutput(response) };
      },
      { step: "deserialize", name: "deserialize" },
    );
  }

  /** Calls an operation with its input as DynamoDB's API documents it, and returns the output. @throws DynamoError */
  async send(operation: DynamoOperation, input: object): Promise<Output> {
    const { requestHandler } = this.config;
    const send = this.middlewareStack.resolve(
      async ({ request }) => {
        if (!HttpRequest.isInstance(request)) throw new TypeError("a request without a URL");
        return requestHandler.handle(request);
      },
      { clientName: "DynamoDBClient", commandName: `${operation}Command` },
    );
    return (await send({ input })).output;
  }
}

function findEndpoint(region: string): string {
  const configured = process.env["AWS_ENDPOINT_URL_DYNAMODB"] ?? process.env["AWS_ENDPOINT_URL"];
  return configured ?? `https://dynamodb.${region}.amazonaws.com${region.startsWith("cn-") ? ".cn" : ""}`;
}

/** Lambda replaces the credentials only with the execution environment, so that reading them for each request is cheap. */
async function readCredentials(): Promise<AwsCredentialIdentity> {
  const { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN } = process.env;
  if (!AWS_ACCESS_KEY_ID || !AWS_SECRET_ACCESS_KEY) throw new Error("the environment holds no AWS credentials");
  return {
    accessKeyId: AWS_ACCESS_KEY_ID,
    secretAccessKey: AWS_SECRET_ACCESS_KEY,
    ...(AWS_SESSION_TOKEN && { sessionToken: AWS_SESSION_TOKEN }),
  };
}

function toRequest(endpoint: URL, operation: string, input: object): HttpRequest {
  const body = JSON.stringify(input);
  return new HttpRequest({
    protocol: endpoint.protocol,
    hostname: endpoint.hostname,
    ...(endpoint.port === "" ? {} : { port: Number(endpoint.port) }),
    method: "POST",
    path: endpoint.pathname,
    headers: {
      host: endpoint.host,
      "content-type": "application/x-amz-json-1.0",
      "content-length": String(Buffer.byteLength(body)),
      "user-agent": "runyard",
      "x-amz-target": `DynamoDB_20120810.${operation}`,
    },
    body,
  });
}

const TYPE_HEADER = "x-amzn-errortype";

async function readOutput(response: unknown): Promise<Output> {
  const { statusCode, headers, body } = await readResponse(response);
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString();
  if (statusCode !== 200) {
    const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), ErrorBody), text);
    const { [TYPE_HEADER]: type } = headers;
    throw new DynamoError(response, statusCode, {
      ...(type === undefined ? {} : { __type: type }),
      ...(parsed.success ? parsed.output : {}),
    });
  }
  const output: unknown = JSON.parse(text);
  return Object.assign(Object(output), { $metadata: { httpStatusCode: statusCode } });
}
