import { readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { useServers } from "../support/served.ts";

const servers = useServers();
const command = (directory: string, name: string, args: readonly string[] = []) =>
  servers.run(directory, { command: name, args });
const localState = (directory: string) => JSON.parse(readFileSync(path.join(directory, "local.json"), "utf8"));

describe("npm start -- --detach", () => {
  it("serves in the background until it is stopped", async () => {
    const directory = servers.directory();
    expect(await command(directory, "status")).toMatchObject({ code: 3, output: expect.stringMatching(/not running/) });
    const started = await command(directory, "serve", ["--detach", "--no-sample"]);
    try {
      const { pid, base_url } = localState(directory);
      expect(started).toMatchObject({
        code: 0,
        output: expect.stringContaining(`in the background as process ${pid}`),
      });
      expect((await fetch(`${base_url}/openapi.json`)).status).toBe(200);

      const status = await command(directory, "status", ["--json"]);
      expect(status.code).toBe(0);
      expect(JSON.parse(status.output)).toMatchObject({ state: "running", pid, base_url, isolation: "none" });
      const second = await command(directory, "serve", ["--detach"]);
      expect(second).toMatchObject({ code: 1, output: expect.stringContaining(`stop process ${pid} first`) });
    } finally {
      expect(await command(directory, "stop")).toMatchObject({ code: 0, output: expect.stringMatching(/is stopped/) });
    }
    expect((await command(directory, "status")).code).toBe(3);
    expect(await command(directory, "stop")).toMatchObject({ code: 0, output: expect.stringMatching(/not running/) });
  });

  it("prints why the server did not start", async () => {
    const directory = servers.directory();
    const refused = await servers.run(directory, { args: ["--detach", "--host", "192.0.2.1"] });
    expect(refused.code).toBe(1);
    expect(refused.output).toMatch(/192\.0\.2\.1/);
  });
});

describe("the status of a server", () => {
  it("that was killed names the process, and does not prevent the next start", async () => {
    const directory = servers.directory();
    const server = await servers.start(directory);
    await server.kill();
    const status = await command(directory, "status");
    expect(status.code).toBe(3);
    expect(status.output).toContain(`process ${server.state.pid} ended without being stopped`);
    await servers.start(directory);
    expect((await command(directory, "status")).code).toBe(0);
  });
});

describe("a start without local.json", () => {
  it("finds the existing team and gives its admin another key", async () => {
    const directory = servers.directory();
    const first = await servers.start(directory);
    const { team_uid } = localState(directory);
    const run = await first.call("POST", "/agent/runs", { prompt: "```sh\ntrue\n```" });
    const me = await first.call("GET", "/agent/me");
    await first.stop();
    rmSync(path.join(directory, "local.json"));

    const second = await servers.start(directory);
    expect(localState(directory).team_uid).toBe(team_uid);
    expect(second.state.api_key).not.toBe(first.state.api_key);
    expect((await second.call("GET", `/agent/runs/${run.body.run_id}`)).status).toBe(200);
    expect((await second.call("GET", "/agent/me")).body).toEqual(me.body);
  });
});
