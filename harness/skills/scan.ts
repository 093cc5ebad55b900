import { spawn } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { maskUrlUsers } from "#shared/wire/repository-url.ts";
import type { ScanRequest, ScanResult, SkillFile } from "#shared/wire/scan.ts";
import {
  inSkillOrder,
  isSkillPath,
  MAX_SKILLS,
  SKILL_BYTES,
  SKILL_FOLDERS,
  SKILLS_BYTES,
} from "#shared/wire/skills/skill-file.ts";
import { pinRepositoryAddress } from "../git/repository-address.ts";
import { buildGitEnvironment, takeLastLines, writeGitConfig } from "../git/run-git.ts";
import { findProgram } from "../isolation/programs.ts";
import { formatError } from "../support/stop.ts";
import { cutBytes, toWellFormed } from "../support/text-limits.ts";

/** The longest list of files that is read from git. */
const LIST_BYTES = 8 * 1024 * 1024;
/** Bytes of git's header for one file. */
const HEADER_BYTES = 128;

/**
 * Finds the skills of a repository without a working tree. Nothing is checked out, so links, filters and hooks of the repository have
 * no effect.
 */
export async function scan(request: ScanRequest, folder: string): Promise<ScanResult> {
  if (findProgram("git") === undefined) return toFailure("no_git", "this sandbox has no git");
  const signal = AbortSignal.timeout(request.time_limit_ms);
  const git = createGit(folder, signal);
  try {
    await mkdir(join(folder, "repository"));
    await writeGitConfig(folder);
    await git(["init", "--quiet", "--bare", "--template=", "."]);
    const commit = await fetchCommit(request, git);
    const listed = commit === undefined ? [] : await listSkills(commit, git);
    const { readable, files } = chooseSkills(listed);
    const texts = await readAll(readable, git);
    return {
      outcome: "found",
      files: files.map((file) => ({ ...file, ...texts.get(file.sha) })),
      left_out: listed.length - files.length,
    };
  } catch (error) {
    if (signal.aborted)
      return toFailure("too_late", `the scan did not finish within ${request.time_limit_ms / 1000} s`);
    const message = error instanceof GitError ? error.message : "it could not be read";
    return toFailure("unreadable", cutBytes(toWellFormed(maskUrlUsers(message)), 600));
  }
}

const toFailure = (reason: "no_git" | "unreadable" | "too_late", message: string): ScanResult => ({
  outcome: "failed",
  reason,
  message,
});

class GitError extends Error {}

type Git = (args: readonly string[], options?: { input?: string; maxBytes?: number }) => Promise<Buffer>;

/** Fetches the commit to scan. Returns undefined if the repository is empty. */
async function fetchCommit({ url, ref }: ScanRequest, run: Git): Promise<string | undefined> {
  const pinned = await pinRepositoryAddress(url).catch((error: unknown) => {
    throw new GitError(formatError(error));
  });
  const git: Git = (args, options) => run([...pinned, ...args], options);
  const fetch = (...args: string[]) => git(["fetch", "--quiet", "--no-tags", ...args]);
  const resolveCommit = async (name: string) =>
    (await git(["rev-parse", "--verify", `${name}^{commit}`])).toString().trim();
  try {
    await fetch("--depth=1", "--", url, ref ?? "HEAD");
    return await resolveCommit("FETCH_HEAD");
  } catch (error) {
    if (!(error instanceof GitError)) throw error;
    if (ref === undefined) {
      // An empty repository has no HEAD to fetch, which is not a failure.
      const refs = await git(["ls-remote", "--", url]).catch(() => undefined);
      if (refs?.length === 0) return undefined;
      throw error;
    }
    // Servers serve a single commit only if a branch or a tag points to it, so fetch all branches and tags.
    await fetch("--", url, "+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*");
    return await resolveCommit(ref).catch(() => {
      throw new GitError(`there is no ref "${ref}"`);
    });
  }
}

interface Listed {
  readonly path: string;
  readonly sha: string;
  readonly bytes: number;
}

