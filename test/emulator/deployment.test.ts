import { execFile, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { WebSocket } from "ws";
import { sendToQueue } from "../../emulator/emulator-calls.ts";
import type { Composition } from "../server/support/worker-service.ts";
import { workerProtocolContract } from "../server/workers/worker-protocol-contract.ts";
import { client, commands } from "../support/api-client.ts";
import { type CloudProcess, dropState, makeState, readLog, startCloud } from "./cloud.ts";
import { composeEmulator } from "./worker-composition.ts";

const START_MS = 900_000;
const MINUTE = 60_000;
/** Runs that are created at once under injected faults. */
const BATCH = 8;
const root = path.resolve(import.meta.dirname, "../..");
const sha256 = (bytes: Uint8Array | string) => createHash("sha256").update(bytes).digest("hex");

let state: string;
let cloud: CloudProcess;
let api: ReturnType<typeof client>;

beforeAll(async () => {
  state = await makeState();
  cloud = await startCloud(state);
  api = client(cloud);
}, START_MS);

afterAll(async () => {
  await cloud.stop();
  await dropState(state);
}, START_MS);

describe.concurrent("the deployment on the emulator", () => {
  test("executes the sample run and prints the next steps for a new user", ({ expect }) => {
    const printed = cloud.printed();
    expect(printed).toMatch(/Result\s+SUCCEEDED/);
    expect(printed).toMatch(/from submit to first command/);
    expect(printed).toContain("-d @examples/hello.json");
    expect(printed).toContain("no model key configured: only fenced shell blocks run; add one with");
  });

  test("executes a run on a self-hosted worker that connects by the WebSocket API", async ({ expect }) => {
    const id = await api.create(commands("echo on the worker"), { config: { worker_host: "rack-7" } });
    const refused = await fetchStatus(`${await socketUrl()}?worker_id=rack-7`, "ryp_wrong");
    expect([401, 403]).toContain(refused);
    const program = path.join(root, "server/command/runyard-server.ts");
    const worker = spawn(process.execPath, [program, "worker", "--id", "rack-7", "--no-sandbox"], {
      env: { ...process.env, RUNYARD_API_KEY: cloud.apiKey, RUNYARD_BASE_URL: cloud.baseUrl },
    });
    let output = "";
    for (const stream of [worker.stdout, worker.stderr])
      stream.on("data", (chunk: Buffer) => (output += String(chunk)));
    try {
      const run = await api.ended(id);
      expect(run.status_message?.message ?? run.state, output).toBe("SUCCEEDED");
      expect(await api.outputs(id)).toEqual(["on the worker\n"]);
      const timeline = await api.call("GET", `/agent/runs/${id}/timeline`);
      expect(timeline.body.events.map(({ event_type }: { event_type: string }) => event_type)).toContain("run_claimed");
      const long = await api.create(commands("sleep 300"), { config: { worker_host: "rack-7" } });
      await api.until(long, ({ state }) => state === "INPROGRESS");
      expect((await api.call("POST", `/agent/runs/${long}/cancel`)).status).toBe(422);
      expect((await api.call("POST", `/agent/runs/${long}/cancel?force=true`)).status).toBe(200);
      await vi.waitFor(() => expect(output).toContain(`${long} cancelled`), { timeout: MINUTE });
    } finally {
      worker.kill("SIGTERM");
    }
    const list = async () => (await api.call("GET", "/agent/connected-self-hosted-workers")).body.workers;
    const gone = expect.not.arrayContaining([expect.objectContaining({ worker_host: "rack-7" })]);
    await vi.waitFor(async () => expect(await list()).toEqual(gone), { timeout: MINUTE });
  });

  test("executes a run with an upload, whose artifact and transcript can be downloaded", async ({ expect }) => {
    const content = "attached\n";
    const attachment = { file_name: "in.txt", mime_type: "text/plain", data: Buffer.from(content).toString("base64") };
    const emulatorPort = new URL(cloud.emulator.endpoint).port;
    const id = await api.create(
      commands(
        `head -c 300000 /dev/urandom > $RUNYARD_OUTPUT/noise.bin; sha256sum < $RUNYARD_OUTPUT/noise.bin`,
        `(exec 3<>/dev/tcp/127.0.0.1/${emulatorPort}) 2>/dev/null && echo emulator-is-reachable; env`,
      ),
      { attachments: [attachment] },
    );
    const run = await api.ended(id);
    expect(run.status_message?.message ?? run.state).toBe("SUCCEEDED");
    const [digest = "", environment = ""] = await api.outputs(id);
    expect(environment).not.toContain("emulator-is-reachable");
    expect(environment).not.toMatch(/AWS_(ACCESS_KEY_ID|SECRET_ACCESS_KEY|SESSION_TOKEN|ENDPOINT_URL)=/);
    const [artifact] = run.artifacts;
    const { body: file } = await api.call("GET", `/agent/artifacts/${artifact.data.artifact_uid}`);
    const download = await fetch(file.data.download_url);
    expect(download.headers.get("content-disposition")).toContain('attachment; filename="noise.bin"');
    expect(digest).toContain(sha256(Buffer.from(await download.arrayBuffer())));
    expect(await (await fetch(await api.transcriptUrl(id))).text()).toContain(digest.trim());
  });

  test("stops the commands of a cancelled run", async ({ expect }) => {
    const id = await api.create(commands("echo begun; sleep 300"));
    await api.until(id, ({ state: current }) => current === "INPROGRESS");
    expect((await api.call("POST", `/agent/runs/${id}/cancel`)).status).toBe(200);
    await expect
      .poll(async () => (await api.timeline(id)).at(-1), { timeout: MINUTE })
      .toMatchObject({ event_type: "run_stopped", payload: { confirmed_by: "harness" } });
  });

  // @contract schedules.firing.run
  test("fires a schedule in the next minute", async ({ expect }) => {
    const made = await api.call("POST", "/agent/schedules", {
      name: "Every minute",
      cron_schedule: "* * * * *",
      prompt: commands("echo tick"),
    });
    const { id } = made.body;
    const ticks = async () => (await api.call("GET", `/agent/schedules/${id}/ticks`)).body.ticks;
    await expect.poll(async () => (await ticks()).length, { timeout: 2 * MINUTE, interval: 500 }).toBe(1);
    await api.call("POST", `/agent/schedules/${id}/pause`);
    const [{ run_id, outcome }] = await ticks();
    expect(outcome).toBe("fired");
    expect((await api.ended(run_id)).state).toBe("SUCCEEDED");
  });

  test("invokes a function with an event fixture through npm run invoke", async ({ expect }) => {
    const args = [path.join(root, "emulator/invoke.ts"), "create-run", "events/http/create-run.json"];
    const env = { PATH: process.env["PATH"], RUNYARD_STATE: state };
    const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: root, env });
    expect(stdout).toContain('"state": "QUEUED"');
  });

  test("redrives messages of a dead-letter queue", async ({ expect }) => {
    const id = await api.create(commands("true"));
    await api.ended(id);
    await sendToQueue(cloud.emulator, "runyard-ends-dead", JSON.stringify({ v: 1, run_id: id }));
    const redrive = (...args: string[]) =>
      promisify(execFile)(process.execPath, [path.join(root, "operate/redrive.ts"), "--local", ...args], {
        env: { PATH: process.env["PATH"], RUNYARD_STATE: state },
      });
    expect((await redrive()).stdout).toMatch(/ends\D+1/);
    expect((await redrive("ends")).stdout).toMatch(/ends\D+1/);
    expect((await redrive()).stdout).toMatch(/ends\D+0/);
  });
});

