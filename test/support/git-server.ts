import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { respondByGit } from "../../lab/git/backend.ts";
import { startServer } from "./http-server.ts";

const run = promisify(execFile);
const ENVIRONMENT = {
  PATH: process.env["PATH"] ?? "",
  HOME: "/nonexistent",
  GIT_AUTHOR_NAME: "Ada",
  GIT_AUTHOR_EMAIL: "ada@example.com",
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
  /** Responds to a request that another server has received. @param path the path below the address of the server, with its query */
  respond(incoming: IncomingMessage, outgoing: ServerResponse, path: string): void;
}

/** @param password what requests must have, or a function that tells whether theirs is valid; clones of tests do not go through HTTP */
export async function startGitServer(password: string | ((secret: string) => boolean)): Promise<GitServer> {
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
  const respond: GitServer["respond"] = (incoming, outgoing, path) => {
    const { headers } = incoming;
    requests.push({ path, authorization: headers.authorization });
    const [, secret = ""] = Buffer.from(headers.authorization?.split(" ")[1] ?? "", "base64")
      .toString()
      .split(":");
    const isValid = typeof password === "string" ? secret === password : password(secret);
    if (!isValid) return void outgoing.writeHead(401, { "www-authenticate": "Basic" }).end();
    void respondByGit(incoming, outgoing, { root: directory, path: new URL(path, "http://git.test").pathname });
  };
  const server = await startServer((incoming, outgoing) => respond(incoming, outgoing, incoming.url ?? ""));
  return {
    respond,
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
