import { createHash, randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { checks } from "../../operate/smoke/checks.ts";
import { connect } from "../../operate/smoke/service.ts";
import { client, commands, type Reply } from "../support/api-client.ts";
import { startService, type TestService } from "../support/service.ts";

let service: TestService;
let api: ReturnType<typeof client>;

beforeAll(async () => {
  service = await startService();
  api = client(service);
});

afterAll(async () => {
  expect(await service.stop()).toBe(0);
  await service[Symbol.asyncDispose]();
});

describe.concurrent("npm run aws -- smoke", () => {
  const [keys] = checks;
  test.each(checks.filter(({ isSlow }) => isSlow === undefined))("finds that $name", async ({ check }) => {
    await expect(check(connect(service.baseUrl, service.apiKey))).resolves.toBeUndefined();
  });

  test("reports the response of a deployment if a check fails", async () => {
    await expect(keys?.check(connect(service.baseUrl, "wrong"))).rejects.toThrow(/401 instead of 200/);
  });
});

describe.concurrent("a run from prompt to results", () => {
  // @contract runs.transcript.redirect
  // @contract runs.transcript.no-key: The URL needs no Authorization header.
  // @contract runs.artifact.download
  test("returns its id immediately, succeeds, and has each step, command, file and its transcript", async () => {
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
    expect(run.session_link).toBe(`${service.baseUrl.replace("/api/v1", "")}/runs/${id}`);

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

    const location = await api.transcriptUrl(id);
    const transcript = await (await fetch(location)).text();
    const lines = transcript
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines[0]).toMatchObject({ type: "run", run_id: id });
    expect(lines.at(-1)).toMatchObject({ type: "event", event_type: "run_succeeded" });
    expect(transcript).toContain(digest);
  });

  test("fails with a message that names the command and its exit code, and executes no later command", async () => {
    const id = await api.create(commands("true", "echo fine", "ls /no/such/place; exit 7", "echo never"));
    const run = await api.ended(id);
    expect(run.state).toBe("FAILED");
    expect(run.status_message.message).toContain("ls /no/such/place");
    expect(run.status_message.message).toMatch(/\b7\b/);
    expect((await api.outputs(id)).join()).not.toContain("never");
  });

  test("fails without a fenced block, and names what to add", async () => {
    const run = await api.ended(await api.create("Please fix the build."));
    expect(run.state).toBe("FAILED");
    expect(run.status_message.message).toMatch(/fenced/);
  });

  test("executes follow-ups that it gets while it runs and after its end", async ({ expect }) => {
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
      .poll(async () => (await api.outputs(id)).map((text) => text.trim()))
      .toEqual(["first-turn", "second-turn", "third-turn"]);
  });
});

describe.concurrent("a secret of an environment", () => {
  test("is available to commands and setup commands, and in no readable part of the run", async () => {
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
    const responses = await Promise.all(parts.map((part) => api.call("GET", `/agent/runs/${id}${part}`)));
    const transcript = await (await fetch(await api.transcriptUrl(id))).text();
    const all = [...responses.map(({ body }) => JSON.stringify(body)), transcript].join("\n");
    expect(all).toContain(digest);
    expect(all).not.toContain(value);
    for (const before of ["", "x", "xx"]) {
      const encoded = Buffer.from(before + value).toString("base64");
      expect(all).not.toContain(encoded.slice(4, 28));
    }

    expect((await api.call("DELETE", `/agent/secrets/${secret.name}`)).status).toBe(204);
    const failed = await api.ended(await api.create(commands("echo reached later"), { config }));
    expect(failed).toMatchObject({ state: "FAILED", status_message: { error_code: "environment_setup_failed" } });
    expect(failed.status_message.message).toContain(secret.name);
    const { body } = await api.call("GET", `/agent/environments/${environment.body.uid}`);
    expect(body).toMatchObject({ setup_failed: true, last_task_created: { id: failed.run_id, state: "FAILED" } });

    expect((await api.call("POST", "/agent/secrets", secret)).status).toBe(201);
    const followup = { message: commands("echo after it") };
    expect((await api.call("POST", `/agent/runs/${failed.run_id}/followups`, followup)).status).toBe(200);
    expect((await api.ended(failed.run_id)).state).toBe("SUCCEEDED");
    expect(await api.outputs(failed.run_id)).toEqual(["reached later\n", "after it\n"]);
  });
});

describe.concurrent("repeated requests", () => {
  test("create one run under one Idempotency-Key", async () => {
    const headers = { "idempotency-key": `e2e-${Date.now()}` };
    const body = { prompt: commands("echo once") };
    const replies = await Promise.all(Array.from({ length: 20 }, () => api.call("POST", "/agent/runs", body, headers)));
    expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 200));
    expect(new Set(replies.map((reply) => reply.body.run_id)).size).toBe(1);
    expect(replies.filter((reply) => reply.headers.get("idempotent-replay") === "true").length).toBe(19);
  });

  test("create one run when the retry arrives before its original", async () => {
    const body = { prompt: commands(`echo overtaken-${Date.now()}`) };
    const retry = await api.call("POST", "/agent/runs", body, { "x-stainless-retry-count": "1" });
    const original = await api.call("POST", "/agent/runs", body, { "x-stainless-retry-count": "0" });
    expect(original.body.run_id).toBe(retry.body.run_id);
  });
});

describe.concurrent("an execution of an ended run", () => {
  test("gets 401 and cannot publish a late upload, and the run ends once", async () => {
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

    // The URL was valid when it was issued, and the storage does not fence executions.
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

describe.concurrent("the HTTP server", () => {
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
  ])("responds to %s %s with %i as problem+json", async (method, target, status) => {
    const reply = await api.call(method, target);
    expect(reply.status).toBe(status);
    expect(reply.headers.get("content-type")).toBe("application/problem+json");
    expect(reply.body).toMatchObject({ status, instance: `/api/v1${target.split("?")[0]}` });
  });

  test("returns 401 without a key and with a wrong one", async () => {
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
