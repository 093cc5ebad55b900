import http from "node:http";
import type { AddressInfo } from "node:net";
import { type EmulatorAccess, KEY_HEADER } from "../../emulator/emulator-access.ts";

/** An address at which the AWS CLI reaches the emulator, whose guard checks signatures that contain the hash of the body. */
export interface KeyProxy {
  readonly url: string;
  close(): Promise<void>;
}

/** Forwards every request to the emulator with its key. The account of a drill contains nothing that others must not see. */
export async function startKeyProxy({ endpoint, secretKey }: EmulatorAccess): Promise<KeyProxy> {
  const { host, hostname, port } = new URL(endpoint);
  const server = http.createServer((request, response) => {
    const headers = { ...request.headers, host, [KEY_HEADER]: secretKey };
    const options = { hostname, port, method: request.method, path: request.url, headers };
    const forwarded = http.request(options, (upstream) => {
      response.writeHead(upstream.statusCode ?? 502, upstream.headers);
      upstream.pipe(response);
    });
    forwarded.on("error", () => response.destroy());
    request.pipe(forwarded);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address: string | AddressInfo | null = server.address();
  if (address === null || typeof address === "string") throw new Error("the proxy has no port");
  return {
    url: `http://127.0.0.1:${address.port}`,
    async close() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
