import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import type { Message } from "#shared/wire/conversation.ts";
import { FakeControlPlane, type RunGiven } from "../../../lab/fake-control-plane.ts";
import { newMark, sleepers } from "../support/processes.ts";
import { Repository } from "../support/repository.ts";
import { runHarness, startHarness } from "../support/run-harness.ts";

const sh = (...commands: string[]) => commands.map((command) => `\`\`\`sh\n${command}\n\`\`\`\n`).join("\n");

const textOf = (message: Message | undefined) =>
  message?.content.map((block) => (block.type === "text" ? block.text : "")).join("");

/** One run to its end, as the control plane sees it. */
async function run(given: RunGiven, prepare: (plane: FakeControlPlane) => void = () => {}, environment = {}) {
  const plane = await FakeControlPlane.start(given);
  prepare(plane);
  const ended = await runHarness(plane, environment);
  return { plane, ...ended, [Symbol.asyncDispose]: () => plane[Symbol.asyncDispose]() };
}

describe("a run", () => {
  // @contract runs.conversation.command: A command is an action run_command of the category command, and its result names it.
  it("reports each command at its start, its result at its end, and its final message", async () => {
    await using it = await run({ prompt: sh("echo one", "echo two >&2") });
    expect(it.code).toBe(0);
    const blocks = it.plane.messages.flatMap((message) =>
      message.content.map((block) => ({ role: message.role, ...block })),
    );
    expect(blocks).toMatchObject([
      { role: "assistant", type: "action", category: "command", name: "run_command", input: { command: "echo one" } },
      { role: "tool", type: "action_result", state: "completed", output: { exit_code: 0, stdout: "one\n" } },
      { role: "assistant", type: "action", input: { command: "echo two >&2" } },
      { role: "tool", type: "action_result", state: "completed", output: { exit_code: 0, stdout: "two\n" } },
      { role: "assistant", type: "text", text: "Ran 2 commands." },
    ]);
    expect(it.plane.outcome).toEqual({ success: true, summary: "Ran 2 commands." });
    expect(it.plane.events.map((event) => event.event_name)).toEqual(["agent_started"]);
    expect(it.plane.calls.at(-1)?.path).toMatch(/finish-task$/);
  });

  it("keeps the working directory between commands, but not the environment", async () => {
    const commands = [
      "mkdir -p a/b && cd a && export KEPT=yes && trap 'echo own trap' EXIT",
      'cd b; echo "[$KEPT]"',
      "basename $PWD",
    ];
    await using it = await run({ prompt: sh(...commands) });
    expect(it.plane.outputs).toEqual(["own trap\n", "[]\n", "b\n"]);
  });

  it("ends FAILED at the first failing command, like bash -eo pipefail", async () => {
    await using it = await run({ prompt: sh("echo fine", "false | true\necho not reached", "echo never") });
    expect(it.code).toBe(0);
    expect(it.plane.outputs).toEqual(["fine\n", ""]);
    expect(it.plane.results.at(-1)).toMatchObject({ exit_code: 1 });
    expect(it.plane.outcome).toEqual({
      success: false,
      summary: "Step 2 of 3 failed: the script that begins with `false | true` ended with exit code 1.",
    });
  });

  it("passes on the exit code of the last command of a block", async () => {
    await using it = await run({ prompt: sh("[ -f absent ] && echo there") });
    expect(it.plane.results).toMatchObject([{ exit_code: 1 }]);
    await using other = await run({ prompt: sh("exit 42") });
    expect(other.plane.outcome?.summary).toContain("exit code 42");
  });

  it("truncates long output in the message and keeps its end", async () => {
    await using it = await run({ prompt: sh("seq 1 200000") });
    expect(it.plane.results).toMatchObject([{ truncated: true, exit_code: 0 }]);
    expect(it.plane.outputs[0]).toMatch(/^1\n2\n[\s\S]*bytes\) omitted[\s\S]*200000\n$/);
  });

  it("starts its first command without waiting for its own announcement", async () => {
    const plane = await FakeControlPlane.start({ prompt: sh("date +%s%3N") });
    await using _ = plane;
    plane.delays.set("client-events", 4_000);
    await runHarness(plane);
    const announced = plane.callsTo("client-events")[0]?.at ?? 0;
    expect(Number(plane.outputs[0]), "before the announcement got its response").toBeLessThan(announced + 4_000);
  });

  it("leaves nothing on the host, whatever file modes its commands set", async () => {
    const folder = mkdtempSync(join(tmpdir(), "harness-test-"));
    const prompt = sh("mkdir -p locked/in && touch locked/in/file && chmod 000 locked");
    await using it = await run({ prompt }, () => {}, { TMPDIR: folder });
    expect(it.plane.outcome?.success).toBe(true);
    expect(readdirSync(folder)).toEqual([]);
    rmSync(folder, { recursive: true });
  });

  it("logs JSON lines without the key", async () => {
    await using it = await run({ prompt: sh("true") });
    const lines = it.log
      .trim()
      .split("\n")
      .map((line): unknown => JSON.parse(line));
    expect(lines).toMatchObject([{ message: "resolved" }, { message: "finished" }]);
    expect(it.log).not.toContain(it.plane.key);
  });

  // @contract runs.item.status-names
  it("never repeats the key, even if a command has it", async () => {
    const plane = await FakeControlPlane.start({ prompt: "" });
    await using _ = plane;
    const half = plane.key.length / 2;
    const command = `K=${plane.key.slice(0, half)}; sleep 0; printf %s "$K"; sleep 0.05; echo ${plane.key.slice(half)}; echo "$K"${plane.key.slice(half)} | base64 -w0`;
    plane.prompt = sh(command);
    await runHarness(plane);
    expect(plane.outputs[0]).toMatch(/^\*\*\*\n.*\*\*\*/);
    expect(plane.everything).not.toContain(plane.key);
    expect(plane.everything).not.toContain(Buffer.from(plane.key).toString("base64").slice(0, 40));
  });

  it("rejects a prompt without commands", async () => {
    await using none = await run({ prompt: "Hello" });
    expect(none.plane.outcome).toMatchObject({ success: false, error_code: "invalid_request" });
    expect(none.code).toBe(0);
  });
});

