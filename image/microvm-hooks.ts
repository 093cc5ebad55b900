import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";

/** Lambda calls the hooks of a MicroVM below this path: https://docs.aws.amazon.com/lambda/latest/dg/microvms-launching.html */
const HOOKS = "/aws/lambda-microvms/runtime/v1/";
/** Bytes of an envelope with all that may be around it. */
const MAX_BYTES = 65_536;

/**
 * The first program of a MicroVM. It is there when the image's snapshot is taken, and so has made nothing yet that two machines must
 * not share. `run` hands it the one envelope of its life; it ends with that execution.
 */
export async function serveHooks(port: number, execute: (envelope: unknown) => Promise<unknown>): Promise<void> {
  const ended = Promise.withResolvers<void>();
  let isTaken = false;
  const server = createServer(async (message, response) => {
    const answer = (status: number) => response.writeHead(status).end();
    try {
      const body = await readBody(message);
      if (message.method !== "POST" || !message.url?.startsWith(HOOKS)) answer(404);
      else if (message.url !== `${HOOKS}run`) answer(200);
      // Commands in the machine could call this too: they find that it was taken.
      else if (isTaken) answer(409);
      else {
        const envelope = findEnvelope(body);
        isTaken = true;
        answer(200);
        execute(envelope).then(() => ended.resolve(), ended.reject);
      }
    } catch {
      answer(400);
    }
  });
  // The hooks come from outside of the container, so the loopback alone would not hear them.
  server.listen(port, "0.0.0.0");
  await once(server, "listening");
  process.stdout.write(`${JSON.stringify({ level: "info", message: "hooks are served", port: readPort(server) })}\n`);
  await ended.promise.finally(() => server.close());
}

/** The payload of the start: the body itself, or what the body has it in beside the machine's name. */
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
