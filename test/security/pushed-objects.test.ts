import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { deflateSync } from "node:zlib";
import * as v from "valibot";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { pushBranch } from "#shared/triggers/systems/push-branch.ts";
import { createObjectFetch } from "#shared/triggers/systems/system-api.ts";
import { SystemRequest } from "#shared/triggers/systems/system-request.ts";
import { commitFile, type GitServer, git, startGitServer } from "../support/git-server.ts";
import { startServer } from "../support/http-server.ts";

const TOKEN = "github_pat_that_writes";
const ZERO = "0".repeat(40);

let server: GitServer;
let before: Readonly<Record<string, string>>;
beforeEach(async () => {
  server = await startGitServer(TOKEN);
  before = await server.refs();
});
afterEach(async () => server[Symbol.asyncDispose]());

/** Packs what a clone has and the branch had not, without deltas. */
async function pack(revisions: readonly string[], ...options: string[]): Promise<Buffer> {
  const name = join(server.clone, ".git/made");
  const script = `printf '%s\\n' ${revisions.join(" ")} | git pack-objects --revs --quiet --no-reuse-delta ${options.join(" ") || "--window=0"} ${name}`;
  await git(server.clone, "config", "alias.made", `!${script}`);
  const id = await git(server.clone, "made");
  return readFile(`${name}-${id}.pack`);
}

async function push(commit: string, content: Uint8Array, { branch = "fix", token = TOKEN } = {}): Promise<string> {
  await using storage = await startServer((_incoming, outgoing) => void outgoing.end(content));
  const request = {
    action: "push_branch" as const,
    system: "github" as const,
    team_uid: "team",
    secret_id: "secret",
    repository: "acme/shop",
    branch,
    commit,
    pack_url: storage.url,
  };
  return await pushBranch(request, { address: server.url, token, fetch: createObjectFetch() });
}

/** The objects of a pack that no git would write. */
function writePack(
  objects: readonly { readonly type: "commit" | "tree" | "blob" | "tag"; readonly content: Buffer }[],
) {
  const header = Buffer.alloc(12);
  header.write("PACK");
  header.writeUInt32BE(2, 4);
  header.writeUInt32BE(objects.length, 8);
  const parts = objects.flatMap(({ type, content }) => {
    const bytes = [(["commit", "tree", "blob", "tag"].indexOf(type) + 1) << 4];
    let size = content.length;
    bytes[0] = (bytes[0] ?? 0) | (size & 15);
    for (size >>= 4; size > 0; size >>= 7) {
      bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) | 128;
      bytes.push(size & 127);
    }
    return [Buffer.from(bytes), deflateSync(content)];
  });
  const body = Buffer.concat([header, ...parts]);
  return Buffer.concat([body, createHash("sha1").update(body).digest()]);
}

const toId = (type: string, content: Buffer) =>
  createHash("sha1").update(`${type} ${content.length}\0`).update(content).digest("hex");

/** A commit whose tree has one entry, after the commit of the branch. */
function commitOf(name: string, parent: string | readonly string[] | undefined, mode = "100644") {
  const parents = [parent ?? []].flat().map((id) => `parent ${id}\n`);
  const blob = Buffer.from("[core]\n\tsshCommand = touch /tmp/owned\n");
  const entry = Buffer.concat([Buffer.from(`${mode} ${name}\0`), Buffer.from(toId("blob", blob), "hex")]);
  const person = "Ada <ada@example.com> 1770000000 +0000";
  const commit = Buffer.from(
    `tree ${toId("tree", entry)}\n${parents.join("")}author ${person}\ncommitter ${person}\n\nx\n`,
  );
  const objects = [
    { type: "commit", content: commit },
    { type: "tree", content: entry },
    { type: "blob", content: blob },
  ] as const;
  return { id: toId("commit", commit), objects };
}

