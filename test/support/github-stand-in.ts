import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import type { GithubAppStandIn } from "./github-app-stand-in.ts";

export interface StandInRepository {
  /** Texts or bytes by path. */
  files: Readonly<Record<string, string | Buffer>>;
  /** The targets of symbolic links, by path. */
  links?: Readonly<Record<string, string>>;
  /** Paths of files that are executable. */
  executables?: readonly string[];
  /** Files of other branches, by branch. */
  branches?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** The tokens that may read it; all may by default. */
  tokens?: readonly string[];
  /** The number of entries beyond which GitHub truncates a recursive tree. */
  mostEntries?: number;
  /** True for one that has no commit. */
  empty?: boolean;
  /** The repository that it was renamed to. */
  movedTo?: string;
}

/** A request as GitHub saw it. */
interface Seen {
  readonly path: string;
  readonly status: number;
  readonly authorization: string | undefined;
  readonly ifNoneMatch: string | undefined;
  readonly userAgent: string | undefined;
}

interface Entry {
  readonly path: string;
  readonly mode: string;
  readonly type: "blob" | "tree";
  readonly sha: string;
  readonly size?: number;
}

const DOCS = "https://docs.github.com/rest";
const NOT_FOUND = { message: "Not Found", documentation_url: `${DOCS}/git/trees#get-a-tree`, status: "404" };

/**
 * Stands in for GitHub's REST API: trees and blobs of repositories that a test defines, with the bodies, statuses and
 * headers of the real API.
 */
export class GithubStandIn implements AsyncDisposable {
  readonly repositories = new Map<string, StandInRepository>();
  readonly seen: Seen[] = [];
  /** The valid tokens, in addition to those of the App. */
  readonly goodTokens = new Set<string>();
  /** The App that is registered at GitHub, if there is one. */
  app: GithubAppStandIn | undefined;
  /** Requests that are left before the rate limit; undefined for no limit. */
  remaining: number | undefined;
  /** When the rate limit resets, in seconds of Unix time. */
  resetAt = 0;
  /** The response to every request, if it is set. */
  instead: { status: number; headers?: Record<string, string>; body?: unknown } | undefined;
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
    server.on("request", (request, response) => void this.#respond(request, response));
  }

  static async start(): Promise<GithubStandIn> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return new GithubStandIn(server);
  }

  get url(): string {
    const address = this.#server.address();
    if (address === null || typeof address === "string") throw new Error("it is not listening");
    return `http://127.0.0.1:${address.port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request);
    const { authorization, "if-none-match": ifNoneMatch, "user-agent": userAgent } = request.headers;
    const path = request.url ?? "/";
    const token = authorization?.replace(/^Bearer /, "");
    const reply = this.#answerToApp(request, token, body) ?? this.#answerTo(path, token, ifNoneMatch);
    this.seen.push({ path, status: reply.status, authorization, ifNoneMatch, userAgent });
    const headers: Record<string, string> = {
      "content-type": "application/json; charset=utf-8",
      "x-github-media-type": "github.v3; format=json",
      "x-github-request-id": "C0DE:2F1A:1B2C3D:4E5F60:6A0B61B0",
      "x-ratelimit-limit": authorization === undefined ? "60" : "5000",
      "x-ratelimit-remaining": String(this.remaining ?? 59),
      "x-ratelimit-reset": String(this.resetAt),
      "x-ratelimit-resource": "core",
      ...reply.headers,
    };
    response.writeHead(reply.status, headers);
    response.end(reply.status === 304 ? undefined : JSON.stringify(reply.body));
  }

  #answerToApp({ method = "GET", url: path = "/", headers }: IncomingMessage, token: string | undefined, body: string) {
    if (this.instead !== undefined) return undefined;
    const [, full = ""] = /^\/repos\/([^/]+\/[^/]+)\/installation$/.exec(path) ?? [];
    const { movedTo } = this.repositories.get(full.toLowerCase()) ?? {};
    const names = [...this.repositories.keys()];
    if (movedTo !== undefined) {
      const url = `${this.url}/repositories/${names.indexOf(movedTo) + 1}/installation`;
      return { status: 301, headers: { location: url }, body: { message: "Moved Permanently", url } };
    }
    return this.app?.respondTo({ method, pathname: path, headers, token, body }, names);
  }

  #answerTo(
    path: string,
    token: string | undefined,
    ifNoneMatch: string | undefined,
  ): { status: number; headers?: Record<string, string>; body?: unknown } {
    if (this.instead !== undefined) return this.instead;
    if (this.remaining === 0) {
      const message =
        "API rate limit exceeded for 203.0.113.7. (But here's the good news: Authenticated requests get a higher rate limit.)";
      return { status: 403, body: { message, documentation_url: `${DOCS}/rate-limit` } };
    }
    if (token !== undefined && !this.goodTokens.has(token) && this.app?.isGood(token) !== true) {
      return { status: 401, body: { message: "Bad credentials", documentation_url: DOCS, status: "401" } };
    }
    const response = this.#lookUp(path, token);
    // Each token gets a different ETag for the same content.
    const tagged = JSON.stringify([response.body, token]);
    const etag = `W/"${createHash("sha256").update(tagged).digest("hex")}"`;
    // A 304 response does not count against the rate limit.
    if (response.status === 200 && ifNoneMatch === etag) return { status: 304, headers: { etag } };
    if (this.remaining !== undefined) this.remaining--;
    return response.status === 200
      ? { ...response, headers: { etag, "cache-control": "private, max-age=60, s-maxage=60" } }
      : response;
  }

  #lookUp(
    path: string,
    token: string | undefined,
  ): { status: number; headers?: Record<string, string>; body: unknown } {
    const { pathname, searchParams } = new URL(path, this.url);
    const [, full = "", kind, name = ""] =
      /^\/repos\/([^/]+\/[^/]+)\/git\/(trees|blobs)\/([^/]+)$/.exec(pathname) ?? [];
    const repository = this.repositories.get(full.toLowerCase());
    if (repository === undefined) return { status: 404, body: NOT_FOUND };
    const isOpen = (by = "") => repository.tokens?.includes(by) ?? true;
    if (!isOpen(token) && this.app?.mayRead(token ?? "", full.toLowerCase()) !== true) {
      return { status: 404, body: NOT_FOUND };
    }
    if (repository.movedTo !== undefined) {
      const url = `${this.url}${path.replace(`/repos/${full}/`, `/repos/${repository.movedTo}/`)}`;
      return { status: 301, headers: { location: url }, body: { message: "Moved Permanently", url } };
    }
    if (repository.empty) return { status: 409, body: { message: "Git Repository is empty.", status: "409" } };
    const about = `https://api.github.com/repos/${full}/git`;
    if (kind === "blobs") return findBlob(repository, name, about);
    const tree = findTree(repository, decodeURIComponent(name), searchParams.has("recursive"));
    if (tree === undefined) return { status: 404, body: NOT_FOUND };
    const entries = tree.entries.map((entry) => ({
      ...entry,
      url: `${about}/${entry.type === "tree" ? "trees" : "blobs"}/${entry.sha}`,
    }));
    const body = { sha: tree.sha, url: `${about}/trees/${tree.sha}`, tree: entries, truncated: tree.truncated };
    return { status: 200, body };
  }
}

