import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { CommandRequest } from "#harness/commands/command-runner.ts";
import { type CheckpointOptions, createCheckpoints } from "#harness/setup/checkpoints.ts";

vi.setConfig({ testTimeout: 10_000, hookTimeout: 10_000 });

const run = promisify(execFile);
const ARCHIVE = "workspace.tar.gz";
const LIST = "artifacts.json";

let folder = "";
let storage: Server;
let address = "";
/** The files that storage has, and the types that they were uploaded with. */
const stored = new Map<string, Buffer>();
const types = new Map<string, string | undefined>();

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "checkpoints-"));
  for (const name of ["workspace", "workspace/output", "tmp"]) mkdirSync(join(folder, name));
  stored.clear();
  types.clear();
  storage = createServer(async (request, response) => {
    const name = request.url?.slice(1) ?? "";
    const content = stored.get(name);
    if (request.method === "GET") return response.writeHead(content === undefined ? 404 : 200).end(content);
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece);
    stored.set(name, Buffer.concat(pieces));
    types.set(name, request.headers["content-type"]);
    return response.end();
  });
  await new Promise<void>((resolve) => storage.listen(0, "127.0.0.1", resolve));
  const listening = storage.address();
  address = `http://127.0.0.1:${typeof listening === "object" ? listening?.port : ""}`;
});
afterEach(() => {
  storage.close();
  rmSync(folder, { recursive: true });
});

const place = (...names: string[]) => join(folder, ...names);
const leftovers = () => readdirSync(place("tmp"));

/** Checkpoints of the workspace in `folder`, whose commands run there. */
function startCheckpoints(given: Partial<CheckpointOptions> = {}) {
  const host = {
    workspace: place("workspace"),
    output: place("workspace", "output"),
    tmp: place("tmp"),
    home: "/h",
    steps: "/s",
  };
  const calls: unknown[] = [];
  const requests: CommandRequest[] = [];
  const adopted: unknown[] = [];
  const checkpoints = createCheckpoints({
    plane: {
      async uploadSnapshot(request) {
        calls.push(["upload", request]);
        const uploads = request.files.map(({ filename }) => ({ url: `${address}/${filename}`, headers: null }));
        return { uploads: uploads.map((upload) => ({ ...upload, method: "PUT" })) };
      },
      async commitSnapshot(request) {
        calls.push(["commit", request]);
      },
    },
    runner: {
      async run(request) {
        requests.push(request);
        const { command, workingDirectory } = request;
        const ended = await run("bash", ["-eo", "pipefail", "-c", command], { cwd: workingDirectory }).then(
          () => ({ exitCode: 0, text: "" }),
          (error: { code: number; stderr: string }) => ({ exitCode: error.code, text: `${error.stderr}\n` }),
        );
        return { command, workingDirectory, timedOut: false, durationMs: 1, truncated: false, ...ended };
      },
    },
    host,
    seen: host,
    deadlineAt: Date.now() + 3_600_000,
    signal: new AbortController().signal,
    settle: async () => void calls.push("settle"),
    reportMissing: (files, step) => void calls.push([step, files]),
    artifacts: {
      stored: () => new Map([["a.txt", "hash"]]),
      adopt: (known) => void adopted.push([...known]),
    },
    ...given,
  });
  return { checkpoints, calls, requests, adopted };
}

const describeFile = (filename: string, mime_type: string) => {
  const content = stored.get(filename) ?? Buffer.alloc(0);
  const sha256 = createHash("sha256").update(content).digest("hex");
  return { filename, mime_type, size_bytes: content.length, sha256 };
};

const checkpointOf = (...filenames: string[]) => ({
  generation: "checkpoint-1",
  files: filenames.map((filename) => ({
    filename,
    download_url: `${address}/${filename}`,
    mime_type: "x/y",
    size_bytes: 1,
  })),
});

