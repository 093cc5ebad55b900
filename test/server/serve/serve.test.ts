import { existsSync, readFileSync, statSync } from "node:fs";
import { request } from "node:http";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { commands, createRun, type Served, useServers, waitForState } from "../support/served.ts";

const servers = useServers();
const sharedServers = useServers(afterAll);

/** Sends a request whose headers and path are not changed by a client. */
const rawStatus = (server: Served, at: string, headers: Readonly<Record<string, string>>) =>
  new Promise<number | undefined>((resolve, reject) => {
    const { hostname, port } = new URL(server.state.base_url);
    request({ hostname, port, path: at, headers }, (response) => {
      response.resume();
      resolve(response.statusCode);
    })
      .on("error", reject)
      .end();
  });

/** The environment of a process whose clock is in this second of a minute when it starts. */
function shiftClock(second: number): Record<string, string> {
  const program = `const now = Date.now;
    const shift = ${second * 1_000} - (now() % 60_000);
    globalThis.Date = class extends Date {
      constructor(...parts) { super(...(parts.length === 0 ? [now() + shift] : parts)); }
      static now = () => now() + shift;
    };`;
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(program)}` };
}

async function readConversation(server: Served, run: string): Promise<string> {
  return JSON.stringify((await server.call("GET", `/agent/runs/${run}/conversation`)).body);
}

describe.concurrent("npm start", () => {
  let server: Served;

  beforeAll(async () => {
    server = await sharedServers.start(sharedServers.directory());
  });

  it("executes a run whose transcript and artifact can be downloaded", async ({ expect }) => {
    const run = await createRun(server, 'echo hello; echo content > "$RUNYARD_OUTPUT/file.txt"');
    const { artifacts } = await waitForState(server, run, "SUCCEEDED");
    expect(await readConversation(server, run)).toContain("hello");

    const artifact = await server.call("GET", `/agent/artifacts/${artifacts[0].data.artifact_uid}`);
    expect(await (await fetch(artifact.body.data.download_url)).text()).toBe("content\n");

    const location = await eventually(async () => {
      const { status, headers } = await server.call("GET", `/agent/runs/${run}/transcript`);
      expect(status).toBe(302);
      return headers.get("location") ?? "";
    });
    expect(await (await fetch(location)).text()).toContain("hello");
  });

  it("stops the commands of a cancelled run", async ({ expect }) => {
    const mark = path.join(sharedServers.directory(), "pid");
    const run = await createRun(server, `echo $$ > ${mark}; exec sleep 300`);
    await eventually(() => expect(existsSync(mark)).toBe(true));
    expect((await server.call("POST", `/agent/runs/${run}/cancel`)).status).toBe(200);
    await waitForState(server, run, "CANCELLED");
    const pid = readFileSync(mark, "utf8").trim();
    await eventually(() => expect(existsSync(`/proc/${pid}`)).toBe(false));
  });

  it("executes a follow-up of an ended run", async ({ expect }) => {
    const run = await createRun(server, "echo first-turn");
    await waitForState(server, run, "SUCCEEDED");
    const followup = await server.call("POST", `/agent/runs/${run}/followups`, {
      message: commands("echo second-turn"),
    });
    expect(followup.status).toBe(200);
    await eventually(async () => expect(await readConversation(server, run)).toMatch(/second-turn.*second-turn/));
    await waitForState(server, run, "SUCCEEDED");
  });

  it("creates the run of a schedule when it is due", async ({ expect }) => {
    const { call } = await sharedServers.start(sharedServers.directory(), { environment: shiftClock(50) });
    const schedule = await call("POST", "/agent/schedules", {
      name: "each minute",
      cron_schedule: "* * * * *",
      prompt: commands("echo scheduled"),
      agent_config: { model_id: "local/runbook" },
    });
    expect(schedule.status).toBe(201);
    const runs = async () => (await call("GET", `/agent/runs?schedule_id=${schedule.body.id}`)).body.runs;
    await expect.poll(async () => (await runs()).length).toBe(1);
  });

  it("continues its runs after it was killed, once their leases have expired", async ({ expect }) => {
    const directory = sharedServers.directory();
    const mark = path.join(directory, "started");
    const first = await sharedServers.start(directory);
    const executing = await createRun(first, `echo x >> ${mark}; sleep 2; echo done`);
    await eventually(() => expect(existsSync(mark)).toBe(true));
    const waiting = await createRun(first, "echo waited");
    await first.kill();

    const second = await sharedServers.start(directory);
    expect(second.state.api_key).toBe(first.state.api_key);
    await waitForState(second, executing, "SUCCEEDED");
    await waitForState(second, waiting, "SUCCEEDED");
    expect(readFileSync(mark, "utf8")).toBe("x\nx\n");
  });

  it("refuses requests that are addressed to another server, too large or unknown", async ({ expect }) => {
    const { call } = server;
    expect(await rawStatus(server, "/api/v1/docs", { host: "attacker.example" })).toBe(421);
    expect(await rawStatus(server, `/api/v1/docs?${"x".repeat(9_000)}`, {})).toBe(414);
    expect(await rawStatus(server, "/api/v1/docs", { "x-filler": "x".repeat(11_000) })).toBe(431);
    expect((await call("POST", "/agent/runs", JSON.stringify({ prompt: "x".repeat(5 * 1024 * 1024) }))).status).toBe(
      413,
    );
    expect((await call("POST", "/agent/runs", "x".repeat(11 * 1024 * 1024))).status).toBe(413);
    const unknown = await call("GET", "/agent/unknown");
    expect([unknown.status, unknown.body.error_code]).toEqual([404, "resource_not_found"]);
    const patched = await call("PATCH", "/agent/runs");
    expect([patched.status, patched.headers.get("allow")]).toEqual([405, "GET, POST"]);
    expect((await call("HEAD", "/agent/runs")).status).toBe(405);
    expect((await call("GET", "/agent/runs", undefined, { authorization: "Bearer nothing" })).status).toBe(401);
  });

  it("serves the web page, the documentation and the model gateway", async ({ expect }) => {
    const page = await fetch(server.state.web_url);
    expect(page.headers.get("content-security-policy")).toContain("default-src 'none'");
    expect(await page.text()).toContain("<title>");
    expect((await server.call("GET", "/docs")).body).toContain("<!doctype html>");
    const message = { model: "x", max_tokens: 1, messages: [] };
    expect((await server.call("POST", "/model/anthropic/v1/messages", message)).status).toBe(403);
    expect((await server.call("GET", "/model/unknown")).status).toBe(404);
  });
});

describe("a start", () => {
  it("executes more runs than its concurrency limit, one after the other", async () => {
    const server = await servers.start(servers.directory(), { args: ["--concurrency", "1"] });
    const runs = await Promise.all([
      createRun(server, "echo 1"),
      createRun(server, "echo 2"),
      createRun(server, "echo 3"),
    ]);
    for (const run of runs) await waitForState(server, run, "SUCCEEDED");
  });

  it("continues its runs after it was stopped", async () => {
    const directory = servers.directory();
    const mark = path.join(directory, "started");
    const first = await servers.start(directory);
    const run = await createRun(first, `echo x >> ${mark}; sleep 2; echo done`);
    await eventually(() => expect(existsSync(mark)).toBe(true));
    await first.stop();
    await waitForState(await servers.start(directory), run, "SUCCEEDED");
  });

  it("does not count stops as losses of a run, also where a terminal signals its harness as well", async () => {
    const directory = servers.directory();
    const mark = path.join(directory, "started");
    const executions = () => (existsSync(mark) ? readFileSync(mark, "utf8").length : 0);
    let server = await servers.start(directory, { hasOwnGroup: true });
    const run = await createRun(server, `printf x >> ${mark}; [ $(wc -c < ${mark}) -gt 3 ] || sleep 300`);
    for (const [index, signal] of (["SIGTERM", "SIGINT", "SIGHUP"] as const).entries()) {
      await eventually(() => expect(executions()).toBe(index + 1));
      await (signal === "SIGTERM" ? server.stop() : server.signalGroup(signal));
      server = await servers.start(directory, { hasOwnGroup: true });
    }
    await waitForState(server, run, "SUCCEEDED");
    const { events } = (await server.call("GET", `/agent/runs/${run}/timeline`)).body;
    const lost = events.filter(({ event_type }: { event_type: string }) => event_type === "execution_lost");
    const restart = { payload: { detail: "the service was restarted" } };
    expect(lost).toMatchObject([restart, restart, restart]);
  });

  it("refuses a second start on the same data directory", async () => {
    const directory = servers.directory();
    const { state } = await servers.start(directory);
    const second = await servers.run(directory);
    expect(second.code).toBe(1);
    expect(second.output).toContain(`Runyard is already running on ${directory} at ${state.web_url}`);
  });

  it("refuses to listen for other machines without isolation", async () => {
    const { code, output } = await servers.run(servers.directory(), { args: ["--host", "0.0.0.0", "--no-sample"] });
    expect(code).toBe(1);
    expect(output).toContain("Runs are not executed for other machines");
  });

  it("listens for other machines with --no-sandbox", async () => {
    const server = await servers.start(servers.directory(), {
      args: ["--host", "0.0.0.0", "--no-sandbox", "--url", "https://runyard.example.com"],
    });
    expect(server.output()).toContain("ISOLATION: NONE");
    expect(server.state.base_url).toBe("https://runyard.example.com/api/v1");
  });

  it("protects its state from other users", async () => {
    const directory = servers.directory();
    await servers.start(directory);
    for (const file of ["local.json", "runyard.db", "runyard.key", "logs/server.log"]) {
      expect([file, statSync(path.join(directory, file)).mode & 0o077]).toEqual([file, 0]);
    }
  });
});
