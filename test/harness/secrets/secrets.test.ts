import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { FakeControlPlane, type RunContext } from "../../../lab/fake-control-plane.ts";
import { commandLines } from "../support/processes.ts";
import { Repository } from "../support/repository.ts";
import { runHarness, startHarness } from "../support/run-harness.ts";

const sh = (...commands: string[]) => commands.map((command) => `\`\`\`sh\n${command}\n\`\`\`\n`).join("\n");
const SECRET = "tr4ck3r+token/with=odd\"chars' and words";
const LINES = "first-line-of-the-key\nsecond-line-of-the-key\nthird-line-of-the-key\n";
const secrets = [
  { name: "TRACKER_TOKEN", value: SECRET },
  { name: "DEPLOY_KEY", value: LINES },
  { name: "PIN", value: "4711" },
];

async function run(prompt: string, context: Partial<RunContext> = {}, environment = {}) {
  const plane = await FakeControlPlane.start({ prompt, context: { secrets, ...context } });
  const ended = await runHarness(plane, environment);
  return { plane, ...ended, [Symbol.asyncDispose]: () => plane[Symbol.asyncDispose]() };
}

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

/** Expects a text to contain none of the injected secrets, in any encoding that the commands below use. */
function expectNone(text: string) {
  expect(text).not.toContain(SECRET);
  expect(text).not.toContain(JSON.stringify(SECRET).slice(1, -1));
  expect(text).not.toContain(encodeURIComponent(SECRET));
  expect(text).not.toContain(Buffer.from(SECRET).toString("hex"));
  for (const before of ["", "x", "xx"])
    expect(text).not.toContain(
      Buffer.from(before + SECRET)
        .toString("base64")
        .slice(4, 40),
    );
  for (const line of LINES.trim().split("\n")) expect(text).not.toContain(line);
}

// @contract secrets.injected
describe.each(["bubblewrap", "none"])("injected secrets (%s)", (sandbox) => {
  const environment = { RUNYARD_SANDBOX: sandbox };

  it("are variables of every command, with their full values", async () => {
    await using it = await run(
      sh(
        'printf %s "$TRACKER_TOKEN" | sha256sum | cut -c1-64; printf %s "$DEPLOY_KEY" | sha256sum | cut -c1-64',
        'printf "$HOME" > /dev/null; bash -c \'printf %s "$PIN"\' | sha256sum | cut -c1-64',
      ),
      {},
      environment,
    );
    // $(…) would remove the last line break, so the values are passed to programs directly.
    expect(it.plane.outputs).toEqual([`${sha256(SECRET)}\n${sha256(LINES)}\n`, `${sha256("4711")}\n`]);
  });

  it("are in nothing that leaves the sandbox, however a command prints them", async () => {
    await using it = await run(
      sh(
        'echo "$TRACKER_TOKEN"; echo "$TRACKER_TOKEN" | base64; echo "x$TRACKER_TOKEN" | base64 -w0; env; export -p; printf %q "$TRACKER_TOKEN"',
        'printf %s "$TRACKER_TOKEN" | od -An -tx1; printf %s "$TRACKER_TOKEN" | fold -w 7; echo "$DEPLOY_KEY" | head -2; echo $DEPLOY_KEY',
        'for i in $(seq ${#TRACKER_TOKEN}); do printf %s "${TRACKER_TOKEN:i-1:1}"; sleep 0.01; done; echo',
        'python3 -c \'import json,os,urllib.parse as u; t=os.environ["TRACKER_TOKEN"]; print(json.dumps({"a":t}), u.quote(t), u.quote_plus(t))\'',
        'set -x; curl --fail "http://127.0.0.1:1/?q=$TRACKER_TOKEN" 2>&1 || true; echo "PIN is $PIN"',
        'echo "body $PIN" > "$RUNYARD_OUTPUT/report-$PIN.txt"; mkdir "dir-$PIN"; cd "dir-$PIN"',
        'echo "at $TRACKER_TOKEN" >&2; exit $(( 4711 % 256 ))',
      ),
      {},
      environment,
    );
    expect(it.plane.outputs).toHaveLength(7);
    const sent = it.plane.calls.filter(({ path }) => !path.startsWith("/upload/")).map(({ raw }) => raw.toString());
    expectNone(sent.join("\n"));
    expectNone(it.log);
    for (const text of [...it.plane.outputs, ...it.plane.texts]) expect(text).not.toContain("4711");
    expect(it.plane.outputs[4]).toContain("PIN is ***");
    expect(it.plane.callsTo("report-artifact")[0]?.body).toMatchObject({ data: { filepath: "report-***.txt" } });
    // The content of a file stays unchanged, byte for byte.
    expect([...it.plane.artifacts.values()].join("")).toContain("body 4711");
  });

  it("do not replace the sandbox's own variables, and are in no process list", async () => {
    const plane = await FakeControlPlane.start({
      prompt: sh('echo "$HOME" "$RUNYARD_RUN_ID"; sleep 2'),
      context: {
        secrets: [
          ...secrets,
          { name: "HOME", value: "/somewhere/else" },
          { name: "RUNYARD_RUN_ID", value: "not-this-run" },
        ],
      },
    });
    await using _ = plane;
    const harness = startHarness(plane, environment);
    await expect.poll(() => plane.messages.length).toBe(1);
    const lines = commandLines();
    expect(lines.join("\n")).toContain("step-1.sh");
    expect(lines.filter((line) => line.includes(SECRET))).toEqual([]);
    await harness.ended;
    expect(plane.outputs[0]).toContain(plane.runId);
    expect(plane.outputs[0]).not.toContain("***");
  });
});

