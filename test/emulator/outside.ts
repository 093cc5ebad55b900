import { once } from "node:events";
import { createServer } from "node:http";
import path from "node:path";
import * as v from "valibot";

const Address = v.object({ port: v.number() });

/** What functions reach beside the emulator: other functions, which accept all events, and the internet. */
export interface Outside {
  /** Variables of a function that lead its requests there. */
  readonly variables: Readonly<Record<string, string>>;
  close(): void;
}

/** @param respond plays the internet */
export async function startOutside(respond: (url: string) => Promise<Response>): Promise<Outside> {
  const server = createServer((request, response) => {
    const send = async (): Promise<void> => {
      for await (const chunk of request) void chunk;
      const url = request.headers["x-url"];
      if (typeof url === "string") {
        const made = await respond(url);
        response.writeHead(made.status, Object.fromEntries(made.headers)).end(await made.text());
        return;
      }
      const isEvent = request.headers["x-amz-invocation-type"] === "Event";
      response.writeHead(isEvent ? 202 : 404).end(isEvent ? "" : '{"Message":"there is no such function"}');
    };
    void send().catch((error: unknown) => response.writeHead(500).end(String(error)));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${v.parse(Address, server.address()).port}`;
  return {
    variables: {
      AWS_ENDPOINT_URL_LAMBDA: url,
      OUTSIDE_URL: url,
      NODE_OPTIONS: `--import=${path.join(import.meta.dirname, "outside-prelude.ts")}`,
    },
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