async function listSkills(commit: string, git: Git): Promise<Listed[]> {
  const list = await git(["ls-tree", "-r", "-z", "-l", commit, ...SKILL_FOLDERS], { maxBytes: LIST_BYTES });
  return list
    .toString()
    .split("\0")
    .flatMap((line) => {
      const [, sha = "", bytes = "", path = ""] = /^100(?:644|755) blob ([0-9a-f]+) +(\d+)\t(.+)$/s.exec(line) ?? [];
      return isSkillPath(path) && path.length <= 1024 ? [{ path, sha, bytes: Number(bytes) }] : [];
    })
    .sort((a, b) => inSkillOrder(a.path, b.path));
}

/** Chooses the skills to return, and those to read: files that are too large are not read. */
function chooseSkills(listed: readonly Listed[]): { readable: Listed[]; files: SkillFile[] } {
  const readable: Listed[] = [];
  let room = SKILLS_BYTES;
  const files = listed.slice(0, MAX_SKILLS).map((file): SkillFile => {
    const { path, sha, bytes } = file;
    if (bytes > SKILL_BYTES) return { path, sha, problem: `is larger than ${SKILL_BYTES} bytes` };
    if (bytes > room) {
      return { path, sha, problem: `was omitted: the skills before it have ${SKILLS_BYTES} bytes in total` };
    }
    room -= bytes;
    readable.push(file);
    return { path, sha };
  });
  return { readable, files };
}

async function readAll(list: readonly Listed[], git: Git): Promise<Map<string, Pick<SkillFile, "text" | "problem">>> {
  const found = new Map<string, Pick<SkillFile, "text" | "problem">>();
  if (list.length === 0) return found;
  const maxBytes = list.reduce((sum, { bytes }) => sum + bytes + HEADER_BYTES, 0);
  const names = [...new Set(list.map(({ sha }) => sha))];
  const all = await git(["cat-file", "--batch"], { input: `${names.join("\n")}\n`, maxBytes });
  let at = 0;
  for (const sha of names) {
    const end = all.indexOf("\n", at);
    const [, bytes] = /^[0-9a-f]+ blob (\d+)$/.exec(all.toString("latin1", at, end)) ?? [];
    if (bytes === undefined) throw new GitError(`object ${sha} is missing`);
    found.set(sha, decode(all.subarray(end + 1, end + 1 + Number(bytes))));
    at = end + 1 + Number(bytes) + 1;
  }
  return found;
}

function decode(bytes: Uint8Array): Pick<SkillFile, "text" | "problem"> {
  try {
    return { text: new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes) };
  } catch {
    return { problem: "is not UTF-8" };
  }
}

/** The most output of git, and the end of its complaints. */
const OUTPUT_BYTES = 64 * 1024;
const COMPLAINT_CHARACTERS = 4_096;

/** Runs git in the repository of the folder and returns its output. */
function createGit(folder: string, signal: AbortSignal): Git {
  return async (args, { input = "", maxBytes = OUTPUT_BYTES } = {}) => {
    signal.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
    const child = spawn("git", [...args], {
      cwd: join(folder, "repository"),
      env: buildGitEnvironment(folder),
      detached: true,
      stdio: ["pipe", "pipe", "pipe"],
    });
    const kill = () => {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
      } catch {
        // The process has already ended.
      }
    };
    signal.addEventListener("abort", kill);
    const chunks: Buffer[] = [];
    let bytes = 0;
    let complaints = "";
    child.stdout.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= maxBytes) chunks.push(chunk);
    });
    child.stderr.on("data", (chunk: Buffer) => {
      complaints = (complaints + chunk.toString()).slice(-COMPLAINT_CHARACTERS);
    });
    child.stdin.on("error", () => {});
    child.stdin.end(input);
    child.on("error", (error) => reject(new GitError(`git could not be started: ${error.message}`)));
    child.on("close", (code) => {
      if (code !== 0) reject(new GitError(takeLastLines(complaints) || `git ended with exit code ${code}`));
      else if (bytes > maxBytes) reject(new GitError("it has too many files"));
      else resolve(Buffer.concat(chunks));
    });
    try {
      return await promise;
    } finally {
      signal.removeEventListener("abort", kill);
    }
  };
}
