import { afterAll, beforeAll, describe, test } from "vitest";
import { client, commands } from "../support/api-client.ts";
import { countProcesses, waitForHarness } from "../support/execution-processes.ts";
import { startService, type TestService } from "../support/service.ts";

let service: TestService;
let api: ReturnType<typeof client>;

beforeAll(async () => {
  service = await startService({ args: ["--concurrency", "10"] });
  api = client(service);
});

afterAll(() => service[Symbol.asyncDispose]());

describe.concurrent("cancel", () => {
  // @contract runs.cancel.stops
  test("ends every process of the run, including detached ones", async ({ expect }) => {
    const mark = `7${Date.now()}`;
    const id = await api.create(
      commands(
        `setsid sleep ${mark} & (setsid sh -c 'sleep ${mark} & exit 0' &) ; nohup sleep ${mark} >/dev/null 2>&1 & trap '' TERM; sleep ${mark}`,
      ),
    );
    await expect.poll(() => countProcesses("sleep", mark)).toBeGreaterThanOrEqual(4);
    const cancelled = await api.call("POST", `/agent/runs/${id}/cancel`);
    expect(cancelled).toMatchObject({ status: 200, body: id });
    await expect.poll(() => countProcesses("sleep", mark)).toBe(0);
    await expect
      .poll(async () => (await api.timeline(id)).at(-1))
      .toMatchObject({
        event_type: "run_stopped",
        payload: { confirmed_by: "harness" },
      });
    expect((await api.call("GET", `/agent/runs/${id}`)).body).toMatchObject({
      state: "CANCELLED",
      is_sandbox_running: false,
    });
    expect((await api.call("POST", `/agent/runs/${id}/cancel`)).status).toBe(400);
    expect(await api.transcriptUrl(id)).toContain("http");
  });
});

describe.concurrent("concurrent runs", () => {
  test("find no file, key or credential of each other or of the service", async ({ expect }) => {
    const secret = `only-mine-${Date.now()}`;
    const search = [
      `echo ${secret}-$RANDOM > /tmp/secret.txt; echo ${secret} > mine.txt; sleep 1`,
      "cat /proc/*/environ /proc/*/cmdline 2>/dev/null | tr '\\0' '\\n' || true; env; ls -la /proc/*/fd 2>/dev/null || true; ls -laR /tmp 2>/dev/null || true",
      `grep -rs 'ry[rp]_[0-9A-Za-z]\\{43\\}' / --include='*' --exclude-dir=proc --exclude-dir=sys --exclude-dir=usr -l | head || true`,
      `(exec 3<>/dev/tcp/127.0.0.1/${new URL(service.baseUrl).port}) 2>/dev/null && echo service-is-reachable; true`,
      "ls -d /tmp/runyard-* /workspace/../*/ 2>/dev/null || true",
      `cat ${service.directory}/local.json ${service.directory}/runyard.key 2>/dev/null || true`,
    ];
    const ids = await Promise.all(
      Array.from({ length: 6 }, (_, index) => api.create(commands(...search, `echo done-${index}`))),
    );
    const runs = await Promise.all(ids.map((id) => api.ended(id)));
    expect(runs.map(({ state, status_message }) => status_message?.message ?? state)).toEqual(
      ids.map(() => "SUCCEEDED"),
    );
    for (const id of ids) {
      const seen = (await api.outputs(id)).slice(1).join("\n");
      expect(seen).not.toMatch(/ry[rp]_[0-9A-Za-z]{43}/);
      expect(seen).not.toContain(service.apiKey);
      expect(seen).not.toMatch(/AWS_(ACCESS_KEY_ID|SECRET_ACCESS_KEY|SESSION_TOKEN|ENDPOINT_URL)=/);
      expect(seen).not.toContain("service-is-reachable");
      // A descriptor shows the path of its pipe, which nothing in the sandbox can open.
      const files = seen.split("\n").filter((line) => !line.includes(" -> "));
      expect(files.join("\n")).not.toContain("runyard-service-");
    }
  });
});

describe.concurrent("a harness that is killed", () => {
  test("expires its execution, and the run continues in another", async ({ expect }) => {
    const id = await api.create(commands("sleep 5; echo survived"));
    process.kill(await waitForHarness(api, id), "SIGKILL");
    expect(await api.ended(id)).toMatchObject({ state: "SUCCEEDED" });
    const timeline = await api.timeline(id);
    expect(timeline.map(({ event_type }) => event_type)).toContain("execution_lost");
    // On a busy machine the next execution may be too slow for its lease, too.
    expect(new Set(timeline.map(({ execution_id }) => execution_id).filter(Boolean)).size).toBeGreaterThan(1);
    expect(await api.outputs(id)).toEqual(["survived\n"]);
  });
});
