import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { CommandRequest, CommandResult } from "#harness/commands/command-runner.ts";
import type { Turn } from "#harness/engine/engine.ts";
import { createRedactor } from "#harness/redaction/redactor.ts";
import { codex } from "#harness/third-party/codex.ts";
import { TAP, TAP_FILE, WATCHED_FILE } from "#harness/third-party/command-output.ts";
import { createThirdPartyEngine, type ThirdPartyOptions } from "#harness/third-party/engine.ts";
import { gemini } from "#harness/third-party/gemini.ts";
import { RELAY, RELAY_FILE } from "#harness/third-party/relay.ts";
import { buildTurnScript } from "#harness/third-party/turn-script.ts";
import type { Message } from "#shared/wire/conversation.ts";

/** A test that waits for a missing response fails soon. */
vi.setConfig({ testTimeout: 10_000, hookTimeout: 10_000 });

const SESSION = "accecc35-1925-4e37-8d7e-083eef3f9720";
const STARTED = { type: "thread.started", thread_id: SESSION };
const AGENT_MESSAGE = { type: "item.completed", item: { id: "1", type: "agent_message", text: "All done." } };
const DONE = { type: "turn.completed" };

const GO_ON =
  "You were interrupted while you worked on this. Check what is done already, and continue where you stopped.";
const CANCELLED =
  "The earlier instructions that you have not answered were cancelled. Do not continue with them; only do what is asked now.";
const formatHistory = (text: string) =>
  `This conversation started without you. The messages and actions so far:\n\n<conversation>\n${text}\n</conversation>`;

const user = (text: string): Message => ({ role: "user", content: [{ type: "text", text }] });
const agent = (text: string): Message => ({ role: "assistant", content: [{ type: "text", text }] });
const ACTION = { type: "action", id: "1", category: "command", name: "run_command", input: { command: "ls" } } as const;
const { id: action_id, input: _, ...KIND } = ACTION;
const ACTION_RESULT = { ...KIND, type: "action_result", action_id, state: "completed", output: {} } as const;
const acted: Message = { role: "assistant", content: [ACTION] };
const cancel: Message = { role: "system", content: [{ type: "event", name: "turn_cancelled", data: {} }] };

const RESULT = {
  command: "",
  exitCode: 0,
  timedOut: false,
  durationMs: 1,
  workingDirectory: "/w",
  text: "",
  truncated: false,
};

const turnOf = (prompt: string, ...conversation: Message[]): Turn => ({ instructions: [prompt], conversation });

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "engine-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** The surroundings of an engine. */
interface Surroundings {
  /** What the agent prints in a turn; a text is a line as it is. */
  printed: readonly unknown[];
  /** The end of its command. */
  result?: Partial<CommandResult>;
  /** The session that can be restored. */
  stored?: string | undefined;
  /** Why a session cannot be stored. */
  failure?: Error;
  /** Called after its output. */
  during(request: CommandRequest): Promise<void>;
}

/** An engine whose agent prints these lines, with records of its effects. */
function startEngine(given: Partial<ThirdPartyOptions> = {}) {
  const paths = { workspace: "/w", home: "/h", tmp: "/t", output: "/o" };
  const calls: string[] = [];
  const requests: CommandRequest[] = [];
  const messages: Message[] = [];
  const logged: unknown[] = [];
  const watchers = new Set<(isWatched: boolean) => void>();
  const state: Surroundings = { printed: [STARTED, AGENT_MESSAGE, DONE], during: async () => {} };
  const options: ThirdPartyOptions = {
    agent: codex,
    folder: "/programs",
    node: "/bin/node",
    modelId: "openai/gpt/x",
    reasoningLevel: "high",
    systemPrompt: "Be brief.",
    mode: "normal",
    context: { messages: [] },
    opening: ["Do it."],
    mcpServers: [],
    envelope: { model_url: "http://127.0.0.1:1", key: "ryr_key" },
    runner: {
      async run(request) {
        requests.push(request);
        calls.push("run");
        for (const line of state.printed)
          request.onOutput?.(Buffer.from(`${typeof line === "string" ? line : JSON.stringify(line)}\n`));
        await state.during(request);
        return { ...RESULT, ...state.result };
      },
    },
    outbox: {
      message: (message) => void messages.push(message),
      event: (name, payload) => void calls.push(`${name} ${JSON.stringify(payload)}`),
      flush: async () => void calls.push("flush"),
    },
    redactor: createRedactor([]),
    live: {
      text: () => {},
      open: () => ({ push: () => {}, skip: () => {}, end: () => {} }),
      onWatched(listener) {
        watchers.add(listener);
        listener(false);
        return () => void watchers.delete(listener);
      },
    },
    sessions: {
      async restore() {
        calls.push("restore");
        return state.stored;
      },
      async save(session) {
        calls.push(`save ${session}`);
        if (state.failure !== undefined) throw state.failure;
      },
    },
    slice: {
      deadlineAt: Number.POSITIVE_INFINITY,
      stepsEndAt: Number.POSITIVE_INFINITY,
      cutAt: 0,
      beforeStep: () => void calls.push("before"),
      afterStep: () => void calls.push("after"),
    },
    turn: () => new AbortController().signal,
    log: (...entry) => void logged.push(entry),
    host: { ...paths, steps: folder },
    seen: { ...paths, steps: "/steps" },
    workingDirectory: "/w/clone",
    ...given,
  };
  const engine = createThirdPartyEngine(options);
  const take = (turn: Turn) =>
    engine.takeTurn(turn, {
      all: [],
      runCommand: () => Promise.reject(new Error("not used")),
      startCommand: () => Promise.reject(new Error("not used")),
      use: () => Promise.reject(new Error("not used")),
    });
  const readStep = (name: string) => readFileSync(join(folder, name), "utf8");
  return { take, state, calls, requests, messages, logged, watchers, readStep };
}

