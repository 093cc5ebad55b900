import { once } from "node:events";
import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import * as v from "valibot";

/** A server of models whose responses a test decides, with the bodies of the requests that it received. */
export async function serveModels(respond: () => { readonly status: number; readonly body: object }) {
  const bodies: string[] = [];
  const server = createServer(async (request, response) => {
    bodies.push(await text(request));
    const { status, body } = respond();
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const address = server.address();
  return {
    bodies,
    url: `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}/v1/responses`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export const readJsonBody = (body: string): object =>
  v.parse(v.pipe(v.string(), v.parseJson(), v.looseObject({})), body);
