import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it, vi } from "vitest";
import { readsInput } from "#harness/isolation/process-states.ts";
import { createBackgroundStage } from "../support/background-stage.ts";
import { SECRET } from "../support/command-stage.ts";
import { newMark, sleepers } from "../support/processes.ts";

vi.setConfig({ testTimeout: 240_000 });
const PATIENT = { timeout: 120_000 };
/** A wait that a busy machine does not exceed. */
const LONG = { timeout_seconds: 120 };

const SERVER = `const http = require("node:http");
const page = require("node:fs").readFileSync("page.txt", "utf8").trim();
http.createServer((_, response) => response.end(page)).listen(3000, () => console.log("serving " + page));`;

const QUESTIONS = `const lines = require("node:readline").createInterface({ input: process.stdin, output: process.stdout });
const names = ["name", "version", "licence"];
const ask = (answers) => {
  if (answers.length === 3) { console.log("made " + answers.join(",")); lines.close(); return; }
  lines.question(names[answers.length] + ": ", (answer) => ask([...answers, answer]));
};
ask([]);`;

describe.concurrent("background commands", () => {
  it("let a development server live while other commands test it, reload it, and stop it", async ({ expect }) => {
    await using stage = await createBackgroundStage();
    writeFileSync(join(stage.host.workspace, "server.cjs"), SERVER);
    writeFileSync(join(stage.host.workspace, "page.txt"), "one\n");
    const fetchPage = "node -e 'fetch(\"http://localhost:3000\").then((it) => it.text()).then(console.log)'";
    await stage.start("node --watch-path=page.txt server.cjs");
    const up = await stage.read({ port: 3000, ...LONG });
    expect(up.output).toMatchObject({ command_id: "background-1", state: "running", ports: [3000], matched: true });
    expect(await stage.run(fetchPage)).toMatchObject({ exitCode: 0, text: "one\n" });
    expect(await stage.run("printf two > page.txt")).toMatchObject({ exitCode: 0 });
    const reloaded = await stage.read({ wait_for: "serving two", ...LONG });
    expect(reloaded.output).toMatchObject({ matched: true, stdout: expect.stringContaining("serving two") });
    expect(stage.live()).toContain("serving two");
    expect(await stage.run(fetchPage)).toMatchObject({ exitCode: 0, text: "two\n" });
    const stopped = await stage.use("stop_command", { command_id: "background-1" });
    expect(stopped.output).toMatchObject({ state: "ended", reason: "it was stopped by stop_command" });
    expect(await stage.run(fetchPage)).toMatchObject({ exitCode: 1 });
  });

  it("answer the questions of an interactive program", async ({ expect }) => {
    await using stage = await createBackgroundStage();
    writeFileSync(join(stage.host.workspace, "questions.cjs"), QUESTIONS);
    await stage.start("node questions.cjs");
    for (const [question, answer] of [
      ["name:", "shop"],
      ["version:", "1.2.3"],
      ["licence:", "MIT"],
    ]) {
      expect((await stage.read({ wait_for: question, ...LONG })).output).toMatchObject({ matched: true });
      await stage.use("write_command", { command_id: "background-1", text: `${answer}\n` });
    }
    const { output } = await stage.read({ wait_for: "made *,MIT", ...LONG });
    expect(output).toMatchObject({ matched: true, stdout: expect.stringContaining("made shop,1.2.3,MIT\n") });
  });
});

