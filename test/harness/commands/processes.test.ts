import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { describe, expect, it, vi } from "vitest";
import { createMarker, killTree } from "#harness/isolation/processes.ts";
import { emptyTemporaryDirectory, killMarked } from "#shared/sandbox/processes.ts";
import { newMark, sleepers } from "../support/processes.ts";

const PROCESSES = new URL("../../../harness/isolation/processes.ts", import.meta.url).href;
const SHARED = new URL("../../../shared/sandbox/processes.ts", import.meta.url).href;

/** Starts two shells of one group; the output ends once both have ended. */
function startGroup(env: Readonly<Record<string, string>> = {}, inner = "sleep 600 & echo ready; wait") {
  const child = spawn("/bin/sh", ["-c", inner], {
    detached: true,
    stdio: ["ignore", "pipe", "ignore"],
    env: { ...process.env, ...env },
  });
  return { child, output: text(child.stdout), ready: once(child.stdout, "readable") };
}

it("killTree kills the whole process group, without a marker too", async () => {
  const { child, output, ready } = startGroup();
  await ready;
  await killTree(child.pid, undefined);
  expect(await output).toBe("ready\n");
});

it("killTree kills detached processes with the marker of the execution, and none of another", async () => {
  const detached = "setsid sh -c 'echo ready; exec sleep 600'";
  const [ownId, otherId] = [randomUUID(), randomUUID()];
  const [own, other] = [startGroup(createMarker(ownId), detached), startGroup(createMarker(otherId), detached)];
  await Promise.all([own.ready, other.ready]);
  await killTree(undefined, ownId);
  expect(await own.output).toBe("ready\n");
  expect(other.child.exitCode).toBeNull();
  await killTree(undefined, otherId);
  await other.output;
});

it("killTree kills nothing without a process and a marker", async () => {
  const { child, output, ready } = startGroup();
  await ready;
  await killTree(undefined, undefined);
  expect([child.exitCode, child.signalCode]).toEqual([null, null]);
  await killTree(child.pid, undefined);
  await output;
});

describe.each([
  ["killTree", (executionId: string) => killTree(undefined, executionId)],
  ["killMarked", (executionId: string) => killMarked(executionId)],
])("%s", (_, end) => {
  it("kills what a marked process starts while it is being killed, and nothing with a longer marker", async () => {
    const [mark, other] = [newMark(), newMark()];
    const forking = randomUUID();
    const start = (seconds: string, executionId: string) =>
      spawn("sleep", [seconds], {
        detached: true,
        stdio: "ignore",
        env: { ...process.env, ...createMarker(executionId) },
      });
    start(mark, forking);
    const longer = start(other, `${forking}-too`);
    const kill = process.kill.bind(process);
    const starting = vi.spyOn(process, "kill").mockImplementationOnce((pid, signal) => {
      start(mark, forking);
      return kill(pid, signal);
    });
    await end(forking).finally(() => starting.mockRestore());
    const left = [sleepers(mark), sleepers(other)];
    longer.kill("SIGKILL");
    expect(left).toEqual([0, 1]);
  });

  it("tries twenty times to kill a process that does not end", async () => {
    const mark = newMark();
    const env = { ...process.env, ...createMarker(mark) };
    const child = spawn("sleep", [mark], { detached: true, stdio: "ignore", env });
    await once(child, "spawn");
    const killing = vi.spyOn(process, "kill").mockReturnValue(true);
    await end(mark);
    const calls = [...killing.mock.calls];
    killing.mockRestore();
    child.kill("SIGKILL");
    expect(calls).toEqual(Array.from({ length: 20 }, () => [child.pid, "SIGKILL"]));
  });
});

it.each([
  ["killTree", PROCESSES, (id: string) => `killTree(2 ** 22 + 1, "${id}")`],
  ["killMarked", SHARED, (id: string) => `killMarked("${id}")`],
])("%s does not kill the process itself, which has the marker too", async (name, module, call) => {
  const id = randomUUID();
  const script = `
    const { ${name} } = await import("${module}");
    await ${call(id)};
    process.stdout.write("still here");`;
  const env = { ...process.env, ...createMarker(id) };
  const child = spawn(process.execPath, ["--input-type=module", "-e", script], { env });
  expect(await text(child.stdout)).toBe("still here");
});

it("emptyTemporaryDirectory removes files, directories with their content, and links but not their targets", async () => {
  const folder = mkdtempSync(join(tmpdir(), "processes-"));
  const [temporary, kept] = [join(folder, "tmp"), join(folder, "kept")];
  mkdirSync(join(temporary, "a/b"), { recursive: true });
  mkdirSync(kept);
  for (const file of [join(temporary, "a/b/c"), join(temporary, ".hidden"), join(kept, "d")]) writeFileSync(file, "");
  symlinkSync(kept, join(temporary, "link"));
  vi.stubEnv("TMPDIR", temporary);
  await emptyTemporaryDirectory().finally(() => vi.unstubAllEnvs());
  expect([readdirSync(temporary), readdirSync(kept)]).toEqual([[], ["d"]]);
  rmSync(folder, { recursive: true });
});

it("killTree finds processes by their marker on Linux only", async () => {
  const id = randomUUID();
  const { child, ready } = startGroup(createMarker(id));
  await ready;
  vi.spyOn(process, "platform", "get").mockReturnValue("darwin");
  await killTree(undefined, id);
  vi.restoreAllMocks();
  expect(child.signalCode).toBeNull();
  const ended = once(child, "exit");
  await killTree(undefined, id);
  expect(await ended).toEqual([null, "SIGKILL"]);
});

it("closeInherited closes what commands would inherit, and neither standard streams nor Node's own descriptors", async () => {
  const script = `
    const { closeInherited } = await import("${PROCESSES}");
    const { spawnSync } = process.getBuiltinModule("node:child_process");
    const { readFileSync, openSync } = process.getBuiltinModule("node:fs");
    const own = openSync("/dev/zero");
    closeInherited();
    const list = spawnSync("sh", ["-c", "ls -l /proc/$$/fd"], { stdio: ["inherit", "pipe", "inherit"] });
    const kept = readFileSync("/proc/self/fdinfo/" + own, "utf8").includes("flags");
    process.stdout.write(list.stdout + "own " + kept);
    process.stderr.write("heard");`;
  const child = spawn("bash", [
    "-c",
    `exec 200</dev/full 3</dev/null; exec "$0" --input-type=module -e "$1"`,
    process.execPath,
    script,
  ]);
  const [printed, heard] = await Promise.all([text(child.stdout), text(child.stderr)]);
  const descriptors = [...printed.matchAll(/ (\d+) -> /g)].map(([, descriptor]) => descriptor);
  expect(descriptors.filter((descriptor) => Number(descriptor) < 10)).toEqual(["0", "1", "2"]);
  expect(printed).not.toContain("/dev/full");
  expect([printed.split("\n").at(-1), heard]).toEqual(["own true", "heard"]);
});

it("closeInherited closes nothing if the system is not Linux", async () => {
  const script = `
    const { closeInherited } = await import("${PROCESSES}");
    const { existsSync } = process.getBuiltinModule("node:fs");
    Object.defineProperty(process, "platform", { value: "darwin" });
    closeInherited();
    process.stdout.write(String(existsSync("/proc/self/fd/200")));`;
  const exec = `exec 200</dev/full; exec "$0" --input-type=module -e "$1"`;
  expect(await text(spawn("bash", ["-c", exec, process.execPath, script]).stdout)).toBe("true");
});
