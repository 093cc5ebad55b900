import { createHash, randomBytes } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type CloudProcess, client, commands, dropState, logOf, makeState, type Reply, startCloud } from "./cloud.ts";

let cloud: CloudProcess;
let api: ReturnType<typeof client>;

beforeAll(async () => {
  cloud = await startCloud(await makeState());
  api = client(cloud);
}, 300_000);

afterAll(async () => {
  expect(await cloud.stop()).toBe(0);
  await dropState(cloud.state);
}, 30_000);

describe("npm run emulator", () => {
  test("runs the sample on a real repository and prints what a new user needs next", () => {
    const printed = cloud.printed();
    expect(printed).toMatch(/Result\s+SUCCEEDED/);
    expect(printed).toMatch(/from submit to first command/);
    expect(printed).toContain("-d @examples/hello.json");
    expect(printed).toContain("no model key configured: only fenced shell blocks run; add one with");
  });
});

describe("a run from prompt to results", () => {
  test("is created at once, succeeds, and shows each step, command, file and its transcript", async () => {
    const created = await api.call("POST", "/agent/run", {
      prompt: commands(
        "echo one > kept.txt; echo from-one",
        "cat kept.txt; head -c 300000 /dev/urandom > $RUNYARD_OUTPUT/noise.bin; sha256sum < $RUNYARD_OUTPUT/noise.bin",
      ),
      title: "Main job",
      metadata: { ticket: "42" },
    });
    expect(created.status).toBe(200);
    expect(created.body).toEqual({ run_id: created.body.task_id, task_id: created.body.run_id, state: "QUEUED" });
    const id: string = created.body.run_id;
    const run = await api.ended(id);
    expect(run).toMatchObject({
      state: "SUCCEEDED",
      title: "Main job",
      metadata: { ticket: "42" },
      source: "API",
      conversation_id: id,
    });
    expect(run.session_link).toBe(`${cloud.baseUrl.replace("/api/v1", "")}/runs/${id}`);

    const types = (await api.timeline(id)).map(({ event_type }) => event_type);
    expect(types.filter((type) => !type.startsWith("setup_"))).toEqual([
      "run_created",
      "run_pending",
      "worker_container_ready",
      "agent_started",
      "artifact_created",
      "checkpoint_saved",
      "run_succeeded",
    ]);

    const [first, second] = await api.outputs(id);
    expect(first).toContain("from-one");
    expect(second).toContain("one");

    const [artifact] = run.artifacts;
    expect(artifact).toMatchObject({ artifact_type: "FILE", data: { filename: "noise.bin", size_bytes: 300_000 } });
    const { body: file } = await api.call("GET", `/agent/artifacts/${artifact.data.artifact_uid}`);
    const download = await fetch(file.data.download_url);
    expect(download.headers.get("content-disposition")).toContain('attachment; filename="noise.bin"');
    const digest = createHash("sha256")
      .update(Buffer.from(await download.arrayBuffer()))
      .digest("hex");
    expect(second).toContain(digest);

    const location = await transcriptOf(id);
    const transcript = await (await fetch(location)).text();
    const lines = transcript
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines[0]).toMatchObject({ type: "run", run_id: id });
    expect(lines.at(-1)).toMatchObject({ type: "event", event_type: "run_succeeded" });
    expect(transcript).toContain(digest);
  });

  test("fails with a message that names the command and its exit code, and runs nothing behind it", async () => {
    const id = await api.create(commands("true", "echo fine", "ls /no/such/place; exit 7", "echo never"));
    const run = await api.ended(id);
    expect(run.state).toBe("FAILED");
    expect(run.status_message.message).toContain("ls /no/such/place");
    expect(run.status_message.message).toMatch(/\b7\b/);
    expect((await api.outputs(id)).join()).not.toContain("never");
  });

  test("without a fenced block fails and says what to add", async () => {
    const run = await api.ended(await api.create("Please fix the build."));
    expect(run.state).toBe("FAILED");
    expect(run.status_message.message).toMatch(/fenced/);
  });

  test("takes up follow-ups while it runs and after its end", async () => {
    const id = await api.create(commands("sleep 2; echo first-turn"));
    await api.until(id, ({ state }) => state === "INPROGRESS");
    expect(
      (await api.call("POST", `/agent/runs/${id}/followups`, { message: commands("echo second-turn") })).status,
    ).toBe(200);
    await api.ended(id);
    expect((await api.outputs(id)).map((text) => text.trim())).toEqual(["first-turn", "second-turn"]);
    expect(
      (await api.call("POST", `/agent/runs/${id}/followups`, { message: commands("echo third-turn") })).status,
    ).toBe(200);
    await api.until(id, (run) => run.state === "SUCCEEDED");
    await expect
      .poll(async () => (await api.outputs(id)).map((text) => text.trim()), { timeout: 30_000 })
      .toEqual(["first-turn", "second-turn", "third-turn"]);
  });
});