describe("setup", () => {
  // @contract runs.timeline.setup
  it("clones, loads the skill, fetches attachments, and reports each with its duration", async () => {
    using repository = new Repository("things", {
      ".agents/skills/look/SKILL.md": `---\nname: look\n---\n${sh("echo skill in $(basename $PWD); git log --oneline | wc -l")}`,
    });
    const config = { repositories: [{ url: repository.url }], skill_spec: "things:look" };
    const plane = await FakeControlPlane.start({
      prompt: sh("cat ../attachments/notes.txt"),
      context: { agent_config: config },
    });
    await using _ = plane;
    plane.attach("notes.txt", "attached");
    const { code } = await runHarness(plane);
    expect(code).toBe(0);
    expect(plane.outputs).toEqual(["skill in things\n1\n", "attached"]);
    expect(plane.events.map((event) => [event.event_name, event.payload?.is_error])).toEqual([
      ["setup_environment_resolution", false],
      ["setup_repo_clone", false],
      ["setup_skill_loading", false],
      ["agent_started", undefined],
    ]);
    for (const { event_name, payload } of plane.events) {
      if (event_name !== "agent_started") expect(payload?.latency_ms).toBeGreaterThanOrEqual(0);
    }
  });

  it("uses the workspace as working directory for several clones", async () => {
    using one = new Repository("one", { "a.txt": "1" });
    using two = new Repository("two", { "a.txt": "2" });
    const config = { repositories: [{ url: one.url }, { url: two.url, path: "other/place" }] };
    await using it = await run({ prompt: sh("cat one/a.txt other/place/a.txt"), context: { agent_config: config } });
    expect(it.plane.outputs).toEqual(["12"]);
  });

  // @contract runs.item.status-names
  it("ends FAILED with git's error when a clone fails, without a credential", async () => {
    const config = { repositories: [{ url: "https://agent:top-secret-token@127.0.0.1:1/o/r.git" }] };
    await using it = await run({ prompt: sh("true"), context: { agent_config: config } });
    expect(it.code).toBe(0);
    expect(it.plane.outcome).toMatchObject({ success: false, error_code: "environment_setup_failed" });
    expect(it.plane.outcome?.summary).toMatch(
      /cloning https:\/\/\*\*\*@127\.0\.0\.1:1\/o\/r\.git failed: .*127\.0\.0\.1/,
    );
    expect(it.plane.events).toMatchObject([{ event_name: "setup_repo_clone", payload: { is_error: true } }]);
    expect(it.plane.everything + it.log).not.toContain("top-secret-token");
  });

  it("runs the setup commands in the clone before the first turn, each an event of its own", async () => {
    using repository = new Repository("things", { "a.txt": "1" });
    const config = { repositories: [{ url: repository.url }] };
    await using it = await run({
      prompt: sh("cat made.txt"),
      context: { agent_config: config, setup_commands: ["cat a.txt > made.txt", "echo 2 >> made.txt"] },
    });
    expect(it.plane.outputs).toEqual(["12\n"]);
    const setups = it.plane.events.filter(({ event_name }) => event_name === "setup_commands");
    expect(setups.map(({ payload }) => [payload?.is_error, payload?.detail])).toEqual([
      [false, "cat a.txt > made.txt"],
      [false, "echo 2 >> made.txt"],
    ]);
  });

  it("ends FAILED at the first failing setup command, with its last lines", async () => {
    await using it = await run({
      prompt: sh("true"),
      context: { setup_commands: ["seq 1 30; exit 3", "echo not reached > $RUNYARD_OUTPUT/a.txt"] },
    });
    expect(it.plane.outcome).toMatchObject({ success: false, error_code: "environment_setup_failed" });
    expect(it.plane.outcome?.summary).toMatch(/"seq 1 30; exit 3" ended with exit code 3:\n21\n22\n[\s\S]*\n30$/);
    expect(it.plane.events).toMatchObject([{ event_name: "setup_commands", payload: { is_error: true } }]);
  });

  it("ends FAILED for a missing skill, with the waiting follow-ups in the conversation", async () => {
    using repository = new Repository("things", { "a.txt": "1" });
    const config = { repositories: [{ url: repository.url }], skills: ["things:absent"] };
    await using it = await run({ prompt: sh("true"), context: { agent_config: config } }, (plane) =>
      plane.addFollowup("and?"),
    );
    expect(it.plane.outcome).toMatchObject({ success: false, error_code: "environment_setup_failed" });
    expect(it.plane.texts).toEqual([expect.stringContaining("things:absent"), "and?"]);
    expect(it.plane.storedFollowups).toBe(1);
  });
});

