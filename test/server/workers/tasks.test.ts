import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import { Tasks } from "#server/worker/tasks.ts";
import type { TaskAssignment, WorkerFrame } from "#shared/wire/worker.ts";

const folder = mkdtempSync(path.join(tmpdir(), "runyard-tasks-"));
const BASE_URL = "http://127.0.0.1:9/api/v1";
/** A harness that prints its envelope, and exits with the code that its run names, or on a signal. */
const program = { file: path.join(folder, "harness.cjs") };
writeFileSync(
  program.file,
  `process.on("SIGTERM", () => process.exit(0));
   let text = "";
   process.stdin.on("data", (chunk) => { text += chunk; });
   process.stdin.on("end", () => {
     const envelope = JSON.parse(text);
     console.log("envelope " + text.replace(envelope.key, "[" + envelope.key.length + "]"));
     const [, code] = /^ends-(\\d)/.exec(envelope.run_id) ?? [];
     if (code !== undefined) process.exitCode = Number(code);
     else setInterval(() => {}, 1000);
   });`,
);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let frames: WorkerFrame[];
let lines: string[];
let tasks: Tasks;
beforeEach(() => {
  [frames, lines] = [[], []];
  tasks = makeTasks(2);
});
afterEach(() => tasks.drain(AbortSignal.abort()));

const makeTasks = (maxTasks: number): Tasks =>
  new Tasks({
    ...{ workerId: "rack-7", maxTasks, baseUrl: BASE_URL, program: () => program },
    findProblem: ({ docker_image }) => (docker_image === undefined ? undefined : `no ${docker_image} here`),
    send: (frame) => frames.push(frame),
    log: (line) => lines.push(line),
  });

function assignment(task_id: string, more: Partial<TaskAssignment["data"]> = {}): TaskAssignment {
  const time = "2026-05-18T19:00:00Z";
  const task = {
    ...{ id: task_id, title: `Title of ${task_id}`, task_definition: { prompt: "work" } },
    ...{ created_at: time, updated_at: time, owner: { Type: "TEAM", Id: 1 } as const },
  };
  const data = { task_id, execution_id: `execution of ${task_id}`, task, env_vars: { WARP_API_KEY: "ryr_key" } };
  return { type: "task_assignment", data: { ...data, ...more } };
}
const claimed = (task_id: string, execution_id = `execution of ${task_id}`) => ({
  type: "task_claimed",
  data: { task_id, execution_id, worker_id: "rack-7" },
});
const completed = (task_id: string, more: object = {}, execution_id = `execution of ${task_id}`) => ({
  type: "task_completed",
  data: { task_id, execution_id, message: "the execution has ended", ...more },
});
const failed = (task_id: string, message: string, failure_reason = "graceful_shutdown", more: object = {}) => ({
  type: "task_failed",
  data: { task_id, execution_id: `execution of ${task_id}`, message, failure_reason, ...more },
});
const started = (run: string) => expect.poll(() => lines.filter((line) => line.startsWith(`${run} envelope`)).length);
const sent = () => expect.poll(() => frames);

