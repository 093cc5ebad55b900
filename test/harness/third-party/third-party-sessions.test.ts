import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createRedactor } from "#harness/redaction/redactor.ts";
import { codex } from "#harness/third-party/codex.ts";
import { createSessions } from "#harness/third-party/sessions.ts";

/** A test that waits for a missing response fails soon. */
vi.setConfig({ testTimeout: 10_000, hookTimeout: 10_000 });

const run = promisify(execFile);
const SESSION = "accecc35-1925-4e37-8d7e-083eef3f9720";
const META = JSON.stringify({
  type: "session_meta",
  payload: { id: SESSION, timestamp: "2026-11-21T22:30:19.711Z" },
});
const PLACE = `.codex/sessions/2026/11/21/rollout-2026-11-21T22-30-19-${SESSION}.jsonl`;

let folder = "";
let storage: Server;
let address = "";
/** The requests of the storage, and the file that it has. */
let uploads: { method: string | undefined; type: string | undefined; body: string }[] = [];
let stored = "";

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "sessions-"));
  for (const name of ["workspace", "home", "tmp"]) mkdirSync(join(folder, name));
  uploads = [];
  stored = `${META}\n{}\n`;
  storage = createServer(async (request, response) => {
    let body = "";
    for await (const piece of request) body += piece;
    if (request.method === "GET") return response.end(stored);
    uploads.push({ method: request.method, type: request.headers["content-type"], body });
    return response.end();
  });
  await new Promise<void>((resolve) => storage.listen(0, "127.0.0.1", resolve));
  const listening = storage.address();
  address = `http://127.0.0.1:${typeof listening === "object" ? listening?.port : ""}/file`;
});
afterEach(() => {
  storage.close();
  rmSync(folder, { recursive: true });
});

/** The sessions of an agent whose commands run in `folder`. */
function startSessions({ url, signal = new AbortController().signal }: { url?: string; signal?: AbortSignal } = {}) {
  const path = (name: string) => join(folder, name);
  const host = { workspace: path("workspace"), home: path("home"), tmp: path("tmp"), output: "/o", steps: "/s" };
  const calls: unknown[] = [];
  const logged: unknown[] = [];
  const sessions = createSessions({
    agent: codex,
    conversationId: "conversation",
    plane: {
      externalConversation: async (format) => void calls.push(["format", format]),
      async transcriptTarget(transcript) {
        calls.push(["target", transcript]);
        return { url: address, method: "PUT", headers: {} };
      },
      transcriptUrl: async () => url,
    },
    runner: {
      async run({ command, workingDirectory, timeoutMs }) {
        const environment = { PATH: process.env["PATH"], HOME: host.home };
        const options = { cwd: workingDirectory, env: environment, timeout: timeoutMs };
        const ended = await run("bash", ["-eo", "pipefail", "-c", command], options).then(
          () => ({ exitCode: 0, text: "" }),
          (error: { code: number; stderr: string }) => ({ exitCode: error.code, text: `${error.stderr}\n` }),
        );
        const times = { timedOut: false, durationMs: timeoutMs, truncated: false };
        return { command, workingDirectory, ...times, ...ended };
      },
    },
    redactor: createRedactor(["s3cr3t-value-of-the-run"]),
    log: (...entry) => void logged.push(entry),
    host,
    seen: host,
    workingDirectory: "/workspace",
    signal,
  });
  const read = () => readFileSync(join(folder, "home", PLACE), "utf8");
  const write = (name: string, text: string) => {
    const file = join(folder, "home", name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  };
  return { sessions, calls, logged, read, write };
}

const leftovers = () => readdirSync(join(folder, "tmp"));

describe("restoring the session of a third-party agent", () => {
  it("copies the raw transcript to the path where the agent looks for it", async () => {
    writeFileSync(join(folder, "tmp", "runyard-transcript.jsonl"), "of another turn");
    const { sessions, logged, read } = startSessions({ url: address });
    expect(await sessions.restore()).toBe(SESSION);
    expect(read()).toBe(stored);
    expect([leftovers(), logged]).toEqual([[], []]);
  });

  it("does nothing without a transcript, or for one of another agent", async () => {
    const none = startSessions();
    expect(await none.sessions.restore()).toBeUndefined();
    stored = '{"sessionId":"x"}\n';
    const other = startSessions({ url: address });
    expect(await other.sessions.restore()).toBeUndefined();
    expect([none.logged, other.logged, leftovers(), readdirSync(join(folder, "home"))]).toEqual([[], [], [], []]);
  });

  it("logs why a transcript was not restored", async () => {
    const { sessions, logged } = startSessions({ url: address });
    writeFileSync(join(folder, "home", ".codex"), "not a directory");
    expect(await sessions.restore()).toBeUndefined();
    const detail = expect.stringMatching(/^the session could not be copied: mkdir: .*Not a directory$/);
    expect(logged).toEqual([["warn", "the agent's session was not restored", { detail }]]);
    expect(leftovers()).toEqual([]);
  });

  it("ends with the execution", async () => {
    const signal = AbortSignal.abort(new Error("the execution was cancelled"));
    const { sessions, logged } = startSessions({ url: address, signal });
    await expect(sessions.restore()).rejects.toThrow("the execution was cancelled");
    expect(logged).toEqual([]);
  });
});

describe("storing the session of a third-party agent", () => {
  it("uploads its largest file, redacted, and declares the format once", async () => {
    const { sessions, calls, write } = startSessions();
    write(PLACE, `${META}\n{"text":"s3cr3t-value-of-the-run é"}\n`);
    for (const time of ["T22-30-18", "T22-30-20"]) write(PLACE.replace("T22-30-19", time), "smaller");
    await sessions.save(SESSION);
    await sessions.save(SESSION);
    const body = `${META}\n{"text":"*** é"}\n`;
    const described = {
      conversation_id: "conversation",
      size_bytes: Buffer.byteLength(body),
      sha256: createHash("sha256").update(body).digest("hex"),
    };
    const target = ["target", described];
    expect(calls).toEqual([["format", "codex"], target, target, target, target]);
    const upload = { method: "PUT", type: "application/x-ndjson", body };
    expect(uploads).toEqual([upload, upload]);
    expect(leftovers()).toEqual([]);
  });

  it("fails if the agent has no such file, and declares nothing", async () => {
    const { sessions, calls } = startSessions();
    await expect(sessions.save(SESSION)).rejects.toThrow(/^the session could not be copied: .*No such file/s);
    expect([calls, uploads]).toEqual([[], []]);
  });

  it("fails for a file of more than 64 MiB", async () => {
    const { sessions, calls, write } = startSessions();
    write(PLACE, "");
    await run("truncate", ["-s", String(64 * 1024 * 1024 + 1), join(folder, "home", PLACE)]);
    await expect(sessions.save(SESSION)).rejects.toThrow("the session has more than 67108864 bytes");
    expect([calls, leftovers()]).toEqual([[], []]);
  });

  it("replaces what a command created in place of the copy", async () => {
    const { sessions, write } = startSessions();
    const elsewhere = join(folder, "elsewhere");
    symlinkSync(elsewhere, join(folder, "tmp", "runyard-transcript.jsonl"));
    write(PLACE, META);
    await sessions.save(SESSION);
    expect([uploads.length, existsSync(elsewhere)]).toEqual([1, false]);
  });
});
