import { createHash, randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import * as v from "valibot";

export interface StandIn {
  readonly endpoint: string;
  /** What asynchronous invocations were given, in their order. */
  readonly invoked: unknown[];
  close(): Promise<void>;
}

/**
 * Replaces S3, SQS and Lambda, so that counted calls start nothing: objects are kept in memory, messages are dropped,
 * and invocations are only recorded. The calls still go through the real SDK.
 */
export async function startStandIn(): Promise<StandIn> {
  const objects = new Map<string, Buffer>();
  const invoked: unknown[] = [];
  const server = createServer((request, response) => {
    void serve(request, response, objects, invoked).catch((error: unknown) => {
      response.writeHead(500).end(String(error));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return {
    endpoint: `http://127.0.0.1:${port}`,
    invoked,
    close: async () => {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

const Message = v.object({ MessageBody: v.string() });

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  objects: Map<string, Buffer>,
  invoked: unknown[],
): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(Buffer.from(chunk));
  const body = Buffer.concat(chunks);
  const { pathname } = new URL(request.url ?? "/", "http://127.0.0.1");
  const target = request.headers["x-amz-target"];
  if (target === "AmazonSQS.SendMessage") {
    const { MessageBody } = v.parse(Message, JSON.parse(body.toString()));
    const reply = { MessageId: randomUUID(), MD5OfMessageBody: createHash("md5").update(MessageBody).digest("hex") };
    response.writeHead(200, { "content-type": "application/x-amz-json-1.0" }).end(JSON.stringify(reply));
  } else if (pathname.endsWith("/invocations")) {
    invoked.push(JSON.parse(body.toString()));
    response.writeHead(202).end();
  } else if (request.method === "PUT") {
    objects.set(pathname, body);
    response.writeHead(200, { etag: '"0"' }).end();
  } else {
    const found = objects.get(pathname);
    if (found === undefined) response.writeHead(404).end();
    else response.writeHead(200, { "content-length": found.length }).end(request.method === "HEAD" ? "" : found);
  }
}
