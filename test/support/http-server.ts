import { createServer, type RequestListener } from "node:http";

/** Starts a server on this machine for a test; `url` has no slash at its end. */
export async function startServer(respond: RequestListener): Promise<{ readonly url: string } & AsyncDisposable> {
  const server = createServer(respond);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("the server does not listen");
  return {
    url: `http://127.0.0.1:${address.port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