describe("a secret of an environment", () => {
  test("reaches commands and setup commands, and is in nothing that can be read of the run", async () => {
    const value = `tr4ck3r/${randomBytes(24).toString("base64")}`;
    const secret = { name: `TOKEN_${Date.now()}`, value };
    expect((await api.call("POST", "/agent/secrets", secret)).status).toBe(201);
    const environment = await api.call("POST", "/agent/environments", {
      name: secret.name,
      secrets: [{ name: secret.name }],
      setup_commands: [`printf %s "$${secret.name}" | sha256sum > setup.txt; echo "$${secret.name}"`],
    });
    const config = { environment_id: environment.body.uid };
    const prompt = commands(
      `cat setup.txt; printf %s "$${secret.name}" | sha256sum`,
      `echo $${secret.name}; echo $${secret.name} | base64; env | sort; printenv | base64 -w0`,
    );
    const id = await api.create(prompt, { config });
    expect((await api.ended(id)).status_message?.message).toBeUndefined();
    const digest = createHash("sha256").update(value).digest("hex");
    expect((await api.outputs(id))[0]).toBe(`${digest}  -\n${digest}  -\n`);
    expect((await api.outputs(id))[1]).toContain(`${secret.name}=***`);
    const setup = (await api.timeline(id)).filter(({ event_type }) => event_type.startsWith("setup_"));
    expect(setup).toMatchObject([
      { event_type: "setup_environment_resolution", payload: { is_error: false, detail: "1 secret" } },
      { event_type: "setup_commands", payload: { is_error: false, duration_ms: expect.any(Number) } },
    ]);

    const parts = ["", "/conversation", "/timeline", "/events?after=0", "/response"];
    const answers = await Promise.all(parts.map((part) => api.call("GET", `/agent/runs/${id}${part}`)));
    const transcript = await (await fetch(await transcriptOf(id))).text();
    const all = [...answers.map(({ body }) => JSON.stringify(body)), transcript].join("\n");
    expect(all).toContain(digest);
    expect(all).not.toContain(value);
    for (const before of ["", "x", "xx"]) {
      const encoded = Buffer.from(before + value).toString("base64");
      expect(all).not.toContain(encoded.slice(4, 28));
    }

    expect((await api.call("DELETE", `/agent/secrets/${secret.name}`)).status).toBe(204);
    const failed = await api.ended(await api.create(commands("echo not reached"), { config }));
    expect(failed).toMatchObject({ state: "FAILED", status_message: { error_code: "environment_setup_failed" } });
    expect(failed.status_message.message).toContain(secret.name);
    const { body } = await api.call("GET", `/agent/environments/${environment.body.uid}`);
    expect(body).toMatchObject({ setup_failed: true, last_task_created: { id: failed.run_id, state: "FAILED" } });
  });
});

