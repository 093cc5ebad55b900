import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { useServers } from "../support/served.ts";

const run = promisify(execFile);
const servers = useServers();
const root = path.resolve(import.meta.dirname, "../../..");

describe("npm run invoke", () => {
  it("invokes functions of the single machine with the events of events/", async () => {
    const directory = servers.directory();
    const server = await servers.start(directory);
    const invoke = async (...args: string[]) => {
      const env = { PATH: process.env["PATH"], RUNYARD_STATE: directory };
      return (await run(process.execPath, ["emulator/invoke.ts", ...args], { cwd: root, env })).stdout;
    };
    expect((await invoke("--list")).split("\n")).toEqual(expect.arrayContaining(["create-run", "reap-runs"]));
    const created = JSON.parse(await invoke("create-run", "events/http/create-run.json"));
    expect(created.statusCode).toBe(200);
    const found = await server.call("GET", `/agent/runs/${created.body.run_id}`);
    expect(found.status).toBe(200);
    const refused = JSON.parse(await invoke("create-run", "events/http/create-run.bad.json"));
    expect(refused.statusCode).toBe(400);
    await expect(invoke("unknown", "events/http/create-run.json")).rejects.toThrow("There is no function");
  });
});