describe("the tasks of a worker", () => {
  it("are claimed and executed with the envelope of their assignment, and reported as completed", async () => {
    await tasks.assign(assignment("ends-0"));
    await sent().toEqual([claimed("ends-0"), completed("ends-0")]);
    expect(tasks.count).toBe(0);
    expect(lines).toEqual([
      "ends-0 claimed: Title of ends-0",
      expect.stringMatching(/^ends-0 envelope /),
      "ends-0 ended",
    ]);
    expect(JSON.parse(lines[1]?.replace(/^\S+ envelope /, "") ?? "")).toEqual({
      ...{ version: 1, base_url: BASE_URL, model_url: `${BASE_URL}/model` },
      ...{ run_id: "ends-0", execution_id: "execution of ends-0", key: "[7]" },
      waits: true,
    });
  });

  it("call models at the address that their assignment names", async () => {
    const env_vars = { WARP_API_KEY: "ryr_key", RUNYARD_MODEL_URL: "https://models.example" };
    await tasks.assign(assignment("ends-0", { env_vars }));
    await started("ends-0").toBe(1);
    expect(lines.join()).toContain('"model_url":"https://models.example"');
  });

  it("are reported as failed where their harness breaks off", async () => {
    await tasks.assign(assignment("ends-7"));
    await sent().toEqual([claimed("ends-7"), failed("ends-7", "the harness ended with exit code 7")]);
    expect(lines.at(-1)).toBe("ends-7 lost: the harness ended with exit code 7");
  });

  it("are claimed once where the service repeats an assignment", async () => {
    await tasks.assign(assignment("a"));
    await started("a").toBe(1);
    await tasks.assign(assignment("a"));
    expect([frames, tasks.count]).toEqual([[claimed("a")], 1]);
  });

  it("end an execution before the next one of the same run begins", async () => {
    await tasks.assign(assignment("a"));
    await started("a").toBe(1);
    await tasks.assign(assignment("a", { execution_id: "second" }));
    expect(frames).toEqual([claimed("a"), failed("a", "the worker ended the execution"), claimed("a", "second")]);
    expect(tasks.count).toBe(1);
  });

  it("fail with the reason where this machine cannot execute them", async () => {
    await tasks.assign(assignment("a", { docker_image: "debian" }));
    const message = "no debian here";
    expect(frames).toEqual([claimed("a"), failed("a", message, "dispatch_command")]);
    expect(tasks.count).toBe(0);
  });

  it("wait until another task ends and frees room", async () => {
    tasks = makeTasks(1);
    await tasks.assign(assignment("a"));
    await started("a").toBe(1);
    const waiting = tasks.assign(assignment("b"));
    tasks.cancel({ type: "task_cancellation", data: { task_id: "a" } });
    await waiting;
    expect(frames).toEqual([
      claimed("a"),
      completed("a", { message: "cancelled", task_state: "CANCELLED" }),
      claimed("b"),
    ]);
  });
});

describe("a cancellation", () => {
  const cancel = (task_id: string, execution_id?: string) =>
    tasks.cancel({ type: "task_cancellation", data: { task_id, ...(execution_id !== undefined && { execution_id }) } });

  it.each([[undefined], ["execution of a"]])("ends the task of a run and is reported (execution: %s)", async (id) => {
    await tasks.assign(assignment("a"));
    await tasks.assign(assignment("b"));
    await Promise.all([started("a").toBe(1), started("b").toBe(1)]);
    cancel("a", id);
    await sent().toEqual([
      claimed("a"),
      claimed("b"),
      completed("a", { message: "cancelled", task_state: "CANCELLED" }),
    ]);
    expect([tasks.count, lines.at(-1)]).toEqual([1, "a cancelled"]);
  });

  it("of another execution, or of a task that has ended, ends nothing and is reported", async () => {
    await tasks.assign(assignment("a"));
    await started("a").toBe(1);
    cancel("a", "earlier");
    cancel("b");
    const over = { message: "the task is not running", task_state: "CANCELLED" };
    expect(frames.slice(1)).toEqual([
      completed("a", over, "earlier"),
      { type: "task_completed", data: { task_id: "b", ...over } },
    ]);
    expect(tasks.count).toBe(1);
  });
});

describe("a worker that drains", () => {
  it("waits for its tasks, rejects others immediately, and ends the tasks when its time is over", async () => {
    await tasks.assign(assignment("a"));
    await started("a").toBe(1);
    const limit = new AbortController();
    let isDrained = false;
    const drained = tasks.drain(limit.signal).then(() => {
      isDrained = true;
    });
    await tasks.assign(assignment("b"));
    const reason = "the worker shuts down";
    const data = { task_id: "b", execution_id: "execution of b", reason };
    expect(frames).toEqual([claimed("a"), { type: "task_rejected", data }]);
    expect([isDrained, tasks.count]).toEqual([false, 1]);
    limit.abort();
    await drained;
    expect(frames.slice(2)).toEqual([failed("a", "the worker ended the execution")]);
  });
});
