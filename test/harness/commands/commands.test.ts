import { getEventListeners } from "node:events";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { type CommandRequest, type CommandResult, createCommandRunner } from "#harness/commands/command-runner.ts";
import { createShell } from "#harness/commands/shell.ts";
import { quoteForShell } from "#harness/commands/shell-quote.ts";
import { createStage, SECRET } from "../support/command-stage.ts";
import { newMark, sleepers } from "../support/processes.ts";

describe.each(["bubblewrap", "none"])("a command runner (%s)", (kind) => {
  it("returns the redacted command and output, exit code and directory", async () => {
    await using stage = await createStage(kind);
    const pieces: Buffer[] = [];
    const command = `echo "out $TOKEN"; echo err >&2; cd ${stage.seen.tmp}; (exit 3)`;
    const onOutput = (piece: Buffer) => void pieces.push(piece);
    const { durationMs, ...result } = await stage.run(`${command} # ${SECRET}`, { onOutput });
    expect(result).toEqual({
      command: `${command} # ***`,
      text: "out ***\nerr\n",
      truncated: false,
      exitCode: 3,
      timedOut: false,
      workingDirectory: stage.seen.tmp,
    });
    expect([Number.isInteger(durationMs), durationMs > 0]).toEqual([true, true]);
    expect(Buffer.concat(pieces).toString()).toBe(`out ${SECRET}\nerr\n`);
  });

  it("starts in the given directory, and keeps it if the command reports none", async () => {
    await using stage = await createStage(kind);
    mkdirSync(join(stage.host.workspace, "it's here"));
    const there = `${stage.seen.workspace}/it's here`;
    const moved = await stage.run("pwd", { workingDirectory: there });
    expect([moved.text, moved.workingDirectory]).toEqual([`${there}\n`, there]);
    const killed = await stage.run("cd /; kill -KILL $$");
    expect([killed.exitCode, killed.workingDirectory]).toEqual([137, stage.seen.workspace]);
    const absent = await stage.run("pwd", { workingDirectory: "/absent" });
    expect([absent.exitCode, absent.workingDirectory]).toEqual([1, "/absent"]);
  });

  it.each([
    ["replaces the trap", "trap 'echo bye' EXIT; cd /", "bye\n", 0],
    ["exits", "cd /; exit 4", "", 4],
    ["fails", "cd /; false; echo unreached", "", 1],
    ["fails in a pipe", "cd /; false | cat; echo unreached", "", 1],
    ["ends with a comment", "cd / # x", "", 0],
  ])("reports the directory of a command that %s", async (_, command, text, exitCode) => {
    await using stage = await createStage(kind);
    expect(await stage.run(command)).toMatchObject({ text, exitCode, workingDirectory: "/" });
  });

  it("ends a command at its time limit, with all that it started, and names another's limit", async () => {
    await using stage = await createStage(kind);
    await using second = await createStage(kind);
    const mark = newMark();
    const script = `setsid sleep ${mark} & echo began; sleep ${mark}`;
    const [late, other] = await Promise.all([
      stage.run(script, { timeoutMs: 5_000 }),
      second.run("printf began; sleep 60", { timeoutMs: 5_000, timeoutReason: "its time is up" }),
    ]);
    expect(late).toMatchObject({ text: "began\n", exitCode: 124, timedOut: true });
    expect("exceeded" in late).toBe(false);
    expect(sleepers(mark)).toBe(0);
    expect(other).toMatchObject({ exitCode: 124, timedOut: true, exceeded: "its time is up" });
    expect(other.text).toBe("began\n[the command was ended: its time is up]\n");
  });

  it("ends what a command leaves in the background", async () => {
    await using stage = await createStage(kind);
    const mark = newMark();
    const { text, exitCode } = await stage.run(`sleep ${mark} & (setsid sleep ${mark} &) ; echo done`);
    expect([text, exitCode, sleepers(mark)]).toEqual(["done\n", 0, 0]);
  });

  it("ends a command with the reason of either signal, and starts none after it", async () => {
    await using stage = await createStage(kind);
    const mark = newMark();
    const own = new AbortController();
    const running = stage.run(`sleep ${mark}`, { signal: own.signal });
    await expect.poll(() => sleepers(mark)).toBe(1);
    own.abort(new Error("the turn is over"));
    await expect(running).rejects.toThrow("the turn is over");
    expect(sleepers(mark)).toBe(0);
    await expect(stage.run("true", { signal: own.signal })).rejects.toThrow("the turn is over");
    const next = stage.run(`sleep ${mark}`);
    await expect.poll(() => sleepers(mark)).toBe(1);
    stage.stop.abort(new Error("the execution is over"));
    await expect(next).rejects.toThrow("the execution is over");
    await expect(stage.run("touch late")).rejects.toThrow("the execution is over");
    expect([sleepers(mark), existsSync(join(stage.host.workspace, "late"))]).toEqual([0, false]);
  });

  it("leaves neither a timer nor a listener of a command that has ended", async () => {
    await using stage = await createStage(kind);
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval"] });
    const counts = await stage
      .run("exit 3")
      .then(({ exitCode }) => [exitCode, vi.getTimerCount()])
      .finally(() => vi.useRealTimers());
    expect([...counts, getEventListeners(stage.stop.signal, "abort").length]).toEqual([3, 0, 0]);
  });

  it("starts no command if the execution ends while its script is written", async () => {
    await using stage = await createStage(kind);
    const starting = stage.run("touch late");
    stage.stop.abort(new Error("the execution is over"));
    await expect(starting).rejects.toThrow("the execution is over");
    expect(existsSync(join(stage.host.workspace, "late"))).toBe(false);
  });

  it("can commit with a default author, which configuration and variables of git replace", async () => {
    await using stage = await createStage(kind);
    const show = "git log -1 --format='%an <%ae> %cn'";
    const command = `git init -q r; cd r; git commit -q --allow-empty -m one; ${show}`;
    expect(await stage.run(command)).toMatchObject({
      text: "Runyard <agent@runyard.invalid> Runyard\n",
      exitCode: 0,
    });
    const own = `git config user.name Ada; export GIT_AUTHOR_EMAIL=a@example.com; git commit -q --allow-empty -m two; ${show}`;
    const second = await stage.run(own, { workingDirectory: `${stage.workingDirectory}/r` });
    expect(second.text).toBe("Ada <a@example.com> Ada\n");
  });

  it("captures no more of a command's output than its own limits", async () => {
    await using stage = await createStage(kind);
    const { text, truncated } = await stage.run("printf 'x%.0s' {1..900}", { limits: { readBytes: 100 } });
    expect([text.startsWith(`${"x".repeat(100)}\n[... 800 bytes omitted`), truncated]).toEqual([true, true]);
    expect((await stage.run("printf 'x%.0s' {1..900}")).text).toBe("x".repeat(900));
  });

  it("keeps the whole output of a command in a file that the next command reads", async () => {
    await using stage = await createStage(kind);
    const { text, file = "" } = await stage.run("seq 1 9000; printf 'FAIL_'; echo AT_END", { isShown: true });
    expect(text).toContain(`omitted; see ${stage.seen.steps}/output-1.txt ...]\n`);
    expect(text.endsWith("\n9000\nFAIL_AT_END\n")).toBe(true);
    expect((await stage.run(`wc -l < ${file}; grep -n ^4711$ ${file}`)).text.trim()).toBe("9001\n4711:4711");
    const piped = await stage.run("yes | head -n 1", { isShown: true });
    expect([piped.exitCode, piped.text]).toEqual([
      141,
      expect.stringMatching(/^y\n\[exit code 141 is SIGPIPE: .*\]\n$/),
    ]);
  });

  it("lets a command report no other directory through standard input or the report's descriptor", async () => {
    await using stage = await createStage(kind);
    expect(await stage.run("cat; echo relative >&3; cd /")).toMatchObject({ text: "", workingDirectory: "/" });
    const long = await stage.run("printf 'x%.0s' {1..9000} >&3; echo >&3; cd /");
    expect(long, "more than what is kept of a report").toMatchObject({ text: "", workingDirectory: "/" });
    const killed = await stage.run("echo /early >&3; printf 'x%.0s' {1..9000} >&3; kill -KILL $$");
    expect([killed.exitCode, killed.workingDirectory]).toEqual([137, stage.workingDirectory]);
  });
});

