import { type ChildProcess, spawn } from "node:child_process";
import { afterEach, describe, expect, test } from "vitest";
import {
  endProcess,
  executionProcesses,
  isStillOurs,
  killSurvivors,
  listDescendants,
  type ProcessMark,
  readMark,
} from "../../server/host/processes.ts";
import { eventually } from "../server/support/eventually.ts";

describe("the process functions", () => {
  const children: ChildProcess[] = [];

  afterEach(() => {
    for (const child of children.splice(0)) child.kill("SIGKILL");
  });

  async function start(script: string, environment: NodeJS.ProcessEnv = process.env): Promise<ProcessMark> {
    const child = spawn("bash", ["-c", script], { stdio: ["ignore", "pipe", "ignore"], env: environment });
    children.push(child);
    // The script prints a mark at its end, when its children and traps exist.
    await new Promise((resolve) => child.stdout?.once("data", resolve));
    const mark = child.pid === undefined ? undefined : await readMark(child.pid);
    if (mark === undefined) throw new Error("the process is not there");
    return mark;
  }
  const waiting = "echo ready; while :; do sleep 0.05; done";

  test("recognize a process by number, start and command", async () => {
    const mark = await start(waiting);
    expect(mark.command).toContain("echo ready");
    expect(await isStillOurs(mark)).toBe(true);
  });

  test("do not mistake another process with the same number", async () => {
    const mark = await start(waiting);
    const sameNumber = { ...mark, started: "an earlier boot/1" };
    expect(await isStillOurs(sameNumber)).toBe(false);
    expect(await endProcess(sameNumber, 1)).toBe("gone");
    expect(await isStillOurs({ ...mark, command: "something else" })).toBe(false);
    expect(await isStillOurs(mark)).toBe(true);
  });

  test("end a process that listens for signals, and kill one that does not", async () => {
    expect(await endProcess(await start(waiting), 5)).toBe("ended");
    expect(await endProcess(await start(`trap '' TERM; ${waiting}`), 0.2)).toBe("killed");
  });

  test("list the descendants of a process, and end survivors", async () => {
    const mark = await start(`sleep 300 & (sleep 301 & echo ready; wait) & wait`);
    const below = await eventually(async () => {
      const found = await listDescendants(mark.pid);
      expect(found.map(({ command }) => command)).toEqual(expect.arrayContaining(["sleep 300", "sleep 301"]));
      return found;
    });
    await endProcess(mark, 5);
    expect(await killSurvivors(below)).toBeGreaterThanOrEqual(2);
    // The kernel may take a moment to remove them.
    await eventually(async () => expect(await killSurvivors(below)).toBe(0));
  });

  test.runIf(process.platform === "linux")("find an agent's daemon by the run's mark", async () => {
    const environment = { ...process.env, RUNYARD_EXECUTION: `test-${process.pid}` };
    const mark = await start(`setsid bash -c 'sleep 302 & echo ready'; ${waiting}`, environment);
    const found = await eventually(async () => {
      const marked = await executionProcesses([mark]);
      expect(marked.map(({ command }) => command)).toContain("sleep 302");
      return marked;
    });
    expect(await executionProcesses([await start(waiting)])).toEqual([]);
    await killSurvivors(found);
  });

  test("return nothing for a number without a process", async () => {
    expect(await readMark(2 ** 22 + 1)).toBeUndefined();
  });
});
