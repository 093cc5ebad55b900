/** The program's name among the files that commands cannot change. */
export const RELAY_FILE = "relay.mjs";

/**
 * A program for inside the sandbox: it passes connections to a free port of the loopback on to a Unix socket, and prints that
 * port. The sandbox has a network of its own, from which nothing of the host can be reached, but files of the host that are
 * shown in it. A text, because the harness is one file where it is deployed, and this has to be another.
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
`;
