import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import * as v from "valibot";

const Body = v.object({ body: v.optional(v.string(), "") });
const toComment = (id: number, body: string) => ({ id, body });

/** The part of GitHub's API that replies use: permissions, reactions, and comments of issues. */
export interface GithubStandIn extends AsyncDisposable {
  readonly url: string;
  /** Returns the texts of the comments on an issue. */
  readonly textsOn: (issue: string) => readonly string[];
}

export async function startGithub(): Promise<GithubStandIn> {
  const posts = new Map<number, { readonly issue: string; body: string }>();
  let nextId = 1;
  const list = (issue: string) =>
    [...posts].flatMap(([id, post]) => (post.issue === issue ? [toComment(id, post.body)] : []));
  const respond = (method: string, url: string, content: string): readonly [status: number, body: unknown] => {
    const { pathname } = new URL(url, "http://github.test");
    if (pathname.endsWith("/permission")) return [200, { permission: "write" }];
    if (pathname.endsWith("/reactions")) return [201, { id: 1 }];
    const [, issue] = /\/issues\/(\d+)\/comments$/.exec(pathname) ?? [];
    const [, id] = /\/issues\/comments\/(\d+)$/.exec(pathname) ?? [];
    if (issue !== undefined && method === "GET") return [200, list(issue)];
    const { body } = v.parse(v.pipe(v.string(), v.parseJson(), Body), content);
    if (issue !== undefined) {
      posts.set(nextId, { issue, body });
      return [201, toComment(nextId++, body)];
    }
    const post = posts.get(Number(id));
    if (post === undefined) return [404, { message: "Not Found" }];
    post.body = body;
    return [200, toComment(Number(id), body)];
  };
  const server = createServer((incoming, outgoing) => {
    void text(incoming)
      .then((content) => {
        const [status, body] = respond(incoming.method ?? "", incoming.url ?? "", content);
        outgoing.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
      })
      // The service was killed while it sent a request.
      .catch(() => outgoing.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("the stand-in of GitHub does not listen");
  return {
    url: `http://127.0.0.1:${address.port}`,
    textsOn: (issue) => list(issue).map(({ body }) => body),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
