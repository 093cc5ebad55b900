import path from "node:path";
import { startServer } from "../support/http-server.ts";

/** What functions reach beside the emulator: other functions, which accept all events, and the internet. */
export interface Outside extends AsyncDisposable {
  /** Variables of a function that lead its requests there. */
  readonly variables: Readonly<Record<string, string>>;
}

/** @param respond plays the internet */
export async function startOutside(respond: (url: string) => Promise<Response>): Promise<Outside> {
  const server = await startServer((request, response) => {
    const send = async (): Promise<void> => {
      for await (const chunk of request) void chunk;
      const url = request.headers["x-url"];
      if (typeof url === "string") {
        const reply = await respond(url);
        response.writeHead(reply.status, Object.fromEntries(reply.headers)).end(await reply.text());
        return;
      }
      const isEvent = request.headers["x-amz-invocation-type"] === "Event";
      response.writeHead(isEvent ? 202 : 404).end(isEvent ? "" : '{"Message":"there is no such function"}');
    };
    void send().catch((error: unknown) => response.writeHead(500).end(String(error)));
  });
  return {
    variables: {
      AWS_ENDPOINT_URL_LAMBDA: server.url,
      OUTSIDE_URL: server.url,
      NODE_OPTIONS: `--import=${path.join(import.meta.dirname, "outside-prelude.ts")}`,
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}
