import { quoteForShell } from "../commands/shell-quote.ts";
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

/**
 * Builds the lines of a bash script that start the program and set `$port` to its port.
 * @param node the Node that runs it, as commands see it
 * @param folder the directory of its file and of the socket, as commands see it
 */
export function buildRelayStart(node: string, folder: string, socket: string): string[] {
  const path = (name: string) => quoteForShell(`${folder}/${name}`);
  return [
    // Process substitution would need /dev/fd, which a Lambda function may not have.
    `port_pipe="$TMPDIR/${socket}-port"`,
    'rm -f "$port_pipe"',
    'mkfifo "$port_pipe"',
    `${quoteForShell(node)} ${path(RELAY_FILE)} ${path(socket)} > "$port_pipe" < /dev/null &`,
    'IFS= read -r port < "$port_pipe"',
  ];
}
