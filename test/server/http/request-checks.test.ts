import { createServer } from "node:http";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { expect, it } from "vitest";
import { refuseUnreadable } from "../../../server/host/http/request-checks.ts";

it("refuseUnreadable sends 408, with the time limit, to a request whose headers do not arrive in time", async () => {
  const server = createServer({ headersTimeout: 200, connectionsCheckingInterval: 50 });
  // As on the single machine, where uploads have no time limit.
  server.requestTimeout = 0;
  refuseUnreadable(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const socket = connect(typeof address === "object" ? (address?.port ?? 0) : 0, "127.0.0.1");
  socket.write("GET / HTTP/1.1\r\nhost: x\r\n");
  const response = await text(socket);
  server.close();
  expect(response).toMatch(/^HTTP\/1\.1 408 .*"detail":"the headers did not arrive within 0\.2 seconds"/s);
});
