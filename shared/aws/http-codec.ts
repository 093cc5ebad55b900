import { memberOf } from "./middleware.ts";

/** One attempt at a call of AWS, as it goes over the wire. */
export interface HttpCall {
  /** `DynamoDB`, `SQS`, `Lambda`, `S3`. */
  readonly service: string;
  /** `TransactWriteItems`, `SendMessage`. */
  readonly command: string;
  /** By their names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** The body of a service that speaks JSON. */
  readonly json: () => unknown;
}

/** An error in a service's response format. */
export interface ServiceError {
  readonly status: number;
  /** The name that the SDK's exception has. */
  readonly code: string;
  readonly message: string;
  /** Members in addition to the message, by their names on the wire. @default none */
  readonly more?: Readonly<Record<string, unknown>>;
}

/** An HTTP response in the form that the SDK's own client returns. */
export interface AwsResponse {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

export function toHttpCall(service: string, command: string, request: unknown): HttpCall {
  const headers = Object.entries(Object(memberOf(request, "headers"))).map(([name, value]) => [
    name.toLowerCase(),
    String(value),
  ]);
  const bytes = toBytes(memberOf(request, "body"));
  const json = (): unknown => JSON.parse(bytes.toString());
  return { service, command, headers: Object.fromEntries(headers), body: bytes, json };
}

function toBytes(body: unknown): Buffer {
  if (typeof body === "string") return Buffer.from(body);
  // A view of its bytes, because the SDK's own type of body logs a warning when it is converted to text.
  return body instanceof Uint8Array ? Buffer.from(body.buffer, body.byteOffset, body.byteLength) : Buffer.alloc(0);
}

/** An error in the service's format, so that the SDK creates its own exception from it and retries as it does on AWS. */
export function toResponse(service: string, { status, code, message, more }: ServiceError): AwsResponse {
  if (service === "S3") {
    const body = `<?xml version="1.0" encoding="UTF-8"?><Error><Code>${code}</Code><Message>${message}</Message></Error>`;
    return { statusCode: status, headers: { "content-type": "application/xml" }, body: Buffer.from(body) };
  }
  const headers = { "content-type": "application/x-amz-json-1.0", "x-amzn-errortype": code };
  const body = JSON.stringify({ __type: `com.amazonaws#${code}`, message, ...more });
  return { statusCode: status, headers, body: Buffer.from(body) };
}

/** Reads a response's body, which can be read only once, and returns it with the bytes in its place. */
export async function readResponse(response: unknown): Promise<AwsResponse> {
  const body = memberOf(response, "body");
  const chunks: Uint8Array[] = [];
  if (body instanceof Uint8Array) chunks.push(body);
  else if (isStream(body)) for await (const chunk of body) chunks.push(Buffer.from(chunk));
  const headers = Object.entries(Object(memberOf(response, "headers")));
  return {
    statusCode: Number(memberOf(response, "statusCode")),
    // The body may be replaced, so its length and checksum do not apply.
    headers: Object.fromEntries(
      headers
        .filter(([name]) => !["content-length", "x-amz-crc32"].includes(name.toLowerCase()))
        .map(([name, value]) => [name, String(value)]),
    ),
    body: Buffer.concat(chunks),
  };
}

const isStream = (body: unknown): body is AsyncIterable<Uint8Array | string> =>
  typeof body === "object" && body !== null && Symbol.asyncIterator in body;