describe("saving a workspace", () => {
  it("settles the messages, then stores the archive and the list of artifacts, and commits both", async () => {
    const { checkpoints, calls, requests } = startCheckpoints();
    writeFileSync(place("workspace", "a.txt"), "kept");
    await checkpoints.save();
    await checkpoints.save();
    expect(JSON.parse(String(stored.get(LIST)))).toEqual([["a.txt", "hash"]]);
    const files = [describeFile(ARCHIVE, "application/gzip"), describeFile(LIST, "application/json")];
    expect(calls.slice(0, 3)).toEqual([
      "settle",
      [
        "upload",
        { mode: "checkpoint", generation: "checkpoint-1", files: [{ ...files[0], ...ANY_ARCHIVE }, files[1]] },
      ],
      ["commit", { generation: "checkpoint-1", files: [ARCHIVE, LIST] }],
    ]);
    expect(calls[4]).toEqual(["upload", { mode: "checkpoint", generation: "checkpoint-2", files }]);
    expect([...types.values()]).toEqual(["application/gzip", "application/json"]);
    expect(requests[0]).toMatchObject({ workingDirectory: place("workspace"), timeoutMs: 300_000 });
    expect(leftovers()).toEqual([]);
  });

  it("is done for a root of which only a link to a directory of the host has changed", async () => {
    mkdirSync(place("changes"));
    mkdirSync(place("empty"));
    symlinkSync(place("empty"), place("changes", "etc"));
    const layer = { changes: place("changes"), seen: place("changes"), remount: async () => {} };
    const { checkpoints, calls } = startCheckpoints({ layer });
    expect(await checkpoints.save()).toBe(true);
    expect(calls.at(-1)).toEqual(["commit", { generation: "checkpoint-1", files: [ARCHIVE, "root.tar.gz", LIST] }]);
  });

  it("does nothing for an empty workspace, unless it must", async () => {
    const { checkpoints, calls, requests } = startCheckpoints();
    await checkpoints.save();
    expect(calls).toEqual([]);
    await checkpoints.save({ always: true });
    expect(calls).toEqual([
      "settle",
      ["upload", { mode: "checkpoint", generation: "checkpoint-1", files: [] }],
      ["commit", { generation: "checkpoint-1", files: [] }],
    ]);
    expect([requests, stored.size]).toEqual([[], 0]);
    rmSync(place("workspace", "output"), { recursive: true });
    await checkpoints.save();
    expect(calls).toHaveLength(3);
  });

  it.each([
    ["a file in the output directory", () => writeFileSync(place("workspace", "output", "a"), "")],
    [
      "a link in place of the output directory",
      () => {
        rmSync(place("workspace", "output"), { recursive: true });
        symlinkSync("/var/empty", place("workspace", "output"));
      },
    ],
    ["an empty directory", () => mkdirSync(place("workspace", "empty"))],
  ])("is not omitted if it has %s", async (_, make) => {
    const { checkpoints, calls } = startCheckpoints();
    make();
    await checkpoints.save();
    expect(calls).toHaveLength(3);
  });

  it("takes no longer than the execution lasts", async () => {
    writeFileSync(place("workspace", "a.txt"), "kept");
    const late = startCheckpoints({ deadlineAt: Date.now() - 1 });
    await late.checkpoints.save();
    expect(late.requests[0]?.timeoutMs).toBe(1);
    const soon = startCheckpoints({ deadlineAt: Date.now() + 60_000 });
    await soon.checkpoints.save();
    expect(soon.requests[0]?.timeoutMs).toBeGreaterThan(50_000);
    expect(soon.requests[0]?.timeoutMs).toBeLessThanOrEqual(60_000);
  });

  it("fails for files that are too large, packed or not, and stores nothing", async () => {
    writeFileSync(place("workspace", "a.txt"), "x".repeat(100_000));
    const apparent = startCheckpoints({ maxApparentBytes: 90_000 });
    await expect(apparent.checkpoints.save()).rejects.toThrow(
      "the files of the workspace have more than 90000 bytes, including holes of sparse files",
    );
    const packed = startCheckpoints({ maxBytes: 100 });
    await expect(packed.checkpoints.save()).rejects.toThrow("the workspace has more than 100 bytes when packed");
    expect([apparent.calls, packed.calls, leftovers()]).toEqual([["settle"], ["settle"], []]);
    await startCheckpoints({ maxApparentBytes: 200_000, maxBytes: 10_000 }).checkpoints.save();
    const exact = startCheckpoints({ maxBytes: stored.get(ARCHIVE)?.length ?? 0 });
    await exact.checkpoints.save();
    expect(exact.calls).toHaveLength(3);
  });

  it("replaces a directory that a command created in place of the archive", async () => {
    writeFileSync(place("workspace", "a.txt"), "kept");
    mkdirSync(place("tmp", ARCHIVE, "deep"), { recursive: true });
    const { checkpoints } = startCheckpoints();
    await checkpoints.save();
    mkdirSync(place("tmp", ARCHIVE, "deep"), { recursive: true });
    expect(await checkpoints.restore(checkpointOf(ARCHIVE))).toBe(true);
    const runner = {
      run: async () => {
        mkdirSync(place("tmp", ARCHIVE, "deep"), { recursive: true });
        throw new Error("ended");
      },
    };
    await expect(startCheckpoints({ runner }).checkpoints.save()).rejects.toThrow("ended");
    const restored = startCheckpoints({
      runner: {
        run: async () => {
          rmSync(place("tmp", ARCHIVE));
          mkdirSync(place("tmp", ARCHIVE, "deep"), { recursive: true });
          throw new Error("ended");
        },
      },
    });
    await expect(restored.checkpoints.restore(checkpointOf(ARCHIVE))).rejects.toThrow("ended");
    expect(leftovers()).toEqual([]);
  });

  it("removes the archive if it cannot be stored", async () => {
    writeFileSync(place("workspace", "a.txt"), "kept");
    const plane = {
      uploadSnapshot: () => Promise.reject(new Error("refused")),
      commitSnapshot: () => Promise.reject(new Error("not reached")),
    };
    await expect(startCheckpoints({ plane }).checkpoints.save()).rejects.toThrow("refused");
    expect(leftovers()).toEqual([]);
  });
});