describe("artifacts", () => {
  it.each(["PUT", "POST"] as const)("are the files in $RUNYARD_OUTPUT, stored by %s", async (method) => {
    const commands = [
      'mkdir -p "$RUNYARD_OUTPUT/sub" && cd "$RUNYARD_OUTPUT" && printf report > report.md && printf x > sub/data.json',
      "ln -s /etc/passwd link; mkfifo pipe",
    ];
    await using it = await run({ prompt: sh(...commands) }, (plane) => {
      plane.uploadMethod = method;
    });
    expect(it.plane.outcome?.success).toBe(true);
    expect([...it.plane.artifacts.keys()]).toEqual(["report.md", "sub/data.json"]);
    expect(it.plane.artifacts.get("report.md")?.toString()).toContain("report");
    const reports = it.plane.callsTo("report-artifact").map((call) => call.body);
    expect(reports).toHaveLength(4);
    expect(reports[0]).toEqual(reports[1]);
    expect(reports[0]).toEqual({
      artifact_type: "FILE",
      data: {
        filepath: "report.md",
        filename: "report.md",
        mime_type: "text/markdown",
        size_bytes: 6,
        sha256: createHash("sha256").update("report").digest("hex"),
      },
    });
  });

  it("of a failed run are stored, and files that could not be stored are reported", async () => {
    const command = 'echo x > "$RUNYARD_OUTPUT/log.txt"; truncate -s 200M "$RUNYARD_OUTPUT/huge"; exit 1';
    await using it = await run({ prompt: sh(command) });
    expect([...it.plane.artifacts.keys()]).toEqual(["log.txt"]);
    expect(it.plane.outcome?.summary).toMatch(
      /exit code 1\. Not kept as artifacts: huge: larger than 104857600 bytes\./,
    );
  });

  it("are not taken through a link in place of the directory", async () => {
    await using it = await run({ prompt: sh('rm -r "$RUNYARD_OUTPUT"; ln -s /etc "$RUNYARD_OUTPUT"') });
    expect(it.plane.callsTo("report-artifact")).toEqual([]);
  });
});

