import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";

/** The handler of an invocation. */
export type Handler = (event: unknown, context: { getRemainingTimeInMillis(): number }) => Promise<unknown>;

/**
 * Implements the Lambda runtime of a function that is an image: handles invocations one after the other until the process ends,
 * or only one where executions share an environment of Lambda's: the caller then exits, and Lambda starts the next process.
 * https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html
 */
export async function serveInvocations(api: string, handler: Handler, { once: isOnce = false } = {}): Promise<void> {
  const base = `http://${api}/2018-06-01/runtime/invocation`;
  do {
    // The next event may be an hour away, so this call has no timeout.
    const next = await call(`${base}/next`);
    const id = next.headers["lambda-runtime-aws-request-id"];
    const deadline = Number(next.headers["lambda-runtime-deadline-ms"]);
    try {
      const event: unknown = JSON.parse(next.body);
      const response = await handler(event, { getRemainingTimeInMillis: () => deadline - Date.now() });
      await call(`${base}/${id}/response`, JSON.stringify(response ?? null));
    } catch (error) {
      const { name, message } = error instanceof Error ? error : new Error(String(error));
      await call(`${base}/${id}/error`, JSON.stringify({ errorType: name, errorMessage: message }));
    }
  } while (!isOnce);
}

interface RuntimeResponse {
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

async function call(url: string, body?: string): Promise<RuntimeResponse> {
  const outgoing = request(url, { method: body === undefined ? "GET" : "POST", agent: false, timeout: 0 });
  outgoing.end(body);
  const [incoming]: IncomingMessage[] = await once(outgoing, "response");
  if (incoming === undefined) throw new Error(`${url} did not respond`);
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk);
  if ((incoming.statusCode ?? 500) >= 300) throw new Error(`${url} returned ${incoming.statusCode}`);
  return { headers: incoming.headers, body: Buffer.concat(chunks).toString() };
}
