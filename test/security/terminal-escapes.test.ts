import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { runAction } from "../../action/action.ts";
import { terminalLine, terminalText } from "../../cli/src/terminal-text.ts";
import { complain, say, step, warn } from "../../server/host/terminal.ts";
import { createPlayer } from "../cli/play.ts";
import { api, event, messages, problem, RUN } from "../cli/responses.ts";
import { FaultServer } from "../clients/fault-server.ts";

const server = new FaultServer();
const play = createPlayer(server);
beforeAll(() => server.start());
afterAll(() => server.stop());

/** Terminal control sequences, each with the text that it hides, forges or reorders. */
const ATTACKS = {
  "a title (OSC 0)": "\u001b]0;owned\u0007",
  "a link with another target (OSC 8)": "\u001b]8;;https://evil.test\u001b\\safe\u001b]8;;\u001b\\",
  "the clipboard (OSC 52)": "\u001b]52;c;cm0gLXJmIC8=\u0007",
  "a cleared screen (CSI J)": "\u001b[2J\u001b[H",
  "hidden text (SGR 8)": "\u001b[8m",
  "a private mode (CSI ? h)": "\u001b[?1049h",
  "a device report (DCS)": "\u001bP$q\u001b\\",
  "an application command (APC)": "\u001b_G\u001b\\",
  "a reset (RIS)": "\u001bc",
  "CSI in one byte of C1": "\u009b31m",
  "OSC and its end in bytes of C1": "\u009d0;owned\u009c",
  "DCS in one byte of C1": "\u0090q\u009c",
  "a next line of C1": "\u0085error: forged",
  backspaces: "abc\b\b\bxyz",
  deletes: "\u007f\u007f",
  "a carriage return": "\rerror: forged",
  "a line end": "\nerror: forged",
  "a line end of two characters": "\r\nerror: forged",
  "a vertical tab and a form feed": "\u000berror: forged\u000cerror: forged",
  "separators of Unicode": "\u2028error: forged\u2029error: forged",
  "a right-to-left override": "\u202egnp.exe\u202c",
  "a left-to-right override": "\u202dabc\u202c",
  isolates: "\u2066a\u2067b\u2068c\u2069",
  "marks of direction": "\u200e\u200f\u061c",
  "a bell and a null": "\u0007\u0000",
  "a shift out": "\u000e\u000f",
} as const;
const ALL = Object.values(ATTACKS).join("x");
const UNSAFE = /(?!\n)[\p{Cc}\p{Bidi_Control}\u2028\u2029]/u;
/** Our own colours do not count. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern searches for them
const PAINT = /\u001b\[(?:[0-2]|3[1-3])m/g;

function expectInert(text: string): void {
  expect(text.replace(PAINT, "")).not.toMatch(UNSAFE);
  expect(text.split("\n").filter((line) => line.replace(PAINT, "").startsWith("error: forged"))).toEqual([]);
}

describe("terminalText", () => {
  it.each(Object.entries(ATTACKS))("removes the control characters of %s", (_, attack) => {
    expect(terminalText(`a${attack}b`).replace(PAINT, "")).not.toMatch(UNSAFE);
    expectInert(terminalLine(`a${attack}b`));
  });

  it("removes whole sequences, also those that do not end", () => {
    expect(terminalText(`a${ATTACKS["a title (OSC 0)"]}b${ATTACKS["a private mode (CSI ? h)"]}c`)).toBe("abc");
    expect(terminalText("a\u001b[38;5")).toBe("a");
  });

  it("keeps text of all scripts, emoji and line breaks", () => {
    const text = "naïve Ω שלום عربي 漢字 👩‍👩‍👧 é\n\nend";
    expect(terminalText(text)).toBe(text);
  });
});

const NAMED = { uid: ALL, name: ALL, display_name: ALL, email: ALL, description: ALL, created_at: ALL };
const SCHEDULE = { ...NAMED, id: ALL, cron_schedule: ALL, prompt: ALL, enabled: true, history: { next_run: ALL } };
const HOSTILE_RUN = { ...RUN, run_id: ALL, title: ALL, prompt: ALL, state: ALL, session_link: ALL, created_at: ALL };
const WITH_MESSAGE = { ...HOSTILE_RUN, creator: NAMED, status_message: { message: "said" }, run_time: ALL };
const LAST = { has_next_page: false };
const ARTIFACT = { artifact_type: ALL, created_at: ALL, data: { artifact_uid: ALL, filename: ALL, title: ALL } };

const COMMANDS: Record<string, readonly [readonly string[], readonly ReturnType<typeof api>[]]> = {
  "runs list": [["runs", "list"], [api({ runs: [HOSTILE_RUN], page_info: LAST })]],
  "runs get": [["runs", "get", "r1"], [api(WITH_MESSAGE)]],
  "runs artifacts": [["runs", "artifacts", "r1"], [api({ ...WITH_MESSAGE, artifacts: [ARTIFACT] })]],
  "runs response": [
    ["runs", "response", "r1"],
    [api({ text: "owned\u001b[2J\u009b\u202e", state: ALL, artifacts: [] })],
  ],
  run: [["run", "x"], [api({ run_id: ALL, task_id: ALL, state: ALL })]],
  "secrets set": [["secrets", "set", "A", "--json"], [api({ ...NAMED })]],
  "secrets list": [["secrets", "list"], [api({ secrets: [NAMED] })]],
  "schedules list": [["schedules", "list"], [api({ schedules: [SCHEDULE], page_info: LAST })]],
  "schedules pause": [["schedules", "pause", "11111111-1111-7111-8111-111111111111"], [api(SCHEDULE)]],
  "models list": [["models", "list"], [api({ models: [{ ...NAMED, id: ALL, provider: ALL }], default_model_id: ALL })]],
  whoami: [["whoami"], [api({ ...NAMED, teams: [{ uid: ALL, name: ALL, role: ALL }] })]],
  "agents list": [["agents", "list"], [api({ agents: [NAMED], page_info: LAST })]],
  "a refusal": [
    ["runs", "get", "r1"],
    [problem(400, ALL, ALL, { title: ALL, trace_id: ALL, errors: [{ path: ALL, message: ALL }] })],
  ],
};

describe("the command line", () => {
  for (const terminal of [true, false]) {
    const place = terminal ? "on a terminal" : "in a pipe";
    it.each(Object.entries(COMMANDS))(
      `prints no control character from others ${place}: %s`,
      async (_, [args, responses]) => {
        server.play([...responses]);
        const { out, err } = await play(args, { terminal, input: "value" });
        expectInert(out);
        expectInert(err);
        expect(out + err).toMatch(/safe|owned/);
      },
    );
  }

  it("prints JSON with the service's values, without control characters", async () => {
    const response = { runs: [HOSTILE_RUN], page_info: LAST };
    server.play([api(response)]);
    const { out } = await play(["runs", "list", "--json"]);
    expect(out).not.toMatch(UNSAFE);
    expect(JSON.parse(out)).toEqual(response);
  });

  it("prints no control character of followed events", async () => {
    const { shell } = await follow();
    // The line with the elapsed time erases itself with spaces between two carriage returns.
    expectInert(shell.replaceAll(/\r +\r/g, ""));
  });
});

async function follow(): Promise<{ shell: string }> {
  const result = { type: "action_result", action_id: "a", category: "command", name: ALL, state: "failed" };
  const events = [
    event(1, "run_queued", { state: "QUEUED" }),
    event(2, "setup_repo_clone", { duration_ms: 400, is_error: true, name: ALL, detail: ALL, message: ALL }),
    messages(3, "assistant", { type: "text", text: `before${ATTACKS["a cleared screen (CSI J)"]}after` }),
    messages(4, "assistant", {
      type: "action",
      id: "a",
      category: "command",
      name: ALL,
      input: { command: "x\u001b[2J" },
    }),
    messages(5, "tool", { ...result, output: { exit_code: 1, stdout: "x\u009b2J\u202e" } }),
  ];
  const ended = { ...WITH_MESSAGE, run_id: "r1", state: "FAILED" };
  server.play([
    api({ events, next: 5, ended: true }),
    api(ended),
    api({ text: "the end", state: "FAILED", artifacts: [] }),
  ]);
  const { out, err } = await play(["runs", "follow", "r1"], { terminal: true });
  return { shell: out + err };
}

describe("the GitHub Action", () => {
  it("prints no control character and no runner command of the sandbox", async () => {
    const printed: string[] = [];
    const ended = {
      ...WITH_MESSAGE,
      run_id: "r1",
      state: "::set-env name=PATH::/evil",
      status_message: { message: ALL },
    };
    server.play([
      api({ run_id: "\n::add-path::/evil", task_id: "r1", state: "QUEUED" }),
      api({ events: [event(1, "setup_repo_clone", { name: ALL, detail: ALL })], next: 1, ended: true }),
      api(ended),
      api({ text: ALL, state: "FAILED", artifacts: [] }),
    ]);
    const env = { "INPUT_BASE-URL": server.api, "INPUT_API-KEY": "rya_secret", INPUT_PROMPT: "x" };
    await runAction({ env, print: (line) => void printed.push(line), onCancel: () => () => {} });
    expect(printed.length).toBeGreaterThan(3);
    for (const line of printed) expect(line).not.toMatch(/[\n\p{Cc}\p{Bidi_Control}]/u);
    const commands = printed.filter((line) => line.startsWith("::")).map((line) => line.split(/[ :]+/)[1]);
    expect(new Set(commands)).toEqual(new Set(["add-mask", "error"]));
  });
});

describe("the local start", () => {
  it("prints no control character of a run, a log or a step", async () => {
    const printed: string[] = [];
    const keep = (text: unknown) => void printed.push(String(text));
    const spies = [
      vi.spyOn(console, "log").mockImplementation(keep),
      vi.spyOn(console, "error").mockImplementation(keep),
    ];
    say(ALL);
    warn(ALL);
    complain(ALL);
    await step(ALL, async (note) => note(ALL));
    for (const spy of spies) spy.mockRestore();
    expect(printed).toHaveLength(4);
    for (const text of printed) expect(text.replace(PAINT, "")).not.toMatch(UNSAFE);
  });
});