describe("follow-ups", () => {
  // @contract runs.followups.working
  it("are handled one after the other, each as a turn, and acknowledged once they are stored", async () => {
    await using it = await run({ prompt: sh("echo prompt; sleep 1.5") }, (plane) => {
      plane.addFollowup(sh("echo first"));
      setTimeout(() => plane.addFollowup(sh("echo second")), 500);
    });
    expect(it.plane.outputs).toEqual(["prompt\n", "first\n", "second\n"]);
    const userMessages = it.plane.messages.filter((message) => message.role === "user");
    expect(userMessages.map((message) => message.message_ids)).toEqual([["followup-1"], ["followup-2"]]);
    expect(it.plane.storedFollowups).toBe(2);
    expect(it.plane.callsTo("heartbeat")[0]?.body["followups_stored"]).toBe(0);
    expect(it.plane.outcome?.success).toBe(true);
  });

  // @contract followups.files.folder: The files lie in the next turn's attachments folder.
  it("bring files to the directory of attachments, which replace none and are named in the message", async () => {
    const prompt = sh('printf own > "$RUNYARD_ATTACHMENTS/notes.txt"; ln -s /none "$RUNYARD_ATTACHMENTS/link.txt"');
    await using it = await run({ prompt }, (plane) => {
      plane.attach("first.txt", "first");
      const attachments = [
        plane.file("notes.txt", "sent", "id-1"),
        plane.file("notes.txt", "again", "id-1"),
        plane.file("link.txt", "linked", "id-2"),
        plane.file("-n $(x) 'q'.txt", "odd", "id-3"),
        plane.file("gone.txt", undefined, "id-4"),
      ];
      plane.addFollowup(sh('cd "$RUNYARD_ATTACHMENTS" && head -- *.txt'), "enqueue", { attachments });
      plane.addFollowup("", "enqueue", { attachments: [plane.file("only.txt", "x", "id-5")] });
    });
    const [, shown = ""] = it.plane.outputs;
    for (const [name, text] of Object.entries({
      "first.txt": "first",
      "notes.txt": "own",
      "id-1-notes.txt": "again",
      "id-1-2-notes.txt": "again",
      "id-2-link.txt": "linked",
      "-n $(x) 'q'.txt": "odd",
    }))
      expect(shown).toContain(`==> ${name} <==\n${text}`);
    const [message, alone] = it.plane.messages.filter(({ role }) => role === "user").map(textOf);
    expect(message).toContain(
      `/attachments: "id-1-notes.txt", "id-1-2-notes.txt", "id-2-link.txt", "-n $(x) 'q'.txt".`,
    );
    expect(message).toContain('The attachment "gone.txt" is not available: storage returned 401.');
    expect(alone).toMatch(/^Attached files are in \S+\/attachments: "only.txt"\.$/);
  });

  it("write no file outside of the workspace, whatever commands replace the directory by", async () => {
    const outside = mkdtempSync(join(tmpdir(), "outside-"));
    const prompt = sh(`rm -rf "$RUNYARD_ATTACHMENTS"; ln -s ${outside} "$RUNYARD_ATTACHMENTS"`);
    await using it = await run({ prompt }, (plane) => {
      plane.addFollowup(sh("true"), "enqueue", { attachments: [plane.file("notes.txt", "sent")] });
    });
    expect(readdirSync(outside)).toEqual([]);
    expect(textOf(it.plane.messages.find(({ role }) => role === "user"))).toContain("is not available");
    rmSync(outside, { recursive: true });
  });

  it.each([
    ["finish-task", true],
    ["heartbeat", false],
  ])("are accepted until the last request before the end (%s)", async (request, finish_takes_messages) => {
    await using it = await run({ prompt: sh("echo prompt"), context: { finish_takes_messages } }, (plane) => {
      plane.intercept = (call) => {
        if (call.path.endsWith(request) && plane.followups.length === 0) plane.addFollowup(sh("echo late"));
        return undefined;
      };
    });
    expect(it.plane.outputs).toEqual(["prompt\n", "late\n"]);
    expect(it.plane.storedFollowups).toBe(1);
    expect(it.plane.outcome).toMatchObject({ success: true });
  });

  it("are requested by the call that ends the run, which has the last messages", async () => {
    await using it = await run({ prompt: sh("echo prompt") });
    const [finish, ...others] = it.plane.callsTo("finish-task");
    expect(others).toEqual([]);
    expect(finish?.body).toMatchObject({ success: true, followups_stored: 0 });
    expect(JSON.stringify(finish?.body["messages"])).toContain("Ran one command.");
    expect(it.plane.texts.at(-1)).toBe("Ran one command.");
  });

  it("of a finished turn are handled without running the prompt again", async () => {
    const messages = [
      {
        role: "tool" as const,
        content: [
          {
            type: "action_result" as const,
            action_id: "1",
            category: "command" as const,
            name: "run_command",
            state: "completed" as const,
            output: {},
          },
        ],
      },
      { role: "assistant" as const, content: [{ type: "text" as const, text: "Ran one command." }] },
    ];
    await using it = await run(
      { prompt: sh("echo prompt"), context: { messages, own_messages: 2, next_sequence: 3 } },
      (plane) => plane.addFollowup(sh("echo more")),
    );
    expect(it.plane.outputs).toEqual(["more\n"]);
    // A slow machine sends the first messages before the end.
    const sequences = it.plane.calls.flatMap(({ body }) => body["first_sequence"] ?? []);
    expect(sequences[0]).toBe(3);
  });
});