describe.concurrent.each(["bubblewrap", "none"])("a background command (%s)", (kind) => {
  it("outlives the call that started it, while what a foreground command leaves ends with it", async ({ expect }) => {
    await using stage = await createBackgroundStage({ kind });
    const [kept, left] = [newMark(), newMark()];
    await stage.start(`setsid sleep ${kept} & sleep ${kept}`);
    await stage.run(`setsid sleep ${left} & true`);
    expect([sleepers(kept), sleepers(left)]).toEqual([2, 0]);
    await stage.use("stop_command", { command_id: "background-1" });
    expect(sleepers(kept)).toBe(0);
  });

  it("ends with the execution, however that ends", async ({ expect }) => {
    const marks = [newMark(), newMark()];
    await using cancelled = await createBackgroundStage({ kind });
    await using finished = await createBackgroundStage({ kind });
    await cancelled.start(`sleep ${marks[0]}`);
    await finished.start(`setsid sleep ${marks[1]} & sleep ${marks[1]}`);
    cancelled.stop.abort(new Error("cancelled"));
    await finished.background.close();
    await expect.poll(() => marks.map(sleepers), PATIENT).toEqual([0, 0]);
    expect(finished.background.list().map(({ end }) => end?.reason)).toEqual(["the execution ended"]);
    await expect(cancelled.start("true")).rejects.toThrow("cancelled");
  });

  it("returns each part of its output once, redacted, and its exit code", async ({ expect }) => {
    await using stage = await createBackgroundStage({ kind });
    const started = await stage.start('echo "begin $TOKEN"; read -r line; echo "got $line" >&2; exit 3');
    const begun = await stage.read({ wait_for: "begin", ...LONG });
    expect([started.output["state"], begun.output["stdout"]]).toEqual(["running", "begin ***\n"]);
    await stage.use("write_command", { command_id: "background-1", text: `${SECRET}\n`, end: true });
    await expect.poll(() => stage.background.find("background-1").end, PATIENT).toEqual({ exitCode: 3 });
    expect((await stage.read()).output).toEqual({
      ...{ command_id: "background-1", state: "ended", exit_code: 3, stdout: "got ***\n" },
    });
    expect((await stage.read()).output["stdout"]).toBe("");
  });

  it("is frozen with all its processes until it is thawed", async ({ expect }) => {
    await using stage = await createBackgroundStage({ kind });
    await stage.start("while true; do echo x >> grown.txt; sleep 0.01; done");
    const started = stage.background.find("background-1");
    const size = () => statSync(join(stage.host.workspace, "grown.txt"), { throwIfNoEntry: false })?.size ?? 0;
    const look = () => ({ end: started.end, output: started.read(true).text, hasGrown: size() > 0 });
    await expect.poll(look, PATIENT).toEqual({ end: undefined, output: "", hasGrown: true });
    const thaw = await stage.background.freeze();
    const frozenAt = size();
    const states = stage.background.list().flatMap((command) => command.listProcesses().map(readState));
    // A child may have ended, and its parent has stopped before it could know.
    expect(states.filter((state) => state === "T").length).toBeGreaterThan(0);
    expect(states.filter((state) => !["T", "Z", ""].includes(state))).toEqual([]);
    // A foreground command runs meanwhile, which takes many times as long as one of its steps.
    expect(await stage.run("sleep 0.5; cat grown.txt | wc -c")).toMatchObject({ text: `${frozenAt}\n` });
    thaw();
    await expect.poll(size, PATIENT).toBeGreaterThan(frozenAt);
  });
});

