import { pipeline } from "node:stream/promises";
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from "aws-lambda";

/** Handles a request; `waitUntil` registers work that continues after the response has ended. */
type Fetch = (request: Request, waitUntil: (work: Promise<unknown>) => void) => Promise<Response>;
type WaitUntil = Parameters<Fetch>[1];
type Whole = (event: APIGatewayProxyEventV2) => Promise<APIGatewayProxyStructuredResultV2>;
type Streaming = ReturnType<typeof awslambda.streamifyResponse<APIGatewayProxyEventV2>>;

/** A function from request to response, whose responses are streamed where the runtime supports it. */
export interface Streamed<P> {
  /** Returns the response as a whole, for tests. */
  handle(event: APIGatewayProxyEventV2, ports: P): Promise<APIGatewayProxyStructuredResultV2>;
  /** Creates the handler of a Lambda function with a URL of its own; `createPorts` is called at the first event. */
  lambda(createPorts: () => P): Streaming | Whole;
}

export function streamed<P>(made: (ports: P) => Fetch): Streamed<P> {
  return {
    handle: (event, ports) => untilDone((waitUntil) => made(ports)(toRequest(event), waitUntil).then(whole)),
    lambda(createPorts) {
      let handler: Fetch | undefined;
      const response = (event: APIGatewayProxyEventV2, waitUntil: WaitUntil): Promise<Response> => {
        handler ??= made(createPorts());
        return handler(toRequest(event), waitUntil);
      };
      // Only Lambda's own runtime has this function, and no emulation of it.
      if (!("awslambda" in globalThis && "streamifyResponse" in awslambda))
        return (event: APIGatewayProxyEventV2) => untilDone((waitUntil) => response(event, waitUntil).then(whole));
      return awslambda.streamifyResponse<APIGatewayProxyEventV2>((event, stream) =>
        untilDone(async (waitUntil) => {
          const { status, headers, body } = await response(event, waitUntil);
          const metadata = { statusCode: status, headers: Object.fromEntries(headers) };
          const out = awslambda.HttpResponseStream.from(stream, metadata);
          // Status and headers go out with the first write, even where there is nothing to write.
          out.write("");
          // Where the caller has disconnected, the response is cancelled.
          await pipeline(body ?? [], out);
        }),
      );
    },
  };
}

/** Lambda freezes a function whose handler has ended, so the handler ends after all of its work, even where the caller has disconnected. */
async function untilDone<T>(work: (waitUntil: WaitUntil) => Promise<T>): Promise<T> {
  const pending: Promise<unknown>[] = [];
  try {
    return await work((promise) => void pending.push(promise));
  } finally {
    await Promise.allSettled(pending);
  }
}

function toRequest(event: APIGatewayProxyEventV2): Request {
  const { http, domainName } = event.requestContext;
  const query = event.rawQueryString === "" ? "" : `?${event.rawQueryString}`;
  const headers = new Headers();
  for (const [name, value] of Object.entries(event.headers)) if (value !== undefined) headers.set(name, value);
  // A function URL passes cookies apart from the headers: https://docs.aws.amazon.com/lambda/latest/dg/urls-invocation.html
  if (event.cookies !== undefined) headers.set("cookie", event.cookies.join("; "));
  return new Request(`https://${domainName}${event.rawPath}${query}`, {
    method: http.method,
    headers,
    ...(event.body === undefined || http.method === "GET" || http.method === "HEAD"
      ? {}
      : { body: event.isBase64Encoded ? Buffer.from(event.body, "base64") : event.body }),
  });
}

async function whole(response: Response): Promise<APIGatewayProxyStructuredResultV2> {
  return { statusCode: response.status, headers: Object.fromEntries(response.headers), body: await response.text() };
}