describe.concurrent("self-hosted workers of the deployment on the emulator", () => {
  let service: Composition;
  beforeAll(async () => {
    service = await composeEmulator(cloud);
  });
  afterAll(() => service.stop());

  workerProtocolContract(() => service);
});

describe("a restart of the deployment on the emulator", () => {
  test(
    "keeps runs and key after a clean stop, and the state of the last clean stop after kill -9",
    async () => {
      const kept = await api.create(commands("echo kept"));
      await api.ended(kept);
      const { apiKey } = cloud;
      expect(await cloud.stop()).toBe(0);

      cloud = await startCloud(state);
      expect(cloud.apiKey).toBe(apiKey);
      api = client(cloud);
      expect(await api.ended(kept)).toMatchObject({ run_id: kept, state: "SUCCEEDED" });
      expect(await api.outputs(kept)).toEqual(["kept\n"]);
      const { emulator } = JSON.parse(await readFile(`${state}/pids.json`, "utf8"));
      cloud.process.kill("SIGKILL");
      process.kill(emulator.pid, "SIGKILL");

      cloud = await startCloud(state, ["--faults", "5"]);
      expect(cloud.printed()).toMatch(
        /killed: what is there is from the last clean stop, \d{4}-\d{2}-\d{2} \d{2}:\d{2}/,
      );
      api = client(cloud);
      expect(await api.ended(kept)).toMatchObject({ state: "SUCCEEDED" });
    },
    2 * START_MS,
  );

  test(
    "executes runs although AWS calls are throttled, delayed, lost and duplicated",
    async () => {
      // Faults are injected at random: runs are created until there were more than a batch has runs.
      let injected = 0;
      for (let batch = 0; injected <= BATCH; batch += 1) {
        const texts = Array.from({ length: BATCH }, (_, index) => `run-${batch}-${index}`);
        const ids = await Promise.all(texts.map((text) => createPersistently(`echo ${text}`)));
        expect(new Set(ids).size).toBe(ids.length);
        for (const [index, id] of ids.entries()) {
          const run = await api.ended(id, 240);
          expect(run.status_message?.message ?? run.state).toBe("SUCCEEDED");
          // Reads fail now and then, too.
          await vi.waitFor(async () => expect(await api.outputs(id)).toEqual([`${texts[index]}\n`]), {
            timeout: MINUTE,
          });
        }
        const names = ["create-run", "dispatch-run", "get-run", "resolve-prompt", "append-messages", "finish-task"];
        injected = (await Promise.all(names.map((name) => readLog(cloud, name, "fault injected")))).flat().length;
      }
    },
    START_MS,
  );
});

/** Creates a run as clients do: the request is repeated under its key while it fails. */
async function createPersistently(script: string): Promise<string> {
  const headers = { "idempotency-key": `faults-${script}` };
  let id = "";
  const create = async () => {
    const { status, body } = await api.call("POST", "/agent/runs", { prompt: commands(script) }, headers);
    id = body?.run_id ?? "";
    return status;
  };
  await expect.poll(create, { timeout: MINUTE, interval: 500 }).toBe(200);
  return id;
}

const socketUrl = async (): Promise<string> =>
  (await api.call("GET", "/agent/connected-self-hosted-workers")).body.ws_url;

/** The status with which a socket is refused. */
const fetchStatus = (url: string, key: string): Promise<number> =>
  new Promise((resolve) => {
    const socket = new WebSocket(url, { headers: { authorization: `Bearer ${key}` } });
    socket.on("error", () => undefined);
    socket.on("open", () => resolve(101));
    socket.on("unexpected-response", (_, response) => resolve(response.statusCode ?? 0));
  });
