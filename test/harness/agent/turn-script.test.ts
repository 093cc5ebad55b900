import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { RELAY, RELAY_FILE } from "#harness/third-party/relay.ts";
import { buildTurnScript } from "#harness/third-party/turn-script.ts";

const run = promisify(execFile);

it("a turn of a third-party agent reaches its model API and its prompt without /dev/fd and /dev/shm", async () => {
  const folder = await mkdtemp(join(tmpdir(), "turn-"));
  const model = createServer((caller) => caller.end("the model answers\n"));
  await new Promise<void>((resolve) => model.listen(join(folder, "m1"), resolve));
  try {
    await writeFile(join(folder, RELAY_FILE), RELAY);
    await writeFile(join(folder, "prompt-1.md"), "do it\n");
    const agent = { program: "agent.js" };
    // The agent's own script: it prints its prompt and the response of its model API.
    const own = 'cat; exec 3<>/dev/tcp/127.0.0.1/"$port"; cat <&3; ls /dev';
    const files = { folder, socket: "m1", prompt: "prompt-1.md" };
    const script = buildTurnScript({ agent, folder, node: process.execPath }, own, files);
    const devices = ["null", "urandom", "random"].flatMap((name) => ["--dev-bind", `/dev/${name}`, `/dev/${name}`]);
    const view = [
      "--bind",
      "/",
      "/",
      "--tmpfs",
      "/dev",
      ...devices,
      "--proc",
      "/proc",
      "--unshare-pid",
      "--die-with-parent",
    ];
    const options = { env: { PATH: process.env["PATH"], TMPDIR: folder } };
    const { stdout } = await run("bwrap", [...view, "bash", "-c", script], options);
    expect(stdout.split("\n").filter(Boolean)).toEqual(["do it", "the model answers", "null", "random", "urandom"]);
  } finally {
    model.close();
    await rm(folder, { recursive: true, force: true });
  }
});
