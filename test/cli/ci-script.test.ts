import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Readable } from "node:stream";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { root } from "../../scripts/run-command.ts";
import { FaultServer } from "../clients/fault-server.ts";
import { api, problem } from "./responses.ts";

const server = new FaultServer();
let folder = "";
beforeAll(() => server.start());
afterAll(() => server.stop());
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "runyard-ci-"));
  writeFileSync(path.join(folder, "run.json"), "{}");
  return () => rmSync(folder, { recursive: true });
});

const page = readFileSync(path.join(root, "docs/ci.md"), "utf8");
const script = /^```sh\n(set -eu\n[\s\S]*?)^```$/m.exec(page)?.[1] ?? "";

function start(): ChildProcessByStdio<null, Readable, Readable> {
  const env = {
    PATH: process.env["PATH"],
    TMPDIR: folder,
    RUNYARD_BASE_URL: server.api,
    RUNYARD_API_KEY: "rya_secret",
    JOB: "77",
  };
  return spawn("sh", ["-c", script], { cwd: folder, env, stdio: ["ignore", "pipe", "pipe"] });
}

describe("the script of docs/ci.md for any CI, with a stand-in for the service", () => {
  it.each(["SIGTERM", "SIGINT"] as const)(
    "cancels the run on %s while it waits for events",
    async (signal) => {
      server.play([
        api({ run_id: "r1", state: "QUEUED" }),
        // Longer than the test may take: a script that waits for this response first is too late.
        { ...api({ events: [], next: 0, ended: false }), delay_ms: 600_000 },
        api("r1"),
      ]);
      const child = start();
      await expect.poll(() => server.seen.length, { timeout: 20_000, interval: 5 }).toBe(2);
      const sent = Date.now();
      child.kill(signal);
      expect(await once(child, "close")).toEqual([130, null]);
      // Within a second, on a machine that is not busy.
      expect(Date.now() - sent).toBeLessThan(10_000);
      expect(server.seen[2]).toMatchObject({ method: "POST", path: "/agent/runs/r1/cancel" });
      expect(readdirSync(folder)).toEqual(["run.json"]);
    },
    40_000,
  );

  it("prints the body of an error, and fails", async () => {
    server.play([problem(403, "forbidden", "the key may not create runs")]);
    const child = start();
    let said = "";
    child.stderr.on("data", (chunk: Buffer) => (said += chunk.toString()));
    expect(await once(child, "close")).toEqual([1, null]);
    expect(said).toContain('"detail":"the key may not create runs"');
    expect(server.seen).toHaveLength(1);
    expect(readdirSync(folder)).toEqual(["run.json"]);
  });
});
