import { spawn } from "node:child_process";
import type { IncomingMessage, ServerResponse } from "node:http";

interface GitResponse {
  /** The directory of the repositories. */
  readonly root: string;
  /** The path below it that is requested. */
  readonly path: string;
  /** Called with the number of bytes of each part of the response. */
  readonly onBytes?: (bytes: number) => void;
}

/** Has git's own program for web servers respond to a request for a repository. */
export async function respondByGit(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  { root, path, onBytes }: GitResponse,
): Promise<void> {
  const { headers, method = "GET", url = "/" } = incoming;
  const child = spawn("git", ["http-backend"], {
    env: {
      PATH: process.env["PATH"] ?? "",
      HOME: "/nonexistent",
      GIT_CONFIG_NOSYSTEM: "1",
      GIT_CONFIG_COUNT: "1",
      GIT_CONFIG_KEY_0: "safe.directory",
      GIT_CONFIG_VALUE_0: "*",
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: "1",
      PATH_INFO: path,
      QUERY_STRING: new URL(url, "http://git.test").search.slice(1),
      REQUEST_METHOD: method,
      CONTENT_TYPE: headers["content-type"] ?? "",
      HTTP_CONTENT_ENCODING: headers["content-encoding"] ?? "",
      HTTP_GIT_PROTOCOL: String(headers["git-protocol"] ?? ""),
    },
    stdio: ["pipe", "pipe", "ignore"],
  });
  // A request that git refuses, it may not read to its end.
  child.stdin.on("error", () => {});
  incoming.pipe(child.stdin);
  let head = Buffer.alloc(0);
  for await (const part of child.stdout) {
    const chunk = Buffer.from(part);
    onBytes?.(chunk.length);
    if (outgoing.headersSent) {
      outgoing.write(chunk);
      continue;
    }
    head = Buffer.concat([head, chunk]);
    const end = head.indexOf("\r\n\r\n");
    if (end === -1) continue;
    const lines = head.toString("latin1", 0, end).split("\r\n");
    const fields = Object.fromEntries(lines.map((line) => [line.split(": ")[0] ?? "", line.split(": ")[1] ?? ""]));
    outgoing.writeHead(Number.parseInt(fields["Status"] ?? "200", 10), fields);
    outgoing.write(head.subarray(end + 4));
  }
  outgoing.end();
}
