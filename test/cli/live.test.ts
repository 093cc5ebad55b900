import { execFile, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runCli } from "../../cli/src/program.ts";
import { root } from "../../scripts/run-command.ts";
import { client, commands } from "../support/api-client.ts";
import { startService, type TestService } from "../support/service.ts";
import { type FakeOptions, FakeShell } from "./fake-shell.ts";

let service: TestService;
/** A directory whose service is this one: the commands find it by themselves. */
const folder = mkdtempSync(path.join(tmpdir(), "runyard-cli-"));

beforeAll(async () => {
  service = await startService();
  mkdirSync(path.join(folder, ".runyard"));
  symlinkSync(path.join(service.directory, "local.json"), path.join(folder, ".runyard/local.json"));
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

async function run(args: readonly string[], options: FakeOptions = {}) {
  const shell = new FakeShell({ cwd: folder, ...options });
  const code = await runCli(shell, args);
  return { code, out: shell.stdout, err: shell.stderr };
}

const json = async (...args: string[]) => JSON.parse((await run([...args, "--json"])).out);

describe("runyard, with a running service", () => {
  it("follows a run to its end, lists it, and gets its response, transcript and files", async () => {
    const prompt = commands("echo from-the-run; echo data > $RUNYARD_OUTPUT/made.txt", "exit 7");
    const followed = await run(["run", "-", "--follow", "--metadata", "kind=cli", "--title", "By the CLI"], {
      input: prompt,
    });
    expect(followed.code).toBe(1);
    // The output comes before the end if it was reported while the command ran, and a late end has a time of its own.
    const shown = followed.out.slice(followed.out.indexOf("$ echo from-the-run"), followed.out.indexOf("$ exit 7"));
    expect(shown).toMatch(/^\$ echo from-the-run; echo data[^\n]*\n[\s\S]*\s+exit 0/);
    expect(shown).toMatch(/\n\s+from-the-run\n/);
    expect(followed.out).toMatch(/\$ exit 7\n\s+([\d.]+ s\s+)?exit 7[^\n]*\n/);
    expect(followed.out).toMatch(/artifact {2}made\.txt/);
    expect(followed.out).toMatch(/\nFAILED after [\d.]+s/);
    const { runs } = await json("runs", "list", "--metadata", "kind=cli", "--state", "failed", "--source", "CLI");
    expect(runs).toMatchObject([{ title: "By the CLI", state: "FAILED", source: "CLI" }]);
    const id: string = runs[0].run_id;
    expect((await run(["runs", "response", id])).out).toContain("exit code 7");
    expect((await run(["runs", "conversation", id])).out).toContain("from-the-run");
    const lines = (await run(["runs", "transcript", id])).out.trimEnd().split("\n");
    expect(lines.map((line) => JSON.parse(line).type)).toContain("message");
    expect((await run(["runs", "artifacts", id, "--download", "files"])).out).toBe(
      `${path.join("files", "made.txt")}\n`,
    );
    expect(readFileSync(path.join(folder, "files/made.txt"), "utf8")).toBe("data\n");
    expect((await run(["runs", "follow", id])).code).toBe(1);
  });

  it("checks a run that has files, and finds the existing run of its idempotency key", async () => {
    for (const name of ["one.txt", "two.txt"]) writeFileSync(path.join(folder, name), name);
    const files = ["one.txt", "two.txt"].flatMap((name) => ["--attach", path.join(folder, name)]);
    expect(await json("run", "Read both.", ...files, "--dry-run")).toMatchObject({ would_start: true });
    const create = () => json("run", "Read both.", ...files, "--idempotency-key", "with-files");
    const { run_id } = await create();
    expect(await create()).toMatchObject({ run_id });
  });

  it("sends a follow-up and cancels a run", async () => {
    const id = (await run(["run", commands("echo first")])).out.trim();
    expect((await run(["runs", "follow", id])).code).toBe(0);
    const again = await run(["runs", "followup", id, commands("sleep 120")]);
    expect(again).toMatchObject({ code: 0, out: "sent; the run continues\n" });
    await client(service).until(id, ({ state }) => state === "INPROGRESS");
    expect((await run(["runs", "cancel", id])).code).toBe(0);
    expect((await run(["runs", "follow", id])).code).toBe(130);
    expect((await run(["runs", "cancel", id])).code).toBe(0);
  });

  it("creates, pauses, resumes, runs and deletes a schedule", async () => {
    const args = ["--cron", "0 3 * * 1-5", "--time-zone", "Europe/Berlin", "--prompt", commands("echo scheduled")];
    const made = await json("schedules", "create", "--name", "Nightly", ...args);
    expect(made).toMatchObject({ name: "Nightly", enabled: true, time_zone: "Europe/Berlin" });
    expect((await run(["schedules", "pause", "Nightly"])).out).toBe("Nightly is paused\n");
    expect((await run(["schedules", "list"])).out).toMatch(/no {2}0 3 \* \* 1-5 {2}Europe\/Berlin {2}- {5}Nightly/);
    expect((await run(["schedules", "resume", "Nightly"])).out).toMatch(/^Nightly fires next at \d{4}-/);
    const id = (await run(["schedules", "run", "Nightly"])).out.trim();
    expect((await run(["runs", "follow", id])).code).toBe(0);
    expect((await run(["schedules", "get", "Nightly"])).out).toContain(`${id}  SUCCEEDED`);
    expect((await run(["schedules", "ticks", "Nightly"])).err).toBe("It has not fired yet.\n");
    expect((await run(["schedules", "delete", made.id])).code).toBe(0);
    expect((await run(["schedules", "get", made.id])).code).toBe(4);
  });

  it("creates an environment, an agent and its key, and uses that key", async () => {
    expect((await run(["secrets", "set", "CLI_TOKEN"], { input: "s3cr3t-of-the-cli\n" })).code).toBe(0);
    expect((await run(["environments", "create", "cli", "--secret", "CLI_TOKEN", "--setup", "true"])).code).toBe(0);
    expect((await run(["agents", "create", "cli-bot", "--env", "cli"])).code).toBe(0);
    const key = (await run(["agents", "keys", "create", "cli-bot", "ci"])).out.trim();
    const env = { RUNYARD_API_KEY: key, RUNYARD_BASE_URL: service.baseUrl };
    const followed = await run(["run", commands("echo ${#CLI_TOKEN}"), "--follow"], { env });
    expect(followed).toMatchObject({ code: 0, out: expect.stringContaining("17") });
    expect((await run(["agents", "list"], { env })).out).toContain("cli-bot");
    expect(await run(["agents", "delete", "cli-bot"], { env })).toMatchObject({
      code: 4,
      err: expect.stringContaining("This key lacks the permission."),
    });
    expect((await run(["agents", "delete", "cli-bot"])).code).toBe(0);
    expect(await run(["runs", "list"], { env })).toMatchObject({
      code: 4,
      err: expect.stringContaining("The key in RUNYARD_API_KEY is invalid or expired"),
    });
    expect((await run(["environments", "delete", "cli"])).code).toBe(0);
    expect((await run(["secrets", "delete", "CLI_TOKEN"])).code).toBe(0);
  });

  it("creates, lists and deletes keys of the user, and logs in with one", async () => {
    const made = await json("keys", "create", "laptop");
    const home = path.join(folder, "home");
    const elsewhere = { cwd: tmpdir(), home };
    expect((await run(["login", "--base-url", service.baseUrl], { ...elsewhere, input: made.key })).code).toBe(0);
    expect((await run(["whoami"], elsewhere)).out).toContain("Local user <local@example.com>");
    expect((await run(["keys", "list"], elsewhere)).out).toMatch(new RegExp(`${made.uid} .* laptop\n`));
    expect((await run(["keys", "delete", made.uid])).code).toBe(0);
    expect((await run(["whoami"], elsewhere)).code).toBe(4);
  });
});

describe("the GitHub Action, with a running service", () => {
  function start(prompt: string) {
    for (const name of ["output", "summary"]) writeFileSync(path.join(folder, name), "");
    const child = spawn(process.execPath, [path.join(root, "action/dist/index.js")], {
      env: {
        "INPUT_BASE-URL": service.baseUrl,
        "INPUT_API-KEY": service.apiKey,
        INPUT_PROMPT: prompt,
        GITHUB_OUTPUT: path.join(folder, "output"),
        GITHUB_STEP_SUMMARY: path.join(folder, "summary"),
      },
      stdio: ["ignore", "pipe", "inherit"],
    });
    let log = "";
    child.stdout.on("data", (chunk: Buffer) => (log += chunk.toString()));
    return { child, log: () => log, exited: new Promise((resolve) => child.on("close", resolve)) };
  }

  it("follows a run to its end, and writes its outputs and its summary", async () => {
    const { log, exited } = start(commands("echo from-ci"));
    expect(await exited).toBe(0);
    expect(log()).toMatch(/::group::\$ echo from-ci\n\| from-ci\n::endgroup::\n/);
    expect(readFileSync(path.join(folder, "output"), "utf8")).toContain("SUCCEEDED");
    expect(readFileSync(path.join(folder, "summary"), "utf8")).toContain(": SUCCEEDED");
  });

  it("cancels the run with force when its job is cancelled", async () => {
    const { child, log, exited } = start(commands("sleep 120"));
    while (!log().includes("::group::$ sleep 120")) await new Promise((resolve) => setTimeout(resolve, 50));
    child.kill("SIGINT");
    expect(await exited).toBe(1);
    const id = /^Run (\S+)$/m.exec(log())?.[1] ?? "";
    const { body } = await client(service).call("GET", `/agent/runs/${id}`);
    expect(body).toMatchObject({ state: "CANCELLED", source: "GITHUB_ACTION", is_run_type_cancellable: false });
  });
});

describe("the script of docs/ci.md for any CI", () => {
  const page = readFileSync(path.join(root, "docs/ci.md"), "utf8");
  const script = /^```sh\n(set -eu\n[\s\S]*?)^```$/m.exec(page)?.[1] ?? "";
  const sh = promisify(execFile);

  it.each([
    ["echo said", 0, "SUCCEEDED"],
    ["exit 1", 1, "FAILED"],
  ])("follows a run with curl to its outcome: %s", async (line, code, state) => {
    writeFileSync(path.join(folder, "run.json"), JSON.stringify({ prompt: commands(line) }));
    const env = {
      PATH: process.env["PATH"],
      RUNYARD_BASE_URL: service.baseUrl,
      RUNYARD_API_KEY: service.apiKey,
      JOB: line,
    };
    const { stdout, ...failure } = await sh("sh", ["-c", script], { cwd: folder, env }).catch((error) => error);
    expect(Reflect.get(failure, "code") ?? 0).toBe(code);
    expect(stdout).toMatch(new RegExp(`^run [0-9a-f-]{36}\n${state}\n$`));
  });
});
