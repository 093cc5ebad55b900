import { readdirSync, readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { createServer as createHangingServer, type Socket } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { CommandRequest, CommandResult } from "#harness/commands/command-runner.ts";
import { createWorkspace, type Workspace } from "#harness/isolation/workspace.ts";
import { createEgress } from "#harness/network/egress.ts";
import { createRedactor } from "#harness/redaction/redactor.ts";
import type { Outbox } from "#harness/reporting/outbox.ts";
import { reportStep } from "#harness/setup/report-step.ts";
import type { RunContext } from "#harness/setup/run-context.ts";
import { prepare } from "#harness/setup/setup.ts";
import type { SetupOptions } from "#harness/setup/setup-options.ts";
import { Repository } from "../support/repository.ts";

vi.setConfig({ testTimeout: 10_000, hookTimeout: 10_000 });

const CONTEXT: RunContext = {
  run_id: "run",
  execution_id: "execution",
  conversation_id: "conversation",
  title: "A run",
  mode: "normal",
  agent_config: {},
  attachments: [],
  messages: [],
  next_sequence: 1,
  followups: [],
  next_heartbeat_seconds: 30,
};

let workspace: Workspace;
let storage: Server;
let address = "";
beforeEach(async () => {
  workspace = createWorkspace();
  storage = createServer((request, response) => {
    const isKnown = request.url?.startsWith("/known") === true;
    response.writeHead(isKnown ? 200 : 403).end(isKnown ? `content of ${request.url}` : "");
  });
  await new Promise<void>((resolve) => storage.listen(0, "127.0.0.1", resolve));
  const listening = storage.address();
  address = `http://127.0.0.1:${typeof listening === "object" ? listening?.port : ""}`;
});
afterEach(async () => {
  storage.close();
  await workspace.remove();
});

type Event = Parameters<Outbox["event"]>;

function createOutbox() {
  const events: Event[] = [];
  const outbox: Outbox = {
    message: () => {},
    event: (...event) => void events.push(event),
    flush: async () => {},
    takeUnsent: async () => undefined,
  };
  return {
    events,
    outbox,
    listEvents: () => events.map(([name, payload]) => [name, payload?.["is_error"], payload?.["detail"]]),
  };
}

/** Sets up a workspace for a run with this context. */
function start(context: Partial<RunContext>, given: Partial<SetupOptions> = {}, result: Partial<CommandResult> = {}) {
  const { listEvents, outbox } = createOutbox();
  const requests: CommandRequest[] = [];
  const redactor = createRedactor([]);
  const work = prepare({
    context: { ...CONTEXT, ...context },
    workspace,
    outbox,
    redactor,
    egress: createEgress(context.network?.mode),
    runner: {
      async run(request) {
        requests.push(request);
        const { command, workingDirectory } = request;
        const ended = { exitCode: 0, timedOut: false, durationMs: 1, text: "", truncated: false, ...result };
        return { command, workingDirectory, ...ended };
      },
    },
    live: { open: () => ({ push: () => {}, skip: () => {}, end: () => {} }) },
    seen: "/workspace",
    deadlineAt: Number.POSITIVE_INFINITY,
    signal: new AbortController().signal,
    restore: () => Promise.reject(new Error("not used")),
    ...given,
  });
  return { work, listEvents, requests, redactor };
}

const attachment = (attachment_id: string, filename: string, path = `/known/${attachment_id}`) => ({
  attachment_id,
  filename,
  download_url: `${address}${path}`,
});

describe("setting up a workspace", () => {
  it("does nothing for a run that needs nothing", async () => {
    const { work, listEvents } = start({});
    expect(await work).toEqual({ skills: [], clones: [], isRestored: false, workingDirectory: "" });
    expect([listEvents(), readdirSync(workspace.paths.workspace)]).toEqual([[], ["output"]]);
  });

  it("downloads attachments with plain and different names", async () => {
    const names = ["a.txt", "a.txt", "../b.txt", "c\\d.txt", "..", ".", "e/"];
    const { work, listEvents } = start({
      attachments: names.map((name, index) => attachment(`id-${index}`, name)),
      secrets: [{ name: "KEY", value: "v" }],
    });
    await work;
    const folder = join(workspace.paths.workspace, "attachments");
    const files = ["a.txt", "b.txt", "d.txt", "e", "id-1-a.txt", "id-4-..", "id-5-."];
    expect(readdirSync(folder)).toEqual(files);
    const contents = files.map((name) => readFileSync(join(folder, name), "utf8"));
    expect(contents).toEqual([0, 2, 3, 6, 1, 4, 5].map((index) => `content of /known/id-${index}`));
    expect(listEvents()).toEqual([["setup_environment_resolution", false, "7 attachments, 1 secret"]]);
  });

  it("names the attachment that storage refuses, and every secret that is not available", async () => {
    const { work, listEvents } = start({ attachments: [attachment("id", "plans/a.txt", "/unknown")] });
    const message = "attachment plans/a.txt could not be downloaded: storage returned 403";
    await expect(work).rejects.toMatchObject({ name: "SetupError", message });
    expect(listEvents()).toEqual([["setup_environment_resolution", true, message]]);
    const secrets = ["A", "B"].map((name) => ({ name, unavailable: "was deleted" }));
    const other = start({ secrets, attachments: [attachment("id", "a.txt")] });
    await expect(other.work).rejects.toThrow("secret A: was deleted; secret B: was deleted");
    expect(readdirSync(join(workspace.paths.workspace, "attachments"))).toEqual([]);
    const stopped = new Error("the execution was cancelled");
    const signal = AbortSignal.abort(stopped);
    await expect(start({ attachments: [attachment("id", "b.txt")] }, { signal }).work).rejects.toBe(stopped);
  });

  it("uses the workspace of an earlier execution, whose repositories and attachments it has", async () => {
    const repositories = [{ url: "https://git.example/o/one.git" }];
    const context = {
      agent_config: { repositories },
      attachments: [attachment("id", "a.txt")],
      setup_commands: ["npm ci"],
      checkpoint: {
        generation: "checkpoint-1",
        files: [{ filename: "a", download_url: "b", mime_type: "c/d", size_bytes: 1 }],
      },
    };
    const { work, listEvents, requests } = start(context, { restore: async () => true });
    expect(await work).toEqual({
      skills: [],
      clones: [{ owner: "o", name: "one", path: "one", commit: "" }],
      isRestored: true,
      workingDirectory: "one",
    });
    expect(listEvents()).toEqual([
      ["setup_environment_resolution", false, "the workspace of the previous execution"],
      ["setup_environment_resolution", false, "1 attachment"],
      ["setup_commands", false, "npm ci"],
    ]);
    expect(requests).toMatchObject([{ command: "npm ci", workingDirectory: "/workspace/one" }]);
    expect(readdirSync(workspace.paths.workspace)).toEqual(["output"]);
    const secrets = [{ name: "KEY", unavailable: "was deleted" }];
    const refused = start({ ...context, secrets }, { restore: async () => true });
    await expect(refused.work).rejects.toThrow("secret KEY: was deleted");
    const { checkpoint } = context;
    const lost = start({ checkpoint, attachments: [attachment("id", "a.txt")] }, { restore: async () => false });
    expect(await lost.work).toMatchObject({ isRestored: false });
    expect(readdirSync(join(workspace.paths.workspace, "attachments"))).toEqual(["a.txt"]);
    const empty = { ...checkpoint, files: [] };
    expect(await start({ checkpoint: empty }).work).toMatchObject({ isRestored: false });
  });

  it("clones repositories, starts in the only one, and loads skills", async () => {
    using one = new Repository("one", { "SKILL.md": "---\nname: looks\n---\nLook.\n" });
    using two = new Repository("two", { "a.txt": "" });
    const first = start({ agent_config: { repositories: [{ url: one.url }], skills: ["one:SKILL.md"] } });
    expect(await first.work).toMatchObject({
      skills: [{ name: "looks", body: "Look.\n" }],
      clones: [{ name: "one", path: "one", commit: one.git("rev-parse", "HEAD") }],
      workingDirectory: "one",
    });
    expect(first.listEvents()).toEqual([
      ["setup_repo_clone", false, one.url],
      ["setup_skill_loading", false, "one:SKILL.md"],
    ]);
    const again = createWorkspace();
    try {
      const repositories = [{ url: one.url }, { url: two.url }];
      const context = { agent_config: { repositories, skill_spec: "one:SKILL.md" } };
      const { clones, skills, workingDirectory } = await start(context, { workspace: again }).work;
      expect([clones.map(({ path }) => path), skills.length, workingDirectory]).toEqual([["one", "two"], 1, ""]);
    } finally {
      await again.remove();
    }
  });

  it("reports a failed clone without the credentials of its URL, after the others have ended", async () => {
    using one = new Repository("one", { "a.txt": "" });
    const url = "https://user-of-it:p4ss-word@127.0.0.1:1/o/none";
    const { work, listEvents, redactor } = start({ agent_config: { repositories: [{ url }, { url: one.url }] } });
    await expect(work).rejects.toMatchObject({ name: "SetupError" });
    // A clone that takes a second is also reported when it has started.
    const reported = listEvents().filter(([name]) => name !== "setup_started");
    expect(reported.toSorted()).toEqual([
      ["setup_repo_clone", false, one.url],
      ["setup_repo_clone", true, expect.stringContaining("cloning https://***@127.0.0.1:1/o/none failed")],
    ]);
    expect(redactor.text("user-of-it p4ss-word")).toBe("*** ***");
  });

  it("clones no longer than the execution lasts", async () => {
    const sockets = new Set<Socket>();
    const hanging = createHangingServer((socket) => void sockets.add(socket));
    await new Promise<void>((resolve) => hanging.listen(0, "127.0.0.1", resolve));
    const listening = hanging.address();
    const url = `https://127.0.0.1:${typeof listening === "object" ? listening?.port : ""}/o/r`;
    const { work } = start({ agent_config: { repositories: [{ url }] } }, { deadlineAt: Date.now() + 200 });
    await expect(work).rejects.toThrow(`cloning ${url} failed: git did not end within 0 s`);
    for (const socket of sockets) socket.destroy();
    hanging.close();
  });

  it("redacts the token that a repository is cloned with", async () => {
    const url = "https://127.0.0.1:1/o/none";
    const repository_tokens = [{ url, token: "made-token", expires_at: "2030-01-01T00:00:00.000Z" }];
    const context = { agent_config: { repositories: [{ url }] }, repository_tokens };
    const { work, redactor } = start(context);
    await expect(work).rejects.toThrow("cloning");
    expect(redactor.text("made-token")).toBe("***");
  });

  it("redacts no short user name", async () => {
    const { work, redactor } = start({ agent_config: { repositories: [{ url: "https://user1234@127.0.0.1:1/o/r" }] } });
    await expect(work).rejects.toThrow();
    expect(redactor.text("user1234")).toBe("***");
    const other = start({ agent_config: { repositories: [{ url: "https://user123@127.0.0.1:1/o/r" }] } });
    await expect(other.work).rejects.toThrow();
    expect(other.redactor.text("user123")).toBe("user123");
  });
});

describe("a setup command", () => {
  it("shows the end of what a successful command printed in the timeline", async () => {
    const text = Array.from({ length: 12 }, (_, line) => `line ${line}\n`).join("");
    const { work, listEvents } = start({ setup_commands: ["make"] }, {}, { text });
    await work;
    const last = text.split("\n").slice(2, 12).join("\n");
    expect(listEvents()).toEqual([["setup_commands", false, `make\n${last}`]]);
  });

  it("starts where the agent's first command does, within its time", async () => {
    using one = new Repository("one", { "a.txt": "" });
    const context = { agent_config: { repositories: [{ url: one.url }] }, setup_commands: ["npm ci", "npm test"] };
    const { work, listEvents, requests } = start(context);
    await work;
    expect(requests).toEqual(
      ["npm ci", "npm test"].map((command) => ({
        command,
        workingDirectory: "/workspace/one",
        timeoutMs: 600_000,
        isShown: true,
        onOutput: expect.any(Function),
      })),
    );
    expect(listEvents().slice(1)).toEqual([
      ["setup_commands", false, "npm ci"],
      ["setup_commands", false, "npm test"],
    ]);
    const late = start({ setup_commands: ["ls"] }, { deadlineAt: 0 });
    await late.work;
    expect(late.requests).toMatchObject([{ command: "ls", workingDirectory: "/workspace", timeoutMs: 1 }]);
    const soon = start({ setup_commands: ["ls"] }, { deadlineAt: Date.now() + 60_000 });
    await soon.work;
    expect(soon.requests[0]?.timeoutMs).toBeGreaterThan(50_000);
  });

  const lines = (count: number, text = "line") =>
    Array.from({ length: count }, (_, index) => `${text} ${index}`).join("\n");
  const TEN = Array.from({ length: 10 }, (_, index) => `line ${index + 2}`).join("\n");
  it.each<[string, Partial<CommandResult>, string]>([
    ["its exit code", { exitCode: 3, text: " \n" }, 'the setup command "ls" ended with exit code 3'],
    [
      "that it took too long",
      { exitCode: 124, timedOut: true },
      'the setup command "ls" took longer than 600 s (exit code 124)',
    ],
    [
      "its last ten lines",
      { exitCode: 1, text: `${lines(12)}\n\n` },
      `the setup command "ls" ended with exit code 1:\n${TEN}`,
    ],
    [
      "as many whole lines as fit",
      { exitCode: 1, text: lines(4, "x".repeat(400)) },
      `the setup command "ls" ended with exit code 1:\n${"x".repeat(400)} 2\n${"x".repeat(400)} 3`,
    ],
    [
      "the end of a long line, and the start of a long command",
      { exitCode: 1, command: "c".repeat(300), text: `${"y".repeat(2_000)}` },
      `the setup command "${"c".repeat(200)}" ended with exit code 1:\n${"y".repeat(1_024 - 245)}`,
    ],
  ])("that fails reports %s", async (_, result, message) => {
    const { work, listEvents } = start({ setup_commands: ["ls", "pwd"] }, {}, result);
    await expect(work).rejects.toMatchObject({ name: "SetupError", message });
    expect(listEvents()).toEqual([["setup_commands", true, message]]);
  });
});

describe("reportStep", () => {
  it("reports duration and result, and the start of a step that takes a second", async () => {
    vi.useFakeTimers({ now: Date.parse("2026-11-23T08:00:00.000Z") });
    try {
      const { events, outbox } = createOutbox();
      const take = (ms: number) => async () => {
        await vi.advanceTimersByTimeAsync(ms);
        return ms;
      };
      expect(await reportStep(outbox, "setup_commands", "a\0", take(1_000))).toBe(1_000);
      expect(await reportStep(outbox, "setup_commands", (ms) => `took ${ms}\0`, take(999))).toBe(999);
      await expect(
        reportStep(
          outbox,
          "setup_commands",
          () => "unused",
          async () => {
            await vi.advanceTimersByTimeAsync(1_500);
            throw new Error("no\0");
          },
        ),
      ).rejects.toThrow("no");
      await vi.advanceTimersByTimeAsync(5_000);
      const at = (seconds: number) => new Date(Date.parse("2026-11-23T08:00:00.000Z") + seconds * 1_000).toISOString();
      const ended = (start: number, finish: number, is_error: boolean, detail: string) => [
        "setup_commands",
        {
          start_ts: at(start),
          finish_ts: at(finish),
          latency_ms: Math.round((finish - start) * 1_000),
          is_error,
          detail,
        },
      ];
      expect(events).toEqual([
        ["setup_started", { step: "setup_commands", start_ts: at(0), detail: "a\ufffd" }],
        ended(0, 1, false, "a\ufffd"),
        ended(1, 1.999, false, "took 999\ufffd"),
        ["setup_started", { step: "setup_commands", start_ts: at(1.999) }],
        ended(1.999, 3.499, true, "no\ufffd"),
      ]);
    } finally {
      vi.useRealTimers();
    }
  });
});
