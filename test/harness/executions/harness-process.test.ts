import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import {
  discardHarness,
  type ExecutionOptions,
  isRunning,
  runExecution,
  startHarness,
} from "#shared/sandbox/harness-process.ts";
import type { Envelope } from "#shared/wire/harness.ts";
import { HOST_SETTINGS } from "#shared/wire/host-settings.ts";
import { newMark, sleepers } from "../support/processes.ts";

const READ = `const envelope = JSON.parse((await process.stdin.toArray()).join("") || "{}");\n`;
const KEY = "ryr_the-key";
/** Variables that a harness gets from the process that starts it, in addition to PATH. */
const PASSED_ON = [
  ...HOST_SETTINGS,
  ...["LANG", "RUNYARD_AGENTS", "HTTPS_PROXY", "NO_PROXY", "SSL_CERT_FILE", "GIT_SSL_CAINFO"],
];

interface Report {
  readonly path: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: unknown;
}

let folder: string;
let server: Server;
let reports: Report[];
let lines: string[];
beforeEach(async () => {
  folder = mkdtempSync(path.join(tmpdir(), "harness-test-"));
  reports = [];
  lines = [];
  server = createServer(async (request, response) => {
    reports.push({ path: request.url, headers: request.headers, body: JSON.parse(await text(request)) });
    response.end("{}");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
});
afterEach(async () => {
  vi.unstubAllEnvs();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  rmSync(folder, { recursive: true });
});

function baseUrl(): string {
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("the server does not listen");
  return `http://127.0.0.1:${address.port}`;
}
const envelope = (more: Partial<Envelope> = {}): Envelope => ({
  version: 1,
  model_url: "",
  run_id: "run-1",
  execution_id: newMark(),
  base_url: baseUrl(),
  key: KEY,
  ...more,
});
function program(code: string, environment?: Record<string, string>) {
  const file = path.join(folder, `${readdirSync(folder).length}.mjs`);
  writeFileSync(file, code);
  return environment === undefined ? { file } : { file, environment };
}
const run = (code: string, more: Partial<ExecutionOptions> = {}, given = envelope()) =>
  runExecution(given, { program: program(code), graceMs: 5_000, print: (line) => lines.push(line), ...more });
const SCRATCH = path.join(tmpdir(), `runyard-sandbox-${process.pid}-`);
const listScratch = () => readdirSync(tmpdir()).filter((name) => name.startsWith(path.basename(SCRATCH)));

describe("an execution", () => {
  it("gets its envelope, its own directory and few variables, and prints no key", async () => {
    vi.stubEnv("AWS_SECRET_ACCESS_KEY", "secret");
    for (const name of PASSED_ON) vi.stubEnv(name, `own ${name}`);
    const code = `${READ}console.log(JSON.stringify({ ...envelope, cwd: process.cwd(), flags: process.execArgv, again: envelope.key })); console.error(JSON.stringify(process.env));`;
    const given = envelope();
    expect(await run(code, { program: program(code, { OWN: "yes", TMPDIR: "/nowhere" }) }, given)).toBeUndefined();
    const printed = lines.map((line) => JSON.parse(line));
    const seen = printed.find(({ run_id }) => run_id === "run-1");
    expect(seen).toMatchObject({ ...given, key: "***", again: "***", flags: ["--disable-sigusr1"] });
    expect(seen.cwd.startsWith(SCRATCH)).toBe(true);
    const environment = printed.find(({ OWN }) => OWN === "yes");
    expect(environment).toMatchObject({
      ...Object.fromEntries(PASSED_ON.map((name) => [name, `own ${name}`])),
      TMPDIR: seen.cwd,
      RUNYARD_EXECUTION: given.execution_id,
      PATH: process.env["PATH"],
    });
    for (const name of ["AWS_SECRET_ACCESS_KEY", "HOME"]) expect(environment).not.toHaveProperty(name);
    expect([existsSync(seen.cwd), listScratch(), reports]).toEqual([false, [], []]);
    vi.stubEnv("NO_PROXY", "");
    lines = [];
    await run(`${READ}console.log("NO_PROXY" in process.env);`);
    expect(lines, "an empty variable").toEqual(["false"]);
  });

  it.each([
    ["process.exit(3);", "the harness ended with exit code 3"],
    [
      'process.kill(process.pid, "SIGKILL"); await new Promise(() => setInterval(() => {}, 1000));',
      "the harness ended with SIGKILL",
    ],
  ])("that ends with %s is reported as lost", async (code, message) => {
    expect(await run(READ + code)).toBe(message);
    expect(reports).toEqual([
      {
        path: "/harness-support/report-shutdown",
        headers: expect.objectContaining({
          authorization: `Bearer ${KEY}`,
          "content-type": "application/json",
          "runyard-protocol": expect.stringMatching(/^\d+$/),
        }),
        body: { error: { category: "harness_died", message } },
      },
    ]);
    expect(listScratch()).toEqual([]);
  });

  it("is lost even if the report cannot be delivered", async () => {
    server.closeAllConnections();
    expect(await run("process.exit(1);", {}, envelope({ base_url: "http://127.0.0.1:1" }))).toBe(
      "the harness ended with exit code 1",
    );
  });

  it("is lost even if the report is not accepted within four seconds", async () => {
    const timeouts: number[] = [];
    vi.spyOn(AbortSignal, "timeout").mockImplementation((ms) => {
      timeouts.push(ms);
      return AbortSignal.abort();
    });
    const lost = await run("process.exit(1);").finally(() => vi.restoreAllMocks());
    expect([lost, timeouts, reports]).toEqual(["the harness ended with exit code 1", [4_000], []]);
  });

  it("is lost if it ends without reading its envelope, however long that is", async () => {
    const given = envelope({ model_url: "x".repeat(5_000_000) });
    expect(await run("process.exit(4);", {}, given)).toBe("the harness ended with exit code 4");
  });

  it("is lost if it cannot be started", async () => {
    const own = process.execPath;
    process.execPath = "/nowhere/node";
    const lost = await run("").finally(() => {
      process.execPath = own;
    });
    const message = "the harness could not be started";
    expect(lost).toBe(message);
    expect(reports.map(({ body }) => body)).toEqual([{ error: { category: "harness_died", message } }]);
    expect(listScratch()).toEqual([]);
  });

  const WAIT = `${READ}console.log("ready"); setInterval(() => {}, 1000);`;
  const OBEY = `process.on("SIGTERM", () => process.exit(0));\n${WAIT}`;
  const DEFY = `process.on("SIGTERM", () => console.log("no"));\n${WAIT}`;

  it("gets SIGTERM at its deadline, and SIGKILL after the grace period", async () => {
    const deadline_at = Date.now() + 6_000;
    const ended = await Promise.all([
      run(OBEY, {}, envelope({ deadline_at })),
      run(DEFY, { graceMs: 50 }, envelope({ deadline_at })),
    ]);
    expect(ended).toEqual([undefined, "the harness ended with SIGKILL"]);
    expect(Date.now()).toBeGreaterThanOrEqual(deadline_at);
    expect(lines.toSorted()).toEqual(["no", "ready", "ready"]);
  });

  it("gets SIGTERM when its signal aborts, also if it aborted before", async () => {
    const stop = new AbortController();
    const running = run(OBEY, { stop: stop.signal });
    await expect.poll(() => lines).toEqual(["ready"]);
    stop.abort();
    expect(await running).toBeUndefined();
    expect(await run(WAIT, { stop: stop.signal })).toBe("the harness ended with SIGTERM");
  });

  it("leaves no process behind, unless its processes are contained", async () => {
    const mark = newMark();
    const leave = (setup: string) =>
      `import { spawn } from "node:child_process";\n${READ}${setup}spawn("sleep", ["${mark}"], { detached: true, stdio: "ignore" }).unref();`;
    expect(await run(leave(""))).toBeUndefined();
    expect(sleepers(mark)).toBe(0);
    const given = envelope();
    expect(await run(leave(""), { contained: true }, given)).toBeUndefined();
    expect(sleepers(mark)).toBe(1);
    expect(await run(`${leave("")}process.exit(1);`, { contained: true }, given)).toBe(
      "the harness ended with exit code 1",
    );
    expect(sleepers(mark), "all of this execution").toBe(0);
  });

  it("does not wait for output that another process holds open", async () => {
    const mark = newMark();
    const code = `import { spawn } from "node:child_process";\n${READ}spawn("sleep", ["${mark}"], { detached: true, stdio: ["ignore", 1, 2] }).unref(); process.exit(0);`;
    expect(await run(code)).toBeUndefined();
    expect(sleepers(mark)).toBe(0);
  });
});

describe("a harness that was started ahead", () => {
  it("takes the envelope in place of a new one", async () => {
    const waiting = await startHarness(program(`${READ}console.log(process.pid, envelope.run_id);`));
    expect(isRunning(waiting.child)).toBe(true);
    expect(await run("process.exit(9);", { waiting })).toBeUndefined();
    expect(lines).toEqual([`${waiting.child.pid} run-1`]);
    expect([isRunning(waiting.child), existsSync(waiting.scratch)]).toEqual([false, false]);
  });

  it("is lost if it has ended", async () => {
    const waiting = await startHarness(program("process.exit(4);"));
    await expect.poll(() => isRunning(waiting.child)).toBe(false);
    expect(await run("", { waiting })).toBe("the harness ended with exit code 4");
    expect(reports).toHaveLength(1);
  });

  it("removes what it prepared when it is discarded, and nothing of it remains", async () => {
    const mark = newMark();
    const proof = path.join(folder, "proof");
    const code = `import { spawn } from "node:child_process"; import { writeFileSync } from "node:fs";
      spawn("sleep", ["${mark}"], { detached: true, stdio: "ignore" }).unref();
      console.log("x".repeat(1_000_000));
      console.error("x".repeat(1_000_000));
      ${READ}writeFileSync("${proof}", JSON.stringify(envelope));`;
    const waiting = await startHarness(program(code));
    await expect.poll(() => sleepers(mark)).toBe(1);
    await discardHarness(waiting);
    expect([existsSync(proof), existsSync(waiting.scratch), sleepers(mark)]).toEqual([true, false, 0]);
    expect(waiting.child.signalCode, "it ended by itself").toBeNull();
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const timers = await discardHarness(waiting)
      .then(() => vi.getTimerCount())
      .finally(() => vi.useRealTimers());
    expect([isRunning(waiting.child), timers]).toEqual([false, 0]);
  });

  it("is killed when it does not end within five seconds after it was discarded", async () => {
    const waiting = await startHarness(program("setInterval(() => {}, 1000);"));
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const discarded = discardHarness(waiting);
    vi.advanceTimersByTime(4_999);
    const early = waiting.child.killed;
    vi.advanceTimersByTime(1);
    const late = waiting.child.killed;
    vi.useRealTimers();
    await discarded;
    expect([early, late, waiting.child.signalCode, existsSync(waiting.scratch)]).toEqual([
      false,
      true,
      "SIGKILL",
      false,
    ]);
  });

  it("leaves no process behind, of its own mark or of the execution's", async () => {
    const [own, commands] = [newMark(), newMark()];
    const leave = (mark: string, env: string) =>
      `spawn("sleep", ["${mark}"], { detached: true, stdio: "ignore", env: ${env} }).unref();`;
    const code = `import { spawn } from "node:child_process";\n${READ}
      ${leave(own, "process.env")}
      ${leave(commands, "{ ...process.env, RUNYARD_EXECUTION: envelope.execution_id }")}`;
    const waiting = await startHarness(program(code));
    expect(await run("", { waiting })).toBeUndefined();
    expect([sleepers(own), sleepers(commands)]).toEqual([0, 0]);
  });

  it("has processes of its own mark", async () => {
    const waiting = await startHarness(program(`${READ}console.log(process.env.RUNYARD_EXECUTION);`), "the-mark");
    expect(waiting.mark).toBe("the-mark");
    await run("", { waiting });
    expect(lines).toEqual(["the-mark"]);
  });
});
