import { execFile, spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { promisify } from "node:util";
import { startServer } from "./http-server.ts";

const run = promisify(execFile);
const IDENTITY = { GIT_AUTHOR_NAME: "Ada", GIT_AUTHOR_EMAIL: "ada@example.com" };
const ENVIRONMENT = {
  PATH: process.env["PATH"] ?? "",
  HOME: "/nonexistent",
  ...IDENTITY,
  GIT_COMMITTER_NAME: "Ada",
  GIT_COMMITTER_EMAIL: "ada@example.com",
  GIT_CONFIG_NOSYSTEM: "1",
};

/** Runs git, and returns what it prints. */
export const git = async (directory: string, ...args: string[]): Promise<string> =>
  (await run("git", ["-C", directory, ...args], { env: ENVIRONMENT, maxBuffer: 64 * 1024 * 1024 })).stdout.trim();

/** Commits a file in a clone. Returns the commit. */
export async function commitFile(clone: string, name: string, content: string): Promise<string> {
  await writeFile(join(clone, name), content);
  await git(clone, "add", "--", name);
  await git(clone, "commit", "--quiet", "--message", `Change ${name}`);
  return git(clone, "rev-parse", "HEAD");
}

/** A git server over HTTP with one repository `acme/shop.git`, which has the branches `main` and `fix` with one commit each. */
export interface GitServer extends AsyncDisposable {
  readonly url: string;
  /** A clone on the branch `fix`. */
  readonly clone: string;
  /** The bare repository. */
  readonly repository: string;
  /** The credentials that requests had, and what they asked for. */
  readonly requests: { readonly path: string; readonly authorization: string | undefined }[];
  /** The refs of the repository, by their names. */
  refs(): Promise<Readonly<Record<string, string>>>;
}

/** @param password which requests have to have; clones of tests do not go through HTTP */
export async function startGitServer(password: string): Promise<GitServer> {
  const directory = await mkdtemp(join(tmpdir(), "runyard-git-"));
  const repository = join(directory, "acme/shop.git");
  const clone = join(directory, "clone");
  await run("git", ["init", "--quiet", "--bare", "--initial-branch=main", repository], { env: ENVIRONMENT });
  for (const setting of ["http.receivepack=true", "transfer.fsckObjects=true"]) {
    await git(repository, "config", ...setting.split("="));
  }
  await run("git", ["clone", "--quiet", repository, clone], { env: ENVIRONMENT });
  await commitFile(clone, "README.md", "# Shop\n");
  await git(clone, "push", "--quiet", "origin", "HEAD:main");
  await git(clone, "checkout", "--quiet", "-b", "fix");
  await commitFile(clone, "shop.txt", "one\n");
  await git(clone, "push", "--quiet", "origin", "fix");
  const requests: { path: string; authorization: string | undefined }[] = [];
  const server = await startServer((incoming, outgoing) => {
    const { url = "", headers } = incoming;
    requests.push({ path: url, authorization: headers.authorization });
    const [, secret] = Buffer.from(headers.authorization?.split(" ")[1] ?? "", "base64")
      .toString()
      .split(":");
    if (secret !== password) return void outgoing.writeHead(401, { "www-authenticate": "Basic" }).end();
    void respond(directory, incoming, outgoing);
  });
  return {
    url: server.url,
    clone,
    repository,
    requests,
    async refs() {
      const lines = await git(repository, "for-each-ref", "--format=%(refname) %(objectname)");
      return Object.fromEntries(lines.split("\n").map((line) => line.split(" ")));
    },
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await rm(directory, { recursive: true });
    },
  };
}

/** Has git's own program for web servers respond. */
async function respond(root: string, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const { pathname, searchParams } = new URL(incoming.url ?? "", "http://git.test");
  const body = await buffer(incoming);
  const child = spawn("git", ["http-backend"], {
    env: {
      ...ENVIRONMENT,
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: "1",
      REQUEST_METHOD: incoming.method,
      PATH_INFO: pathname,
      QUERY_STRING: searchParams.toString(),
      CONTENT_TYPE: incoming.headers["content-type"],
      CONTENT_LENGTH: String(body.length),
      REMOTE_USER: "runyard",
    },
  });
  // A request that git refuses, it may not read to its end.
  child.stdin.on("error", () => {});
  child.stdin.end(body);
  const output = await buffer(child.stdout);
  const end = output.indexOf("\r\n\r\n");
  const headers = Object.fromEntries(
    output
      .toString("latin1", 0, end)
      .split("\r\n")
      .map((line) => line.split(": ", 2)),
  );
  outgoing.writeHead(Number.parseInt(headers["Status"] ?? "200", 10), { "content-type": headers["Content-Type"] });
  outgoing.end(output.subarray(end + 4));
}
