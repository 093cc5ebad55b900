import { createServer } from "node:http";
import { text } from "node:stream/consumers";

interface Seen {
  readonly method: string;
  readonly path: string;
  readonly authorization: string | undefined;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into requests of every shape.
  readonly body: any;
}

/** The part of GitHub's API that opens pull requests, for one repository with pushed branches. */
export async function githubPulls({ repository = "acme/things", branches = ["main", "fix"], token = "" } = {}) {
  const seen: Seen[] = [];
  const open: { head: string; base: string; number: number; html_url: string }[] = [];
  const response = ({ method, path, authorization, body }: Seen): [status: number, body: unknown] => {
    const [place = "", query = ""] = path.split("?");
    if (authorization !== `Bearer ${token}`) return [401, { message: "Bad credentials" }];
    if (!place.startsWith(`/repos/${repository}`)) return [404, { message: "Not Found" }];
    if (place === `/repos/${repository}`) return [200, { default_branch: "main" }];
    if (method === "GET") {
      const wanted = new URLSearchParams(query).get("head")?.split(":").at(-1);
      return [200, open.filter(({ head }) => head === wanted)];
    }
    if (!branches.includes(body.head)) {
      return [
        422,
        { message: "Validation Failed", errors: [{ resource: "PullRequest", field: "head", code: "invalid" }] },
      ];
    }
    if (open.some(({ head }) => head === body.head)) {
      return [
        422,
        { message: "Validation Failed", errors: [{ message: `A pull request already exists for acme:${body.head}.` }] },
      ];
    }
    const number = 7 + open.length;
    const pull = {
      head: body.head,
      base: body.base,
      number,
      html_url: `https://github.com/${repository}/pull/${number}`,
    };
    open.push(pull);
    return [201, pull];
  };
  const server = createServer((incoming, outgoing) => {
    void text(incoming).then((body) => {
      const { method = "", url = "", headers } = incoming;
      const request = {
        method,
        path: url,
        authorization: headers.authorization,
        body: body === "" ? {} : JSON.parse(body),
      };
      seen.push(request);
      const [status, result] = response(request);
      outgoing.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(result));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("the server has no address");
  return {
    seen,
    url: `http://127.0.0.1:${address.port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}
