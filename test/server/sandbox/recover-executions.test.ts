import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync } from "node:fs";
import path from "node:path";
import { afterEach, expect, it, vi } from "vitest";
import { createMarker } from "#harness/isolation/processes.ts";
import { executionLog } from "#server/sandbox/execution-log.ts";
import { recoverExecutions } from "#server/sandbox/recover-executions.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import { createTestControlPlane } from "../../support/control-plane.ts";
import { useDataDirectory } from "../support/data-directory.ts";

const data = useDataDirectory();
afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

it("recoverExecutions ends executions and removes their directories and records, even after a failed read", async () => {
  const printed = vi.spyOn(process.stdout, "write").mockReturnValue(true);
  const log = executionLog(data.open());
  const [unread, running] = [`unread-${process.pid}`, `running-${process.pid}`];
  log.add(unread, "run of x");
  log.add(running, "run of y");
  const left = spawn("sleep", ["600"], { stdio: "ignore", env: { ...process.env, ...createMarker(running) } });
  const temporary = path.join(data.directory(), "tmp");
  const { pid: ended } = spawnSync("true");
  mkdirSync(path.join(temporary, `runyard-sandbox-${ended}-a`), { recursive: true, mode: 0o700 });
  vi.stubEnv("TMPDIR", temporary);
  const isAlive: boolean[] = [];
  const head = vi.fn<RunPorts["runs"]["head"]>(async () => {
    isAlive.push(left.exitCode === null && left.signalCode === null);
    return undefined;
  });
  head.mockRejectedValueOnce(new Error("the disk is full"));
  const { ports } = await createTestControlPlane();
  const exit = once(left, "exit");
  expect(await recoverExecutions(log, { ...ports, runs: { ...ports.runs, head } })).toBe(2);
  expect(await exit).toEqual([null, "SIGKILL"]);
  expect(head.mock.calls).toEqual([["run of x"], ["run of y"]]);
  expect(isAlive, "its harness can report nothing any more when it is killed").toEqual([true]);
  expect([log.all(), readdirSync(temporary)]).toEqual([[], []]);
  const lines = printed.mock.calls.join("\n").split("\n");
  expect(lines.filter((line) => line.includes("was not recovered"))).toEqual([expect.stringContaining('"run of x"')]);
});
