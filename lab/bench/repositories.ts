/**
 * `npm run lab -- bench-repositories`: makes a large repository with a submodule, and measures its clones on a machine with mirrors: the
 * first, the second, and one after a change, with the bytes that the server sent.
 */
import { execFileSync, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, mkdtempSync } from "node:fs";
import { createServer } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Writable } from "node:stream";
import { parseArgs } from "node:util";
import { type CloneOptions, cloneRepository } from "../../harness/git/clone.ts";
import { writeGitConfig } from "../../harness/git/run-git.ts";
import { createWorkspace } from "../../harness/isolation/workspace.ts";
import { removeTree } from "../../shared/sandbox/remove-tree.ts";
import { respondByGit } from "../git/backend.ts";
import { createCertificate } from "../git/certificate.ts";
import { describeMachine, load } from "./machine.ts";

const { values } = parseArgs({
  options: { files: { type: "string", default: "100000" }, "history-mb": { type: "string", default: "512" } },
});
const FILES = Number(values.files);
const HISTORY_MB = Number(values["history-mb"]);
const FILES_PER_DIRECTORY = 1_000;
const MEGABYTE = 1_000_000;
/** Files of a megabyte that the commits of the history replace in turn. */
const LARGE_FILES = 16;
const TIMEOUT_MS = 3_600_000;

const folder = mkdtempSync(join(tmpdir(), "bench-repositories-"));
const git = (directory: string, ...args: string[]): string =>
  execFileSync(
    "git",
    ["-c", "user.name=Bench", "-c", "user.email=bench@example.com", "-c", "protocol.file.allow=always", ...args],
    {
      cwd: directory,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    },
  ).trim();

/** Bytes that no compression makes smaller, the same at each measurement. */
function makeBytes(seed: number, bytes: number): Buffer {
  const blocks = Array.from({ length: Math.ceil(bytes / 64) }, (_, index) =>
    createHash("sha512").update(`${seed} ${index}`).digest(),
  );
  return Buffer.concat(blocks).subarray(0, bytes);
}

async function write(stream: Writable, content: string | Buffer): Promise<void> {
  if (!stream.write(content)) await once(stream, "drain");
}

/** Makes the repository by git fast-import: the files in one commit, then a commit for each megabyte of history. */
async function makeRepository(directory: string): Promise<void> {
  mkdirSync(directory, { recursive: true });
  git(directory, "init", "--quiet", "--initial-branch=main");
  const fastImport = spawn("git", ["fast-import", "--quiet"], { cwd: directory, stdio: ["pipe", "ignore", "inherit"] });
  const ended = once(fastImport, "close");
  const { stdin } = fastImport;
  const commit = (number: number) =>
    write(
      stdin,
      `commit refs/heads/main\ncommitter Bench <bench@example.com> ${1_700_000_000 + number} +0000\ndata 1\n.\n`,
    );
  const put = async (name: string, content: Buffer) => {
    await write(stdin, `M 100644 inline ${name}\ndata ${content.length}\n`);
    await write(stdin, content);
    await write(stdin, "\n");
  };
  await commit(0);
  for (let file = 0; file < FILES; file++)
    await put(
      `src/${Math.floor(file / FILES_PER_DIRECTORY)}/${file}.txt`,
      Buffer.from(`file ${file}\n${"line\n".repeat(20)}`),
    );
  for (let number = 1; number <= HISTORY_MB; number++) {
    await commit(number);
    await put(`large/${number % LARGE_FILES}.bin`, makeBytes(number, MEGABYTE));
  }
  stdin.end();
  await ended;
  git(directory, "reset", "--hard", "--quiet");
}

/** Serves the repositories below `root` over https, and counts what it sends. */
async function serve(root: string) {
  const { key, cert, file } = createCertificate(folder);
  process.env["GIT_SSL_CAINFO"] = file;
  const sent = { bytes: 0 };
  const onBytes = (bytes: number) => {
    sent.bytes += bytes;
  };
  const server = createServer({ key, cert }, (request, response) => {
    const { pathname: path } = new URL(request.url ?? "/", "https://127.0.0.1");
    void respondByGit(request, response, { root, path, onBytes });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" ? address?.port : undefined;
  return { origin: `https://127.0.0.1:${port}`, sent, close: () => server.close() };
}

/** Clones the repository as an execution does, and prints how long it took and what the server sent. */
async function measure(name: string, url: string, sent: { bytes: number }, more: Partial<CloneOptions>): Promise<void> {
  const workspace = createWorkspace();
  await writeGitConfig(workspace.etc);
  const { signal } = new AbortController();
  const place = { workspace: workspace.paths.workspace, etc: workspace.etc, timeoutMs: TIMEOUT_MS, signal };
  const before = sent.bytes;
  const start = performance.now();
  const { omissions } = await cloneRepository("large", { url, submodules: true }, { ...place, ...more });
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  const megabytes = ((sent.bytes - before) / MEGABYTE).toFixed(1);
  process.stdout.write(
    `| ${name} | ${seconds} s | ${megabytes} MB |${omissions.length === 0 ? "" : ` ${omissions.join()}`}\n`,
  );
  await workspace.remove();
}

try {
  const before = load();
  const root = join(folder, "repositories", "acme");
  const [large, part] = [join(root, "large"), join(root, "part")];
  await makeRepository(large);
  mkdirSync(part);
  git(part, "init", "--quiet", "--initial-branch=main");
  git(part, "commit", "--quiet", "--allow-empty", "--message=first");
  const { origin, sent, close } = await serve(join(folder, "repositories"));
  git(large, "submodule", "--quiet", "add", part, "part");
  git(large, "config", "--file", ".gitmodules", "submodule.part.url", "../part");
  git(large, "commit", "--quiet", "--all", "--message=part");
  const packs = git(large, "count-objects", "--verbose", "--human-readable").replaceAll("\n", ", ");
  const { cpu, cores, memoryGb, date } = describeMachine(before);
  process.stdout.write(
    `${cpu}, ${cores} cores, ${memoryGb} GB, ${date}, load ${before}\n${FILES} files, ${HISTORY_MB} MB of history (${packs})\n\n`,
  );
  process.stdout.write("| clone | time | sent by the server |\n|---|---:|---:|\n");
  const url = `${origin}/acme/large`;
  const mirrors = { directory: join(folder, "mirrors"), scope: "bench", credential: "" };
  await measure("without a mirror", url, sent, {});
  await measure("first, which makes the mirror", url, sent, { mirrors });
  await measure("second, from the mirror", url, sent, { mirrors });
  git(large, "commit", "--quiet", "--allow-empty", "--message=more");
  await measure("after a commit, from the mirror", url, sent, { mirrors });
  close();
} finally {
  await removeTree(folder);
}