describe("cancel", () => {
  test("leaves nothing of what the run started, detached processes included", async () => {
    const mark = `7${Date.now()}`;
    const id = await api.create(
      commands(
        `setsid sleep ${mark} & (setsid sh -c 'sleep ${mark} & exit 0' &) ; nohup sleep ${mark} >/dev/null 2>&1 & trap '' TERM; sleep ${mark}`,
      ),
    );
    await expect.poll(() => processesWith(mark), { timeout: 30_000 }).toBeGreaterThanOrEqual(4);
    const cancelled = await api.call("POST", `/agent/runs/${id}/cancel`);
    expect(cancelled).toMatchObject({ status: 200, body: id });
    await expect.poll(() => processesWith(mark), { timeout: 10_000 }).toBe(0);
    await expect
      .poll(async () => (await api.timeline(id)).at(-1), { timeout: 10_000 })
      .toMatchObject({
        event_type: "run_stopped",
        payload: { confirmed_by: "harness" },
      });
    expect((await api.call("GET", `/agent/runs/${id}`)).body).toMatchObject({
      state: "CANCELLED",
      is_sandbox_running: false,
    });
    expect((await api.call("POST", `/agent/runs/${id}/cancel`)).status).toBe(400);
    expect(await transcriptOf(id)).toContain("http");
  });
});

describe("many at once", () => {
  test("twenty runs all end, and none finds another's file, a key or a credential", async () => {
    const secret = `only-mine-${Date.now()}`;
    const search = [
      `echo ${secret}-$RANDOM > /tmp/secret.txt; echo ${secret} > mine.txt; sleep 1`,
      "cat /proc/*/environ /proc/*/cmdline 2>/dev/null | tr '\\0' '\\n' || true; env; ls -la /proc/*/fd 2>/dev/null || true; ls -laR /tmp 2>/dev/null || true",
      `grep -rs 'ryr_[0-9A-Za-z]\\{43\\}' / --include='*' --exclude-dir=proc --exclude-dir=sys --exclude-dir=usr -l | head || true`,
      `(exec 3<>/dev/tcp/127.0.0.1/${new URL(cloud.emulator.endpoint).port}) 2>/dev/null && echo emulator-is-reachable; true`,
      "ls -d /tmp/runyard-* /workspace/../*/ 2>/dev/null || true",
    ];
    const ids = await Promise.all(
      Array.from({ length: 20 }, (_, index) => api.create(commands(...search, `echo done-${index}`))),
    );
    const runs = await Promise.all(ids.map((id) => api.ended(id, 150)));
    expect(runs.map(({ state, status_message }) => status_message?.message ?? state)).toEqual(
      ids.map(() => "SUCCEEDED"),
    );
    for (const id of ids) {
      const seen = (await api.outputs(id)).slice(1).join("\n");
      expect(seen).not.toMatch(/ryr_[0-9A-Za-z]{43}/);
      expect(seen).not.toContain(cloud.apiKey);
      expect(seen).not.toMatch(/AWS_(ACCESS_KEY_ID|SECRET_ACCESS_KEY|SESSION_TOKEN|ENDPOINT_URL)=/);
      expect(seen).not.toContain("emulator-is-reachable");
      expect(seen).not.toContain("runyard-e2e-");
    }
  }, 240_000);

  test("equal creates under one Idempotency-Key make one run", async () => {
    const headers = { "idempotency-key": `e2e-${Date.now()}` };
    const body = { prompt: commands("echo once") };
    const replies = await Promise.all(Array.from({ length: 20 }, () => api.call("POST", "/agent/runs", body, headers)));
    expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 200));
    expect(new Set(replies.map((reply) => reply.body.run_id)).size).toBe(1);
    expect(replies.filter((reply) => reply.headers.get("idempotent-replay") === "true").length).toBe(19);
  });

  test("a retry that arrives before its original makes one run with it", async () => {
    const body = { prompt: commands(`echo overtaken-${Date.now()}`) };
    const retry = await api.call("POST", "/agent/runs", body, { "x-stainless-retry-count": "1" });
    const original = await api.call("POST", "/agent/runs", body, { "x-stainless-retry-count": "0" });
    expect(original.body.run_id).toBe(retry.body.run_id);
  });
});

