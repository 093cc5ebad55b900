import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";

/** Lambda calls the hooks of a MicroVM below this path: https://docs.aws.amazon.com/lambda/latest/dg/microvms-launching.html */
const HOOKS = "/aws/lambda-microvms/runtime/v1/";
/** The largest request body, which contains the envelope. */
const MAX_BYTES = 65_536;

/**
 * Serves the hooks of a MicroVM. It runs when the snapshot of the image is taken, so it must not create anything before that which two
 * machines must not share. The `run` hook passes the only envelope; the program ends with that execution.
 */
export async function serveHooks(port: number, execute: (envelope: unknown) => Promise<unknown>): Promise<void> {
  const ended = Promise.withResolvers<void>();
  let isTaken = false;
  const server = createServer(async (message, response) => {
    const respond = (status: number) => response.writeHead(status).end();
    try {
      const body = await readBody(message);
      if (message.method !== "POST" || !message.url?.startsWith(HOOKS)) respond(404);
      else if (message.url !== `${HOOKS}run`) respond(200);
      // Commands in the machine could call this hook too, after the envelope was taken.
      else if (isTaken) respond(409);
      else {
        const envelope = findEnvelope(body);
        isTaken = true;
        respond(200);
        execute(envelope).then(() => ended.resolve(), ended.reject);
      }
    } catch {
      respond(400);
    }
  });
  // The hooks are called from outside the container, so listening on the loopback is not enough.
  server.listen(port, "0.0.0.0");
  await once(server, "listening");
  process.stdout.write(`${JSON.stringify({ level: "info", message: "hooks are served", port: readPort(server) })}\n`);
  await ended.promise.finally(() => server.close());
}

/** Finds the envelope: the body itself, or a member of it next to the machine's name. */
function findEnvelope(text: string): unknown {
  const body: unknown = JSON.parse(text);
  if (typeof body !== "object" || body === null) throw new Error("no envelope");
  if (!("runHookPayload" in body)) return body;
  const payload: unknown = body.runHookPayload;
  const envelope: unknown = typeof payload === "string" ? JSON.parse(payload) : payload;
  return envelope;
}

async function readBody(message: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of message) {
    bytes += chunk.length;
    if (bytes > MAX_BYTES) throw new Error("too long");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

function readPort(server: ReturnType<typeof createServer>): number {
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}
