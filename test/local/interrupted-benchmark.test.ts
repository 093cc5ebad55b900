import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import * as v from "valibot";
import { expect, it, vi } from "vitest";

const ROOT = path.resolve(import.meta.dirname, "../..");
const State = v.object({ pid: v.number() });

it("npm run lab -- bench-live leaves no server and no directory after Ctrl-C", async () => {
  const folder = mkdtempSync(path.join(tmpdir(), "runyard-interrupted-"));
  const listStates = () => readdirSync(folder).filter((name) => name.startsWith("runyard-bench-"));
  try {
    const env = { PATH: process.env["PATH"], HOME: folder, TMPDIR: folder, RUNYARD_SANDBOX: "none" };
    const benchmark = spawn(process.execPath, ["lab/bench/live-output.ts"], { cwd: ROOT, env, stdio: "ignore" });
    const ended = once(benchmark, "exit");
    const { pid } = await vi.waitFor(
      () => v.parse(State, JSON.parse(readFileSync(path.join(folder, listStates()[0] ?? "", "local.json"), "utf8"))),
      { timeout: 60_000, interval: 20 },
    );
    benchmark.kill("SIGINT");
    expect(await ended).toEqual([130, null]);
    expect(() => process.kill(pid, 0)).toThrow("ESRCH");
    expect(listStates()).toEqual([]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