describe("a push of a run's commits", () => {
  it("moves the branch to them, and changes no other ref", async () => {
    await commitFile(server.clone, "shop.txt", "two\n");
    const commit = await commitFile(server.clone, "more.txt", "x".repeat(100_000));
    await git(server.clone, "tag", "v1");
    expect(await push(commit, await pack([commit, `^${before["refs/heads/fix"]}`]))).toBe(commit);
    expect(await server.refs()).toEqual({ ...before, "refs/heads/fix": commit });
  });

  it("sends the credential to the repository only, and nothing where the branch has the commits already", async () => {
    const commit = await commitFile(server.clone, "shop.txt", "two\n");
    const objects = await pack([commit, `^${before["refs/heads/fix"]}`]);
    await push(commit, objects);
    await push(commit, objects);
    expect(server.requests.map(({ path }) => path)).toEqual([
      "/acme/shop.git/info/refs?service=git-receive-pack",
      "/acme/shop.git/git-receive-pack",
      "/acme/shop.git/info/refs?service=git-receive-pack",
    ]);
  });

  it("takes a merge of what the branch has become", async () => {
    const own = await commitFile(server.clone, "shop.txt", "two\n");
    await git(server.clone, "checkout", "--quiet", "-b", "other", "HEAD~1");
    const theirs = await commitFile(server.clone, "other.txt", "three\n");
    await git(server.clone, "push", "--quiet", "origin", "other:fix");
    await git(server.clone, "checkout", "--quiet", "fix");
    await expect(push(own, await pack([own, `^${before["refs/heads/fix"]}`]))).rejects.toThrow("never forced");
    await git(server.clone, "merge", "--quiet", "--no-edit", "other");
    const merged = await git(server.clone, "rev-parse", "HEAD");
    await push(merged, await pack([merged, `^${before["refs/heads/fix"]}`]));
    expect(await server.refs()).toEqual({ ...before, "refs/heads/fix": merged });
    expect(await git(server.repository, "merge-base", "--is-ancestor", theirs, "fix")).toBe("");
  });

  it("is refused where it would replace commits of the branch", async () => {
    await git(server.clone, "commit", "--quiet", "--amend", "--message", "Another");
    const commit = await git(server.clone, "rev-parse", "HEAD");
    await expect(push(commit, await pack([commit]))).rejects.toThrow("a push is never forced");
    const { id, objects } = commitOf("a.txt", undefined);
    await expect(push(id, writePack(objects))).rejects.toThrow("a push is never forced");
    expect(await server.refs()).toEqual(before);
  });

  it("is refused where a commit has more parents than a call can have arguments", async () => {
    const { id, objects } = commitOf("a.txt", Array<string>(300_000).fill(ZERO));
    await expect(push(id, writePack(objects))).rejects.toThrow("a push is never forced");
  });

  it("creates no branch", async () => {
    const commit = await commitFile(server.clone, "shop.txt", "two\n");
    const objects = await pack([commit]);
    await expect(push(commit, objects, { branch: "new" })).rejects.toThrow("does not exist any more");
    expect(await server.refs()).toEqual(before);
  });

  it("says which right a credential lacks", async () => {
    const commit = await commitFile(server.clone, "shop.txt", "two\n");
    await expect(push(commit, await pack([commit]), { token: "reads" })).rejects.toThrow(
      "GitHub refuses the push with the status 401: the credential needs the right to write to the repository",
    );
  });

  it("reports why the server refuses it", async () => {
    await git(server.repository, "config", "receive.denyCurrentBranch", "refuse");
    await git(server.repository, "config", "receive.maxInputSize", "10");
    const commit = await commitFile(server.clone, "shop.txt", "two\n");
    await expect(push(commit, await pack([commit, `^${before["refs/heads/fix"]}`]))).rejects.toThrow(
      "GitHub refuses the push: ",
    );
    expect(await server.refs()).toEqual(before);
  });
});

describe("objects that no push has", () => {
  const base = () => before["refs/heads/fix"] ?? "";

  it.each([".git", ".GIT", "git~1", ".git ", ".git::$INDEX_ALLOCATION", ".g\u200cit", "..", ".", "a\\.git"])(
    "are files with the name %j",
    async (name) => {
      const { id, objects } = commitOf(name, base());
      await expect(push(id, writePack(objects))).rejects.toThrow("which no repository can contain");
      expect(server.requests).toEqual([]);
    },
  );

  it("are tags, deltas and objects that are not what they say", async () => {
    const commit = await commitFile(server.clone, "shop.txt", "two\n");
    await git(server.clone, "tag", "--annotate", "--message", "x", "v1");
    await expect(push(commit, await pack(["v1"]))).rejects.toThrow("which is not pushed");
    await commitFile(server.clone, "long.txt", `${"a long line of text\n".repeat(500)}one\n`);
    const longer = await commitFile(server.clone, "long.txt", `${"a long line of text\n".repeat(500)}two\n`);
    await expect(push(longer, await pack([longer], "--window=10"))).rejects.toThrow("are damaged");
    const { id, objects } = commitOf("a.txt", base());
    const good = writePack(objects);
    const flipped = Buffer.from(good);
    flipped.writeUInt8(flipped.readUInt8(40) ^ 1, 40);
    for (const bad of [Buffer.alloc(0), good.subarray(0, -1), Buffer.concat([good, good]), flipped]) {
      await expect(push(id, bad)).rejects.toThrow("are damaged");
    }
    await expect(push("f".repeat(40), good)).rejects.toThrow("do not contain the commit");
    await expect(push(id, writePack(commitOf("a.txt", base(), "100664").objects))).rejects.toThrow("are damaged");
    expect(server.requests).toEqual([]);
  });

  it("are more than the memory of the service holds", async () => {
    const bomb = { type: "blob", content: Buffer.alloc(17 * 1024 * 1024) } as const;
    await expect(push(ZERO, writePack([bomb]))).rejects.toThrow("more than");
  });
});

describe("the request for a push", () => {
  const request = {
    action: "push_branch",
    system: "github",
    team_uid: "team",
    secret_id: "secret",
    repository: "acme/shop",
    branch: "fix/a",
    commit: "a".repeat(40),
    pack_url: "https://files.test/a",
  };
  it("names one branch of one repository", () => {
    expect(v.is(SystemRequest, request)).toBe(true);
    for (const branch of [
      "",
      "a b",
      "a\nb",
      "a\0b",
      "a..b",
      "-a",
      "a:b",
      "/a",
      "a/",
      "a.lock",
      "a/.b",
      "a@{1}",
      "a~1",
    ]) {
      expect([branch, v.is(SystemRequest, { ...request, branch })]).toEqual([branch, false]);
    }
    for (const repository of ["acme", "../shop", "acme/..", "acme/shop?a", "acme//shop", "acme/shop#1", "a@b/c"]) {
      expect([repository, v.is(SystemRequest, { ...request, repository })]).toEqual([repository, false]);
    }
    expect(v.is(SystemRequest, { ...request, commit: "main" })).toBe(false);
  });
});