describe("an early end of an execution", () => {
  // @contract runs.cancel.stops: Cancelling an executing run ends all processes of its agent.
  it.each(["bubblewrap", "none"])("leaves no process of a cancelled run (%s)", async (sandbox) => {
    const mark = newMark();
    const command = `setsid sleep ${mark} & (setsid sh -c 'sleep ${mark} & sleep ${mark}' &) ; sleep ${mark}`;
    const plane = await FakeControlPlane.start({ prompt: sh(command) });
    await using _ = plane;
    const harness = startHarness(plane, { RUNYARD_SANDBOX: sandbox });
    await expect.poll(() => sleepers(mark)).toBe(4);
    plane.cancelled = true;
    const { code } = await harness.ended;
    expect(sleepers(mark)).toBe(0);
    expect([code, plane.shutdown, plane.outcome]).toEqual([0, {}, undefined]);
  });

  it.each(["bubblewrap", "none"])("leaves no background process of an ended command (%s)", async (sandbox) => {
    const mark = newMark();
    await using it = await run({ prompt: sh(`setsid sleep ${mark} >/dev/null 2>&1 & echo started`) }, () => {}, {
      RUNYARD_SANDBOX: sandbox,
    });
    expect(it.plane.outputs).toEqual(["started\n"]);
    expect(sleepers(mark)).toBe(0);
  });

  it("is immediate when its key is refused", async () => {
    const plane = await FakeControlPlane.start({ prompt: sh("sleep 600") });
    await using _ = plane;
    plane.intercept = (call) => (call.path.endsWith("heartbeat") ? { status: 401 } : undefined);
    const started = Date.now();
    const { code } = await runHarness(plane);
    expect(Date.now() - started).toBeLessThan(120_000);
    expect([code, plane.outcome]).toEqual([0, undefined]);
  });

  it("reports nothing when another harness has the execution", async () => {
    await using it = await run({ prompt: sh("true") }, (plane) => {
      plane.intercept = () => ({ status: 409, headers: { "x-should-retry": "false" } });
    });
    expect([it.code, it.plane.calls.length]).toEqual([0, 1]);
  });

  it("reports the shutdown on a termination signal", async () => {
    const plane = await FakeControlPlane.start({ prompt: sh("sleep 30") });
    await using _ = plane;
    const harness = startHarness(plane);
    await expect.poll(() => plane.events.length).toBe(1);
    harness.process.kill("SIGTERM");
    const { code } = await harness.ended;
    expect(code).toBe(0);
    expect(plane.shutdown).toMatchObject({ error: { category: "shutdown" } });
  });

  it("goes on when a terminal interrupts or hangs up", async () => {
    const plane = await FakeControlPlane.start({ prompt: sh("sleep 1; echo done") });
    await using _ = plane;
    const harness = startHarness(plane);
    await expect.poll(() => plane.events.length).toBe(1);
    for (const signal of ["SIGINT", "SIGHUP"] as const) harness.process.kill(signal);
    const { code } = await harness.ended;
    expect([code, plane.shutdown, plane.outcome?.success]).toEqual([0, undefined, true]);
  });

  it("reports the shutdown and fails on an invalid response", async () => {
    await using it = await run({ prompt: sh("true") }, (plane) => {
      plane.intercept = (call) => (call.path.endsWith("finish-task") ? { status: 400 } : undefined);
    });
    expect(it.code).toBe(1);
    expect(it.plane.shutdown).toMatchObject({ error: { category: "unreachable" } });
  });

  it("ends a command with a message before the sandbox ends", async () => {
    const plane = await FakeControlPlane.start({ prompt: sh("sleep 300") });
    await using _ = plane;
    plane.lifetimeMs = 30_000;
    const { code } = await runHarness(plane);
    expect(code).toBe(0);
    const exceeded = expect.stringMatching(/^its sandbox had (?:[1-9]|1\d|2\d)\.\d s left for commands when it began$/);
    expect(plane.results).toMatchObject([{ exit_code: 124, timed_out: true, exceeded }]);
    expect(plane.outcome?.summary).toMatch(
      /`sleep 300` was ended: its sandbox had \d+\.\d s left for commands when it began/,
    );
  });

  it("is immediate for invalid input in place of an envelope", async () => {
    const plane = await FakeControlPlane.start({ prompt: "" });
    await using _ = plane;
    const harness = startHarness(plane, {}, "{}");
    await sleep(0);
    const { code, log } = await harness.ended;
    expect([code, plane.calls]).toEqual([1, []]);
    expect(log).toContain("holds no envelope");
  });
});