const computeSha = (kind: "blob" | "tree", content: string | Buffer): string =>
  createHash("sha1")
    .update(`${kind} ${Buffer.byteLength(content)}\0`)
    .update(content)
    .digest("hex");

function findBlob(repository: StandInRepository, sha: string, about: string) {
  const all = [repository.files, ...Object.values(repository.branches ?? {})].flatMap((files) => Object.values(files));
  const content = all.find((one) => computeSha("blob", one) === sha);
  if (content === undefined) return { status: 404, body: NOT_FOUND };
  const bytes = Buffer.from(content);
  // GitHub breaks its base64 into lines.
  const lines = bytes.toString("base64").replaceAll(/.{60}/g, "$&\n");
  return {
    status: 200,
    body: {
      sha,
      node_id: "B_kwDO",
      size: bytes.length,
      url: `${about}/blobs/${sha}`,
      content: `${lines}\n`,
      encoding: "base64",
    },
  };
}

function findTree(repository: StandInRepository, name: string, recursive: boolean) {
  const files = name === "HEAD" ? repository.files : repository.branches?.[name];
  const trees = everyTree(files ?? repository.files, repository);
  const [prefix] = [...trees].find(([path, { sha }]) => (files === undefined ? sha === name : path === "")) ?? [];
  if (prefix === undefined) return undefined;
  const { sha, entries } = trees.get(prefix) ?? { sha: "", entries: [] };
  const below = [...trees].filter(([path]) => path !== prefix && path.startsWith(prefix));
  const relative = (base: string, all: readonly Entry[]) =>
    all.map((entry) => ({ ...entry, path: `${base}${entry.path}`.slice(prefix.length) }));
  const whole = recursive
    ? [...relative(prefix, entries), ...below.flatMap(([path, tree]) => relative(path, tree.entries))]
    : relative(prefix, entries);
  const most = recursive ? (repository.mostEntries ?? whole.length) : whole.length;
  return { sha, entries: whole.slice(0, most), truncated: whole.length > most };
}

/** Each directory's tree by its path. The path ends in a slash; that of the root is empty. */
function everyTree(
  files: StandInRepository["files"],
  { links = {}, executables = [] }: Pick<StandInRepository, "links" | "executables">,
) {
  const trees = new Map<string, { sha: string; entries: Entry[] }>();
  const make = (prefix: string): string => {
    const names = [
      ...new Set([...Object.keys(files), ...Object.keys(links)].filter((path) => path.startsWith(prefix))),
    ];
    const entries = [...new Set(names.map((path) => path.slice(prefix.length).split("/")[0] ?? ""))]
      .sort()
      .map((name): Entry => {
        const content = files[prefix + name];
        const link = links[prefix + name];
        if (link !== undefined)
          return { path: name, mode: "120000", type: "blob", sha: computeSha("blob", link), size: link.length };
        if (content !== undefined)
          return {
            path: name,
            mode: executables.includes(prefix + name) ? "100755" : "100644",
            type: "blob",
            sha: computeSha("blob", content),
            size: Buffer.byteLength(content),
          };
        return { path: name, mode: "040000", type: "tree", sha: make(`${prefix}${name}/`) };
      });
    const sha = computeSha("tree", prefix + JSON.stringify(entries));
    trees.set(prefix, { sha, entries });
    return sha;
  };
  make("");
  return trees;
}