describe("an unavailable secret", () => {
  // @contract secrets.injected
  it("ends the run FAILED before anything else, with its name and the reason", async () => {
    using repository = new Repository("things", { "a.txt": "1" });
    await using it = await run(sh("echo not reached"), {
      agent_config: { repositories: [{ url: repository.url }] },
      secrets: [...secrets, { name: "ABSENT", unavailable: "the team has no secret of this name" }],
    });
    const message = "secret ABSENT: the team has no secret of this name";
    expect(it.code).toBe(0);
    expect(it.plane.outcome).toEqual({ success: false, summary: message, error_code: "environment_setup_failed" });
    expect(it.plane.events).toMatchObject([
      { event_name: "setup_environment_resolution", payload: { is_error: true, detail: message } },
    ]);
    expect(it.plane.texts).toEqual([message]);
    expect(it.plane.results).toEqual([]);
  });
});

// @contract secrets.injected
describe("setup commands", () => {
  it("have the secrets, and print none of them when they fail", async () => {
    await using it = await run(sh("true"), {
      setup_commands: [
        'test "$PIN" = 4711',
        `for i in $(seq 100); do echo "line $i of $TRACKER_TOKEN"; done; echo ${"x".repeat(2000)} ${SECRET.slice(0, 12)}; exit 9`,
      ],
    });
    const { summary = "", error_code } = it.plane.outcome ?? {};
    expect(error_code).toBe("environment_setup_failed");
    expect(Buffer.byteLength(summary)).toBeLessThanOrEqual(1024);
    expect(summary).toMatch(/^the setup command "for i in .*" ended with exit code 9:\nx+ tr4ck3r/);
    const setups = it.plane.events.filter(({ event_name }) => event_name === "setup_commands");
    expect(setups.map(({ payload }) => payload?.is_error)).toEqual([false, true]);
    for (const { payload } of setups) expect(payload?.latency_ms).toBeGreaterThanOrEqual(0);
    expectNone(it.plane.everything);
  });

  it("report as many of the last lines as the run's message can contain", async () => {
    await using it = await run(sh("true"), {
      setup_commands: [`for i in $(seq 30); do echo "$i ${"é".repeat(70)}"; done; exit 2`],
    });
    const lines = it.plane.outcome?.summary.split("\n") ?? [];
    expect(lines.length).toBeGreaterThan(4);
    expect(lines.at(-1)).toBe(`30 ${"é".repeat(70)}`);
    expect(lines.slice(1).every((line) => /^\d+ é{70}$/.test(line))).toBe(true);
  });

  it("never show part of a secret in a truncated command", async () => {
    for (const padding of [190, 3_990, 32_760]) {
      const command = `true ${"y".repeat(padding)} ${SECRET.replaceAll(/["' ]/g, "")}`;
      const value = SECRET.replaceAll(/["' ]/g, "");
      await using it = await run(sh(`${command}\nexit 1`), {
        secrets: [{ name: "TOKEN", value }],
        setup_commands: [command],
      });
      for (let length = 8; length <= value.length; length++)
        expect(it.plane.everything).not.toContain(`y ${value.slice(0, length)}`);
    }
  });
});
