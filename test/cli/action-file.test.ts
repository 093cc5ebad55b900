import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bundleAction } from "../../cli/scripts/bundle.ts";
import { root } from "../../scripts/run-command.ts";
import { FaultServer } from "../clients/fault-server.ts";
import { api, event, RUN } from "./responses.ts";

const FILE = path.join(root, "action/dist/index.js");
const server = new FaultServer();
beforeAll(() => server.start());
afterAll(() => server.stop());

describe("action/dist/index.js", () => {
  it("is built from the current sources by `npm run docs`", async () => {
    const { text } = await bundleAction();
    expect(readFileSync(FILE, "utf8") === text).toBe(true);
    expect(text.length).toBeLessThan(120_000);
  });

  it.each(["SIGINT", "SIGTERM"] as const)(
    "prints its log, cancels the run by force on %s, waits for its end, and exits with 1",
    async (signal) => {
      server.play([
        api({ run_id: "r1", task_id: "r1", state: "QUEUED" }),
        { ...api({ events: [], next: 0, ended: false }), delay_ms: 30_000 },
        api("r1"),
        api({ events: [event(1, "run_cancelled", { state: "CANCELLED" })], next: 1, ended: true }),
        api({ ...RUN, state: "CANCELLED" }),
      ]);
      const env = { "INPUT_BASE-URL": server.api, "INPUT_API-KEY": "rya_secret", INPUT_PROMPT: "x" };
      const child = spawn(process.execPath, [FILE], { cwd: tmpdir(), env, stdio: ["ignore", "pipe", "inherit"] });
      let log = "";
      child.stdout.on("data", (chunk: Buffer) => (log += chunk.toString()));
      while (server.seen.length < 2) await new Promise((resolve) => setTimeout(resolve, 5));
      child.kill(signal);
      expect(await once(child, "close")).toEqual([1, null]);
      expect(server.seen[2]).toMatchObject({ method: "POST", path: "/agent/runs/r1/cancel", rawQuery: "force=true" });
      expect(log.split("\n").slice(0, 2)).toEqual(["::add-mask::rya_secret", "Run r1"]);
      expect(log).toContain("::warning title=Runyard::The job was cancelled. Cancelling the run.\n");
    },
  );
});