describe("the prompt of a third-party agent", () => {
  const EARLIER = [user("Before."), agent("Yes.")];
  const history = formatHistory("user: Before.\n\nassistant: Yes.");
  it.each<[string, Message[], string | undefined, string]>([
    ["only the instructions without earlier messages", [], undefined, "Do it."],
    ["only the instructions if they are the only message", [user("Do it.")], SESSION, "Do it."],
    ["the earlier conversation without a session", [...EARLIER, user("Do it.")], undefined, `${history}\n\nDo it.`],
    ["the earlier conversation before its message is stored", EARLIER, undefined, `${history}\n\nDo it.`],
    ["only the instructions in a restored session", [...EARLIER, user("Do it.")], SESSION, "Do it."],
    [
      "earlier actions without their results, and that it was interrupted",
      [user("Do it."), acted, { role: "tool", content: [ACTION_RESULT] }],
      undefined,
      `${formatHistory('user: Do it.\n\nassistant did: run_command {"command":"ls"}')}\n\n${GO_ON}\n\nDo it.`,
    ],
    [
      "that it was interrupted after an action without a result",
      [user("Do it."), acted],
      SESSION,
      `${GO_ON}\n\nDo it.`,
    ],
    ["that earlier instructions were cancelled", [user("Not this."), cancel], SESSION, `${CANCELLED}\n\nDo it.`],
    [
      "no cancellation that the history shows",
      [user("Not this."), cancel],
      undefined,
      `${formatHistory("user: Not this.")}\n\nDo it.`,
    ],
    ["no cancellation before a later response", [user("Not this."), cancel, agent("Well.")], SESSION, "Do it."],
  ])("has %s", async (_, conversation, stored, expected) => {
    const it = startEngine();
    it.state.stored = stored;
    await it.take(turnOf("Do it.", ...conversation));
    expect(it.readStep("prompt-1.md")).toBe(expected);
    expect(it.calls.includes("restore")).toBe(conversation.length > 1);
    const isRestored = stored !== undefined && conversation.length > 1;
    expect(it.requests[0]?.command.includes(`exec resume --json`)).toBe(isRestored);
    expect(it.requests[0]?.command.includes(SESSION)).toBe(isRestored);
  });

  it("shows the run's first instructions before the run's messages, unless they are one of them", async () => {
    const followup = async (own: Message[], opening = ["A skill.", "Do it."]) => {
      const messages = [...EARLIER, ...own];
      const it = startEngine({ opening, context: { messages, own_messages: own.length } });
      await it.take(turnOf("More.", ...messages, user("More.")));
      return it.readStep("prompt-1.md");
    };
    const before = "user: Before.\n\nassistant: Yes.";
    const open = "user: A skill.\n\nuser: Do it.";
    expect(await followup([agent("Done.")])).toBe(
      `${formatHistory(`${before}\n\n${open}\n\nassistant: Done.`)}\n\nMore.`,
    );
    const recorded = { ...user("Do it."), message_ids: ["prompt"] };
    const shown = `${formatHistory(`${before}\n\nuser: Do it.\n\nassistant: Done.`)}\n\nMore.`;
    expect(await followup([recorded, agent("Done.")])).toBe(shown);
    expect(await followup([user("Do it."), agent("Done.")], [])).toBe(shown);
  });

  it("joins its instructions, and shows only the end of a long conversation", async () => {
    const it = startEngine({ opening: ["A skill.", "Do it."] });
    const long = "x".repeat(65_536 - "\n\nassistant: Yes.".length);
    await it.take({ instructions: ["A skill.", "Do it."], conversation: [user(long), agent("Yes.")] });
    const shown = formatHistory(`${long}\n\nassistant: Yes.`);
    expect(it.readStep("prompt-1.md")).toBe(`${shown}\n\nA skill.\n\nDo it.`);
  });

  it("has only the instructions from the second turn on, which continues the session", async () => {
    const it = startEngine();
    await it.take(turnOf("Do it.", user("Do it.")));
    await it.take(turnOf("More.", user("Do it."), agent("Yes."), acted));
    expect(it.readStep("prompt-2.md")).toBe("More.");
    expect(it.calls).not.toContain("restore");
    expect(it.requests.map(({ command }) => command.includes(`" ${SESSION} -`))).toEqual([false, true]);
    expect(it.requests[1]?.command).toContain("/steps/m2");
  });
});

