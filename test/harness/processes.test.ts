import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { expect, it } from "vitest";
import { createMarker, killTree } from "#harness/isolation/processes.ts";

/** Two shells of one group; the output ends once both have. */
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
  const [own, other] = [startGroup(createMarker("own"), detached), startGroup(createMarker("other"), detached)];
  await Promise.all([own.ready, other.ready]);
  await killTree(undefined, "own");
  expect(await own.output).toBe("ready\n");
  expect(other.child.exitCode).toBeNull();
  await killTree(undefined, "other");
  await other.output;
});