describe.concurrent("tools for background commands", () => {
  it("say when a command waits for input, instead of waiting for its time limit", async ({ expect }) => {
    await using stage = await createBackgroundStage();
    await stage.start("printf 'Continue? '; read -r answer; echo \"$answer\"");
    const waiting = await stage.read({ wait_for: "never printed", timeout_seconds: 3_600 });
    expect(waiting).toMatchObject({ isError: true, output: { matched: false, waiting_for_input: true } });
    await stage.use("write_command", { command_id: "background-1", text: "yes\n" });
    expect((await stage.read({ wait_for: "yes", ...LONG })).output).toMatchObject({ matched: true });
  });

  it("explain unknown commands, ended ones, and those of an earlier execution", async ({ expect }) => {
    const earlier = [{ id: "background-4", number: 4, command: "npm start", isOpen: true }];
    await using stage = await createBackgroundStage({ earlier });
    await expect(stage.read()).rejects.toThrow("there is no background command background-1; there are: none");
    await expect(stage.read({ command_id: "background-4" })).rejects.toThrow(
      "the background command background-4 ended with the previous execution: start it again",
    );
    const started = await stage.start("exit 7");
    expect(started).toMatchObject({
      isError: true,
      output: { command_id: "background-5", state: "ended", exit_code: 7 },
    });
    const write = stage.use("write_command", { command_id: "background-5", text: "x" });
    await expect(write).rejects.toThrow("background-5 has ended: it takes no input");
    const again = await stage.use("stop_command", { command_id: "background-5" });
    expect(again.output).toMatchObject({ state: "ended", exit_code: 7 });
    await expect(stage.read({ command_id: "background-9" })).rejects.toThrow("there are: background-5");
  });

  it("refuse a ninth command until one is stopped", async ({ expect }) => {
    await using stage = await createBackgroundStage();
    const request = { command: "sleep 600", workingDirectory: stage.workingDirectory };
    const started = await Promise.allSettled(Array.from({ length: 9 }, () => stage.background.start(request)));
    expect(started.filter(({ status }) => status === "rejected")).toMatchObject([
      { reason: new Error("8 background commands are running, which is the limit: stop one with stop_command") },
    ]);
    await stage.background.list()[0]?.stop("test");
    await expect(stage.background.start(request)).resolves.toMatchObject({ id: "background-9" });
  });

  it("keep the end of a long output, and say how much is missing", async ({ expect }) => {
    await using stage = await createBackgroundStage();
    await stage.start("seq 200000; sleep 600");
    const { output } = await stage.read({ wait_for: "200000", ...LONG });
    const rest = String(output["stdout"]);
    expect(rest).toMatch(/^\[\.\.\. \d+ characters omitted \.\.\.\]\n/);
    expect([rest.endsWith("\n199999\n200000\n"), rest.length < 17_000]).toEqual([true, true]);
  });

  it("end a command at its own time limit, and at the limits that all commands share", async ({ expect }) => {
    await using stage = await createBackgroundStage({ limits: { processes: 12 } });
    await stage.start("sleep 600", { timeout_seconds: 1 });
    const first = stage.background.find("background-1");
    await expect.poll(() => first.end?.reason, PATIENT).toBe("it did not end within its 1 s");
    await stage.start("sleep 600");
    await stage.start("for i in 1 2 3 4 5 6 7 8 9; do sleep 600 & done; wait");
    const [, small, large] = stage.background.list();
    await expect.poll(() => large?.end?.reason, PATIENT).toBe("it had more than 12 processes and threads");
    expect(small?.end).toBe(undefined);
  });
});

it("BackgroundCommand.waitFor reads what a command has printed before it takes it for silent", async ({ expect }) => {
  await using stage = await createBackgroundStage({ kind: "none" });
  const request = { command: "echo ready; read -r line", workingDirectory: stage.workingDirectory };
  const command = await stage.background.start(request);
  const startedAt = performance.now();
  const waitsForInput = () => performance.now() - startedAt > 3_100 && readsInput(command.listProcesses());
  const pause = new Int32Array(new SharedArrayBuffer(4));
  const isReady = () => {
    // The harness reads no output meanwhile, as on a machine where it has to wait for a processor.
    while (!waitsForInput()) Atomics.wait(pause, 0, 0, 10);
    return command.hasLine((line) => line === "ready");
  };
  const wait = { timeoutMs: PATIENT.timeout, signal: stage.stop.signal };
  expect(await command.waitFor(isReady, wait)).toBe(true);
});

function readState(pid: number): string {
  const path = `/proc/${pid}/stat`;
  return existsSync(path) ? (/\) (\w)/.exec(readFileSync(path, "latin1"))?.[1] ?? "") : "";
}