describe("a command runner", () => {
  it("names the limits of the run's files where a program found no space left, whatever the command ends with", async () => {
    await using stage = await createStage("bubblewrap");
    const { text } = await stage.run("echo 'No space left on device'", { isShown: true });
    expect(text).toMatch(
      /^No space left on device\n\[where no space is left: the run's files may take \d+ MiB, and be \d+ files\]\n$/,
    );
    expect((await stage.run("echo 'No space left on device'")).text).toBe("No space left on device\n");
  });

  it("says which signal ended a command that no sandbox contains", async () => {
    await using stage = await createStage("none");
    expect(await stage.run("kill -TERM $$")).toMatchObject({ exitCode: 143, signal: "SIGTERM" });
    expect("signal" in (await stage.run("exit 143"))).toBe(false);
  });

  it("does not wait for output that an unreachable process holds open", async () => {
    await using stage = await createStage("none");
    const script = `env -i setsid sh -c 'echo $$ > pid; exec sleep 600' & until [ -s pid ]; do sleep 0.01; done; echo done`;
    expect(await stage.run(script)).toMatchObject({ text: "done\n", exitCode: 0 });
    process.kill(Number(readFileSync(join(stage.host.workspace, "pid"), "utf8")), "SIGKILL");
  });

  it("ends a command for the files of the run, wherever the command may write them", async () => {
    vi.stubEnv("RUNYARD_RUN_FILES", "20");
    await using stage = await createStage("bubblewrap");
    const endless = "i=0; while :; do : > /tmp/f$((++i)); done";
    expect(await stage.run(endless)).toMatchObject({
      exitCode: 137,
      exceeded: "the run had more than 20 files; what changed last was removed",
    });
  });

  it("makes the kernel end a command before the harness when memory runs out", async () => {
    await using stage = await createStage("bubblewrap");
    const readScore = async () => (await stage.run("cat /proc/self/oom_score_adj")).text;
    await expect.poll(readScore).toBe("1000\n");
  });

  describe("whose boundary does not start", () => {
    /** A runner whose boundary is this program. */
    async function createBroken(...[file, ...args]: [string, ...string[]]) {
      const stage = await createStage("bubblewrap");
      const launch = () => ({ file, args, env: {}, cwd: "/" });
      const runner = createCommandRunner({ ...stage.options, sandbox: { ...stage.options.sandbox, launch } });
      const request = { command: "true", workingDirectory: "/" };
      return {
        run: (timeoutMs: number) => runner.run({ ...request, timeoutMs }),
        [Symbol.asyncDispose]: () => stage[Symbol.asyncDispose](),
      };
    }

    it("ends the execution with its error output", async () => {
      await using stage = await createBroken("sh", "-c", "echo 'bwrap: no space' >&2; exit 1");
      await expect(stage.run(60_000)).rejects.toMatchObject({
        kind: "unreachable",
        message: "the isolation boundary (bubblewrap) could not be set up: bwrap: no space",
      });
    });

    it("reports a timeout if the command's time was over before", async () => {
      await using stage = await createBroken("sleep", "600");
      expect(await stage.run(50)).toMatchObject({ exitCode: 124, timedOut: true });
    });
  });

  it("ends a command that exceeds a limit of the machine, and reports which", async () => {
    vi.stubEnv("RUNYARD_COMMAND_MEMORY_MIB", "20");
    vi.stubEnv("RUNYARD_COMMAND_PROCESSES", "77");
    vi.stubEnv("RUNYARD_RUN_DISK_MIB", "100");
    await using stage = await createStage("bubblewrap");
    const script = "echo began; python3 -c \"import time; kept = b'x' * 60_000_000; time.sleep(600)\"";
    const why = "it used more than 20 MiB of memory";
    expect(await stage.run(script)).toMatchObject({
      // Where the kernel ends the program, its shell says so.
      text: expect.stringMatching(new RegExp(`^began\\n(.* Killed .*\\n)?\\[the command was ended: ${why}\\]\\n$`)),
      exitCode: 137,
      exceeded: why,
      timedOut: false,
    });
    expect((await stage.run("ulimit -c; ulimit -u; ulimit -f")).text, "of the shell").toBe("0\n77\n102400\n");
  });
});

describe("a shell", () => {
  const ended: CommandResult = {
    ...{ command: "", text: "", truncated: false, exitCode: 0, timedOut: false, durationMs: 1 },
    workingDirectory: "/next",
  };
  const { signal } = new AbortController();

  function createFake(stepsEndAt: number) {
    const slice = { cutAt: stepsEndAt, stepsEndAt, deadlineAt: stepsEndAt };
    const requests: CommandRequest[] = [];
    const runner = {
      async run(request: CommandRequest) {
        requests.push(request);
        return ended;
      },
    };
    return { requests, shell: createShell({ runner, workingDirectory: "/first", slice }) };
  }

  it("starts each command where the previous one ended, for ten minutes at most", async () => {
    const { shell, requests } = createFake(Number.POSITIVE_INFINITY);
    const onOutput = () => undefined;
    expect(await shell.run({ command: "a", onOutput }, signal)).toBe(ended);
    expect(shell.here).toBe("/next");
    await shell.run({ command: "b", timeoutSeconds: 7 }, signal);
    await shell.run({ command: "c", workingDirectory: "/own" }, signal);
    expect(requests).toEqual([
      { command: "a", workingDirectory: "/first", timeoutMs: 600_000, signal, isShown: true, onOutput },
      { command: "b", workingDirectory: "/next", timeoutMs: 7_000, signal, isShown: true },
      { command: "c", workingDirectory: "/own", timeoutMs: 600_000, signal, isShown: true },
    ]);
  });

  it("runs a command of the harness for a minute at most, and keeps its directory", async () => {
    const { shell, requests } = createFake(Number.POSITIVE_INFINITY);
    await shell.runAside("a", signal);
    await shell.runAside("b", signal, { keepBytes: 9 });
    expect(shell.here).toBe("/first");
    expect(requests).toEqual([
      { command: "a", workingDirectory: "/first", timeoutMs: 60_000, signal, isHelper: true },
      { command: "b", workingDirectory: "/first", timeoutMs: 60_000, signal, isHelper: true, limits: { keepBytes: 9 } },
    ]);
  });

  it("gives a command no more time than its sandbox has, and reports that", async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: 1_000_000 });
    const { shell, requests } = createFake(1_000_000 + 2_340);
    await shell.run({ command: "a", timeoutSeconds: 3 }, signal);
    await shell.run({ command: "b", timeoutSeconds: 2 }, signal);
    vi.setSystemTime(1_000_340);
    await shell.run({ command: "c", timeoutSeconds: 2 }, signal);
    vi.setSystemTime(2_000_000);
    await shell.run({ command: "d" }, signal);
    vi.useRealTimers();
    const limits = requests.map(({ timeoutMs, timeoutReason }) => [timeoutMs, timeoutReason]);
    expect(limits).toEqual([
      [2_340, "its sandbox had 2.3 s left for commands when it began"],
      [2_000, undefined],
      [2_000, undefined],
      [1, "its sandbox had 0.0 s left for commands when it began"],
    ]);
  });
});

it("quoteForShell makes one word of any text", () => {
  expect(quoteForShell("it's $HOME")).toBe("'it'\\''s $HOME'");
});