describe("a harness that is killed", () => {
  test("is noticed, told of in the timeline, and its run goes on in a new execution or ends", async () => {
    const id = await api.create(commands("sleep 20; echo survived"));
    await api.until(id, ({ state }) => state === "INPROGRESS");
    await expect.poll(() => harnessOf(id), { timeout: 15_000 }).toBeDefined();
    const pid = await harnessOf(id);
    process.kill(pid ?? 0, "SIGKILL");
    await expect
      .poll(async () => (await api.timeline(id)).map(({ event_type }) => event_type), { timeout: 60_000 })
      .toContain("execution_lost");
    const run = await api.ended(id, 120);
    expect(run.state).toBe("SUCCEEDED");
    const executions = new Set((await api.timeline(id)).map(({ execution_id }) => execution_id).filter(Boolean));
    expect(executions.size).toBe(2);
  }, 200_000);
});

describe("a harness that is paused past its lease", () => {
  test("can do nothing more once it goes on: the run has one ending, and nothing of it comes after its loss", async () => {
    const id = await api.create(commands("echo begun", "sleep 6; echo done | tee $RUNYARD_OUTPUT/done.txt"));
    await expect.poll(() => harnessOf(id), { timeout: 30_000 }).toBeDefined();
    await expect.poll(async () => (await api.outputs(id)).length, { timeout: 30_000 }).toBe(1);
    const paused = (await harnessOf(id)) ?? 0;
    process.kill(paused, "SIGSTOP");
    try {
      const run = await api.ended(id, 150);
      expect(run.state).toBe("SUCCEEDED");
    } finally {
      process.kill(paused, "SIGCONT");
    }
    await expect
      .poll(async () => (await commandLines()).some(({ pid }) => pid === paused), { timeout: 30_000 })
      .toBe(false);
    const timeline = await api.timeline(id);
    const types = timeline.map(({ event_type }) => event_type);
    expect(types.filter((type) => /^run_(succeeded|failed|errored|cancelled)$/.test(type))).toEqual(["run_succeeded"]);
    const lost = timeline.findIndex(({ event_type }) => event_type === "execution_lost");
    const old = timeline[lost].execution_id;
    expect(timeline.slice(lost + 1).filter(({ execution_id }) => execution_id === old)).toEqual([]);
    expect(await api.outputs(id)).toEqual(["begun\n", "done\n"]);
    const { body } = await api.call("GET", `/agent/runs/${id}`);
    expect(body.artifacts).toHaveLength(1);
    // It did call once more, and heard that it is not asked any longer.
    await expect.poll(() => logOf(cloud, "run-sandbox", [old, '"stale"']), { timeout: 15_000 }).toHaveLength(1);
  }, 240_000);
});

describe("an execution whose run is over", () => {
  test("is answered 401, what it uploads late is seen by nobody, and the run has one ending", async () => {
    const made = await api.call("POST", "/agent/runs", { prompt: "mine", execution_location: "LOCAL" });
    const { run_id: id, run_key } = made.body;
    const support = (route: string, body: unknown) =>
      api.call("POST", `/harness-support/${route}`, body, { authorization: `Bearer ${run_key}` });
    const { context } = (await support("resolve-prompt", {})).body;
    const content = "too late";
    const sha256 = createHash("sha256").update(content).digest("hex");
    const named = { filepath: "late.txt", filename: "late.txt", mime_type: "text/plain" };
    const report = { artifact_type: "FILE", data: { ...named, size_bytes: content.length, sha256 } };
    const { artifact_uid, upload } = (await support("report-artifact", report)).body;
    expect((await support("finish-task", { success: true, summary: "done" })).status).toBe(200);

    // The address was good when it was given, and storage knows nothing of fences.
    expect((await uploadTo(upload, content)).ok).toBe(true);
    const said = { role: "assistant", content: [{ type: "text", text: "late" }] };
    const late = await Promise.all([
      support("report-artifact", report),
      support("messages", { execution_id: context.execution_id, first_sequence: 1, messages: [said] }),
      support("heartbeat", { execution_id: context.execution_id, followups_stored: 0 }),
      support("report-shutdown", { error: { category: "late", message: "late" } }),
    ]);
    expect(late.map(({ status }) => status)).toEqual([401, 401, 401, 401]);
    expect((await api.call("GET", `/agent/artifacts/${artifact_uid}`)).status).toBe(404);
    const run = (await api.call("GET", `/agent/runs/${id}`)).body;
    expect([run.state, run.artifacts ?? []]).toEqual(["SUCCEEDED", []]);
    const types = (await api.timeline(id)).map(({ event_type }) => event_type);
    expect(types.filter((type) => /^run_(succeeded|failed|errored|cancelled)$/.test(type))).toEqual(["run_succeeded"]);
  });
});

