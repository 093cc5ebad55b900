import { once } from "node:events";
import { finished } from "node:stream/promises";
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from "aws-lambda";

type Fetch = (request: Request) => Promise<Response>;
type Handler = ReturnType<typeof awslambda.streamifyResponse<APIGatewayProxyEventV2>>;
type Buffered = (event: APIGatewayProxyEventV2) => Promise<APIGatewayProxyStructuredResultV2>;

/**
 * A function from request to answer as the handler of a Lambda function behind a URL of its own, which streams the answer. `live` makes it
 * at the first event. Where nothing streams (an emulator), the answer comes whole.
 */
export function streamedLambda(live: () => Fetch): Handler | Buffered {
  let made: Fetch | undefined;
  const answer = (event: APIGatewayProxyEventV2): Promise<Response> => {
    made ??= live();
    return made(requestOf(event));
  };
  if (!("awslambda" in globalThis)) return async (event) => whole(await answer(event));
  return awslambda.streamifyResponse<APIGatewayProxyEventV2>(async (event, stream) => {
    const { status, headers, body } = await answer(event);
    const out = awslambda.HttpResponseStream.from(stream, {
      statusCode: status,
      headers: Object.fromEntries(headers),
    });
    // Status and headers go out with the first write, even where there is nothing to write.
    out.write("");
    for await (const chunk of body ?? []) {
      if (!out.write(chunk)) await once(out, "drain");
    }
    out.end();
    await finished(out);
  });
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
