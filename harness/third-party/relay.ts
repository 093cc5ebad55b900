import { OBSERVER_FILE } from "./command-output.ts";

/** The file name of the program, in a directory that commands cannot change. */
export const RELAY_FILE = "relay.mjs";

/**
 * A program that runs inside the sandbox: it listens on a free loopback port, prints the port, and forwards connections to a Unix socket. The
 * sandbox's own network cannot reach the host, but a socket file that is mounted in the sandbox can. The program is a string because the
 * deployed harness is a bundle and this must be a separate file.
 */
export const RELAY = `import { connect, createServer } from "node:net";
const [, , socket] = process.argv;
const server = createServer((caller) => {
  const model = connect(socket);
  caller.on("error", () => model.destroy());
  model.on("error", () => caller.destroy());
  caller.pipe(model).pipe(caller);
});
server.listen(0, "127.0.0.1", () => process.stdout.write(server.address().port + "\\n"));
import("./${OBSERVER_FILE}").catch(() => {});
`;