describe("over the front door", () => {
  test.each([
    ["GET", "/agent/nothing", 404],
    ["GET", "/agent/runs/", 404],
    ["PATCH", "/agent/runs", 405],
    ["GET", "/agent/runs?limit=0", 400],
    ["GET", "/agent/runs?limit=501", 400],
    ["GET", "/agent/runs?limit=2&limit=3", 400],
    ["GET", "/agent/runs?state=RUNNING", 400],
    ["GET", "/agent/runs?cursor=abc", 400],
    ["GET", "/agent/runs/00000000-0000-7000-8000-000000000000", 404],
  ])("%s %s answers %i as problem+json", async (method, target, status) => {
    const reply = await api.call(method, target);
    expect(reply.status).toBe(status);
    expect(reply.headers.get("content-type")).toBe("application/problem+json");
    expect(reply.body).toMatchObject({ status, instance: `/api/v1${target.split("?")[0]}` });
  });

  test("no key and a wrong key: 401", async () => {
    for (const authorization of ["", "Bearer ryp_wrong", "Basic abc"]) {
      const reply = await api.call("GET", "/agent/runs", undefined, { authorization });
      expect(reply.status).toBe(401);
      expect(reply.headers.get("www-authenticate")).toBe("Bearer");
    }
  });
});

/** Uploads as the target says, by PUT or as a form. */
function uploadTo(target: Reply["body"], content: string): Promise<Response> {
  const { url, method, headers = {}, fields = [] } = target;
  if (method === "PUT") return fetch(url, { method, headers, body: content });
  const form = new FormData();
  for (const { name, value } of fields) form.append(name, value.kind === "static" ? value.value : new Blob([content]));
  return fetch(url, { method, headers, body: form });
}

async function transcriptOf(id: string): Promise<string> {
  let location: string | null = null;
  await expect
    .poll(
      async () => {
        const reply = await fetch(`${cloud.baseUrl}/agent/runs/${id}/transcript`, {
          redirect: "manual",
          headers: { authorization: `Bearer ${cloud.apiKey}` },
        });
        location = reply.headers.get("location");
        return reply.status;
      },
      { timeout: 15_000 },
    )
    .toBe(302);
  return String(location);
}

/** Processes of this machine whose arguments contain the mark as a word of their own. */
async function processesWith(mark: string): Promise<number> {
  return (await commandLines()).filter(({ args }) => args.includes(mark) && args[0] === "sleep").length;
}

/** The harness of the run's latest execution. */
async function harnessOf(runId: string): Promise<number | undefined> {
  const execution = (await api.timeline(runId)).findLast(
    ({ execution_id }) => execution_id !== undefined,
  )?.execution_id;
  const harnesses = (await commandLines()).filter(({ args }) => args.some((arg) => arg.endsWith("harness.mjs")));
  const environments = await Promise.all(
    harnesses.map(({ pid }) => readFile(`/proc/${pid}/environ`, "utf8").catch(() => "")),
  );
  return harnesses[environments.findIndex((text) => text.includes(`RUNYARD_EXECUTION=${execution}`))]?.pid;
}

async function commandLines(): Promise<{ pid: number; args: string[] }[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const all = await Promise.all(
    pids.map(async (pid) => {
      const text = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
      return { pid: Number(pid), args: text.split("\0").filter((arg) => arg !== "") };
    }),
  );
  return all.filter(({ args }) => args.length > 0);
}