/** Archives have the time of their files, so each one differs. */
const ANY_ARCHIVE = { size_bytes: expect.any(Number), sha256: expect.stringMatching(/^[0-9a-f]{64}$/) };

describe("restoring a workspace", () => {
  it("unpacks the archive, and adopts the artifacts of the list", async () => {
    const { checkpoints, adopted } = startCheckpoints();
    writeFileSync(place("workspace", "a.txt"), "kept");
    await checkpoints.save();
    rmSync(place("workspace", "a.txt"));
    writeFileSync(place("tmp", ARCHIVE), "of a command");
    expect(await checkpoints.restore(checkpointOf(ARCHIVE, LIST))).toBe(true);
    expect(readFileSync(place("workspace", "a.txt"), "utf8")).toBe("kept");
    expect([adopted, leftovers()]).toEqual([[[["a.txt", "hash"]]], []]);
    expect(await checkpoints.restore(checkpointOf(ARCHIVE))).toBe(true);
    expect(adopted).toHaveLength(1);
  });

  it("says that there is none if none was saved, or storage has lost it", async () => {
    const { checkpoints, requests } = startCheckpoints();
    for (const checkpoint of [undefined, checkpointOf(), checkpointOf(LIST), checkpointOf(ARCHIVE, LIST)])
      expect(await checkpoints.restore(checkpoint)).toBe(false);
    expect(requests).toEqual([]);
  });

  it("fails for a broken archive or list with the reason", async () => {
    const { checkpoints } = startCheckpoints();
    stored.set(ARCHIVE, Buffer.from("broken"));
    const message = "the workspace of an earlier execution could not be restored: tar ended with exit code 2: ";
    const restored = checkpoints.restore(checkpointOf(ARCHIVE));
    await expect(restored).rejects.toThrow(message);
    await expect(restored).rejects.toMatchObject({ name: "SetupError", message: expect.stringMatching(/\S$/) });
    expect(leftovers()).toEqual([]);
    writeFileSync(place("workspace", "a.txt"), "kept");
    await checkpoints.save();
    for (const list of ["no JSON", '[["a.txt"]]']) {
      stored.set(LIST, Buffer.from(list));
      await expect(checkpoints.restore(checkpointOf(ARCHIVE, LIST))).rejects.toMatchObject({ name: "SetupError" });
    }
  });

  it("ends with the execution", async () => {
    const reason = new Error("the execution was cancelled");
    const aborted = startCheckpoints({ signal: AbortSignal.abort(reason) });
    await expect(aborted.checkpoints.restore(checkpointOf(ARCHIVE))).rejects.toBe(reason);
    const controller = new AbortController();
    stored.set(ARCHIVE, Buffer.from("broken"));
    const runner = {
      run: () => {
        controller.abort(reason);
        return Promise.reject(new Error("ended"));
      },
    };
    const later = startCheckpoints({ signal: controller.signal, runner });
    await expect(later.checkpoints.restore(checkpointOf(ARCHIVE))).rejects.toBe(reason);
  });
});
