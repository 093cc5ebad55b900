import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { createBackgroundCommands } from "#harness/commands/background-commands.ts";
import { createCommandRunner } from "#harness/commands/command-runner.ts";
import type { Sandbox } from "#harness/isolation/sandbox.ts";
import { FakeControlPlane } from "../../../lab/fake-control-plane.ts";
import { createStage } from "../support/command-stage.ts";
import { runHarness } from "../support/run-harness.ts";

const folder = mkdtempSync(join(tmpdir(), "terminal-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** Creates a stage where programs fail in place of these. */
async function start(kind: string, absent: readonly string[] = []) {
  const stage = await createStage(kind);
  const { workingDirectory } = stage;
  const bin = mkdtempSync(join(folder, "bin-"));
  for (const name of absent) writeFileSync(join(bin, name), "#!/bin/sh\nexit 1\n", { mode: 0o755 });
  const launch: Sandbox["launch"] = (...args) => {
    const launched = stage.options.sandbox.launch(...args);
    return { ...launched, env: { ...launched.env, PATH: `${bin}:${process.env["PATH"]}` } };
  };
  const options = { ...stage.options, sandbox: { ...stage.options.sandbox, launch } };
  const runner = createCommandRunner(options);
  return {
    options,
    workingDirectory,
    run: (command: string, tty = true) => runner.run({ command, workingDirectory, timeoutMs: 60_000, tty }),
    [Symbol.asyncDispose]: () => stage[Symbol.asyncDispose](),
  };
}

const isTerminal = "[ -t 0 ] && [ -t 1 ] && [ -t 2 ] && : > /dev/tty && echo yes";

describe.each([
  ["bubblewrap", []],
  ["none", []],
  ["none", ["script"]],
] as const)("a command at a terminal, in the sandbox %s without %j", (kind, absent) => {
  it("has one of a usual size, and no pager", async () => {
    await using stage = await start(kind, absent);
    const { text, exitCode } = await stage.run(`${isTerminal}; stty size; echo "$TERM $PAGER"`);
    expect([text.replaceAll("\r", ""), exitCode]).toEqual(["yes\n40 120\nxterm-256color cat\n", 0]);
    expect((await stage.run(`${isTerminal} || echo no`, false)).text).toContain("no");
  });

  it("returns its exit code and where it ended", async () => {
    await using stage = await start(kind, absent);
    const ended = await stage.run("mkdir -p a && cd a; exit 7");
    expect([ended.exitCode, ended.workingDirectory]).toEqual([7, `${stage.workingDirectory}/a`]);
    expect((await stage.run("kill -TERM $$")).exitCode).toBe(143);
  });

  it("gets the end of its input at once", async () => {
    await using stage = await start(kind, absent);
    const { text } = await stage.run("read -r line || echo ended");
    expect(text).toContain("ended");
  });

  it("reads what is sent to it in the background", async () => {
    await using stage = await start(kind, absent);
    const background = createBackgroundCommands({ ...stage.options, watch: undefined, earlier: [] });
    const { workingDirectory } = stage;
    const wait = { timeoutMs: 60_000, signal: new AbortController().signal };
    const command = await background.start({
      command: `${isTerminal}; read -rp "Name? " name; echo "Hello $name"`,
      workingDirectory,
      tty: true,
    });
    await command.waitFor(() => command.hasLine((line) => line.includes("Name?")), wait);
    command.write("Ada\n", false);
    await command.waitFor(() => command.end !== undefined, wait);
    expect(command.read().text).toContain("Hello Ada");
    await background.close();
  });
});

describe("a command at a terminal", () => {
  it("names the programs that are missing", async () => {
    await using stage = await start("none", ["script", "python3"]);
    const { text, exitCode } = await stage.run("echo unreached");
    expect(exitCode).toBe(127);
    expect(text).toContain("install script of util-linux, or python3");
    expect(text).not.toContain("unreached");
  });

  it("is a block of a runbook that is tagged so, and its step says so", async () => {
    await using plane = await FakeControlPlane.start({ prompt: `\`\`\`sh tty\n${isTerminal}\n\`\`\`\n` });
    const { code, log } = await runHarness(plane);
    expect([code, plane.outcome?.success], log).toEqual([0, true]);
    const steps = plane.messages.flatMap(({ content }) =>
      content.flatMap((one) => (one.type === "action" ? [one] : [])),
    );
    expect(steps.map(({ input }) => input)).toEqual([expect.objectContaining({ tty: true })]);
    expect(plane.outputs).toEqual(["yes\n"]);
  });
});