describe("a turn of a third-party agent", () => {
  it("runs the agent's script with its files, and stores messages before the session", async () => {
    const it = startEngine();
    expect(await it.take(turnOf("Do it."))).toEqual({ success: true, summary: "All done." });
    const request = {
      session: undefined,
      model: "gpt/x",
      reasoningLevel: "high",
      systemPrompt: "Be brief.",
      mode: "normal",
      mcpServers: [],
      workingDirectory: "/w/clone",
      files: "/steps",
    } as const;
    const program = { agent: codex, folder: "/programs", node: "/bin/node" };
    const files = { folder: "/steps", socket: "m1", prompt: "prompt-1.md" };
    expect(it.requests).toEqual([
      {
        command: buildTurnScript(program, codex.script(request), files),
        workingDirectory: "/w/clone",
        timeoutMs: 2 ** 31 - 1,
        signal: expect.any(AbortSignal),
        onOutput: expect.any(Function),
      },
    ]);
    expect(it.readStep("codex.toml")).toBe(codex.files(request)["codex.toml"]);
    expect([it.readStep(RELAY_FILE), it.readStep(TAP_FILE)]).toEqual([RELAY, TAP]);
    expect(it.calls).toEqual(["before", "run", "after", "after", "after", "flush", `save ${SESSION}`]);
    expect(it.logged).toEqual([]);
  });

  it.each<[string, readonly unknown[], Partial<CommandResult>, object]>([
    ["its summary without a text", [DONE], {}, { success: true, summary: "Done." }],
    [
      "the limit that it exceeded",
      [{ type: "turn.failed", error: { message: "cut" } }, "noise"],
      { exitCode: 137, exceeded: "the time limit" },
      { success: false, summary: "The harness codex ended with exit code 137: the time limit" },
    ],
    [
      "its own reason",
      [AGENT_MESSAGE, { type: "turn.failed", error: { message: "cut" } }, "noise"],
      { exitCode: 1 },
      { success: false, summary: "The harness codex ended with exit code 1: cut" },
    ],
    [
      "its last text",
      [AGENT_MESSAGE, "noise"],
      { exitCode: 1 },
      { success: false, summary: "The harness codex ended with exit code 1: All done." },
    ],
    [
      "its error output",
      ["noise"],
      { exitCode: 2 },
      { success: false, summary: "The harness codex ended with exit code 2: noise" },
    ],
    ["no reason", [], {}, { success: false, summary: "The harness codex ended with exit code 0: no reason was given" }],
  ])("ends with %s", async (_, printed, result, outcome) => {
    const it = startEngine();
    it.state.printed = printed;
    it.state.result = result;
    expect(await it.take(turnOf("Do it."))).toEqual(outcome);
    expect(it.calls.filter((call) => call !== "after")).toEqual(["before", "run"]);
  });

  it("reads a last line without a line break, and the summary of its end", async () => {
    const it = startEngine();
    it.state.printed = [];
    it.state.during = async ({ onOutput }) =>
      onOutput?.(Buffer.from(`${JSON.stringify(AGENT_MESSAGE)}\n${JSON.stringify(DONE)}`));
    expect(await it.take(turnOf("Do it."))).toEqual({ success: true, summary: "All done." });
    const summary = { ...codex, reader: () => ({ read: () => {}, session: () => undefined, ended: () => ENDED }) };
    const ENDED = { success: true, summary: "So it ended." };
    const other = startEngine({ agent: summary });
    expect(await other.take(turnOf("Do it."))).toEqual(ENDED);
  });

  it("ends when its session is stored, and not before", async () => {
    let isStored = false;
    const save = async () => {
      await new Promise((resolve) => setImmediate(resolve));
      isStored = true;
    };
    const it = startEngine({ sessions: { restore: async () => undefined, save } });
    await it.take(turnOf("Do it."));
    expect(isStored).toBe(true);
  });

  it("keeps the turn if its session cannot be stored, and logs why", async () => {
    const it = startEngine();
    it.state.failure = new Error("no space");
    expect(await it.take(turnOf("Do it."))).toEqual({ success: true, summary: "All done." });
    expect(it.logged).toEqual([["warn", "the agent's session was not stored", { detail: "no space" }]]);
  });

  it("ends unfinished actions, and stores the session of an interrupted turn", async () => {
    const controller = new AbortController();
    const it = startEngine({ turn: () => controller.signal });
    const item = { id: "c", type: "command_execution", command: "sleep 9", status: "in_progress" };
    it.state.printed = [STARTED, { type: "item.started", item }];
    it.state.during = async ({ signal }) => {
      controller.abort(new Error("interrupted"));
      signal?.throwIfAborted();
    };
    await expect(it.take(turnOf("Do it."))).rejects.toThrow("interrupted");
    expect(it.messages).toMatchObject([
      { role: "assistant", content: [{ type: "action", input: { command: "sleep 9" } }] },
      { role: "tool", content: [{ type: "action_result", state: "failed", output: { interrupted: true } }] },
    ]);
    expect(it.calls.slice(-2)).toEqual(["flush", `save ${SESSION}`]);
  });

  it("ends when the execution has no time for another step", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    try {
      let isOver = false;
      const beforeStep = () => {
        if (isOver) throw new Error("the time is over");
      };
      const it = startEngine({
        slice: { deadlineAt: 1, stepsEndAt: Number.POSITIVE_INFINITY, cutAt: 0, beforeStep, afterStep: () => {} },
      });
      it.state.during = async ({ signal }) => {
        vi.advanceTimersByTime(1_000);
        expect(signal?.aborted).toBe(false);
        isOver = true;
        vi.advanceTimersByTime(999);
        expect(signal?.aborted).toBe(false);
        vi.advanceTimersByTime(1);
        signal?.throwIfAborted();
      };
      await expect(it.take(turnOf("Do it."))).rejects.toThrow("the time is over");
      expect(vi.getTimerCount()).toBe(0);
      expect(it.requests[0]?.timeoutMs).toBe(1);
    } finally {
      vi.useRealTimers();
    }
  });

  it("may use all the time of the execution", async () => {
    const slice = {
      deadlineAt: Date.now() + 60_000,
      stepsEndAt: Number.POSITIVE_INFINITY,
      cutAt: 0,
      beforeStep: () => {},
      afterStep: () => {},
    };
    const it = startEngine({ slice });
    await it.take(turnOf("Do it."));
    expect(it.requests[0]?.timeoutMs).toBeGreaterThan(50_000);
    expect(it.requests[0]?.timeoutMs).toBeLessThanOrEqual(60_000);
  });

  it("names the socket for the output of commands while somebody watches", async () => {
    const it = startEngine();
    const watched = join(folder, WATCHED_FILE);
    it.state.during = async () => {
      const [watcher] = it.watchers;
      expect(existsSync(watched)).toBe(false);
      watcher?.(true);
      expect(readFileSync(watched, "utf8")).toBe("/steps/m1");
      watcher?.(false);
      expect(existsSync(watched)).toBe(false);
    };
    await it.take(turnOf("Do it."));
    expect([it.requests.length, it.watchers.size]).toEqual([1, 0]);
  });

  it("forwards calls of the model and the output of commands, until it ends", async () => {
    const pieces: string[] = [];
    const piecesOf = (chunk: Buffer) => void pieces.push(chunk.toString());
    const live = {
      text: () => {},
      open: () => ({ push: piecesOf, skip: () => {}, end: () => {} }),
      onWatched: () => () => {},
    };
    const it = startEngine({ agent: gemini, live });
    const post = (path: string, body: object) =>
      new Promise<number | undefined>((resolve, reject) => {
        const call = request({ socketPath: join(folder, "m1"), method: "POST", path }, (response) => {
          response.resume().on("end", () => resolve(response.statusCode));
        });
        call.on("error", reject).end(JSON.stringify(body));
      });
    it.state.printed = [
      { type: "tool_use", tool_name: "run_shell_command", tool_id: "r1", parameters: { command: "ls" } },
    ];
    it.state.during = async () => {
      const data = Buffer.from("a file\n").toString("base64");
      expect(await post("/runyard/output", { script: "ls", skipped: 0, data })).toBe(204);
      expect(await post("/openai/v1/responses", {})).toBe(502);
    };
    await it.take(turnOf("Do it."));
    expect(pieces).toEqual(["a file\n"]);
    expect(it.calls).toContainEqual(expect.stringMatching(/^model_retry \{"attempt":1,"reason":"fetch failed"\}$/));
    await expect(post("/openai/v1/responses", {})).rejects.toThrow();
  });
});
