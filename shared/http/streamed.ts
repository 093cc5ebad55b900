import { pipeline } from "node:stream/promises";
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from "aws-lambda";

type Fetch = (request: Request) => Promise<Response>;
type Whole = (event: APIGatewayProxyEventV2) => Promise<APIGatewayProxyStructuredResultV2>;
type Streaming = ReturnType<typeof awslambda.streamifyResponse<APIGatewayProxyEventV2>>;

/** A function from request to answer, whose answers are streamed where something can stream them. */
export interface Streamed<P> {
  /** The answer as a whole, as it is in tests. */
  handle(event: APIGatewayProxyEventV2, ports: P): Promise<APIGatewayProxyStructuredResultV2>;
  /** The handler of a Lambda function behind a URL of its own; `live` makes its ports at the first event. */
  lambda(live: () => P): Streaming | Whole;
}

export function streamed<P>(made: (ports: P) => Fetch): Streamed<P> {
  return {
    handle: async (event, ports) => whole(await made(ports)(requestOf(event))),
    lambda(live) {
      let kept: Fetch | undefined;
      const answer = (event: APIGatewayProxyEventV2): Promise<Response> => {
        kept ??= made(live());
        return kept(requestOf(event));
      };
      // Lambda's own runtime has this, and nothing that stands in for it.
      if (!("awslambda" in globalThis && "streamifyResponse" in awslambda))
        return async (event: APIGatewayProxyEventV2) => whole(await answer(event));
      return awslambda.streamifyResponse<APIGatewayProxyEventV2>(async (event, stream) => {
        const { status, headers, body } = await answer(event);
        const metadata = { statusCode: status, headers: Object.fromEntries(headers) };
        const out = awslambda.HttpResponseStream.from(stream, metadata);
        // Status and headers go out with the first write, even where there is nothing to write.
        out.write("");
        // Where the caller is gone, the answer is not made any further.
        await pipeline(body ?? [], out);
      });
    },
  };
}

function requestOf(event: APIGatewayProxyEventV2): Request {
  const { http, domainName } = event.requestContext;
  const query = event.rawQueryString === "" ? "" : `?${event.rawQueryString}`;
  const headers = new Headers();
  for (const [name, value] of Object.entries(event.headers)) if (value !== undefined) headers.set(name, value);
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
