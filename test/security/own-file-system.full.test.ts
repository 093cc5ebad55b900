import { execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import * as v from "valibot";
import { describe, expect, it } from "vitest";

const MIB = 1024 * 1024;
const Seen = v.object({
  bytes: v.number(),
  files: v.number(),
  mountedHere: v.boolean(),
  isOwn: v.boolean(),
  left: v.array(v.string()),
  outputs: v.array(v.string()),
  summary: v.exactOptional(v.string()),
});

/** Only root may mount file systems. Where it is not root, the tests need sudo without a password. */
async function fill(command: string, end: "wait" | "kill" = "wait") {
  const program = [process.execPath, join(import.meta.dirname, "fill-file-system.ts"), command, end];
  const [file = "", ...args] = process.getuid?.() === 0 ? program : ["sudo", "-n", "-E", ...program];
  const { stdout } = await promisify(execFile)(file, args, { maxBuffer: 10 * MIB });
  return v.parse(v.pipe(v.string(), v.parseJson(), Seen), stdout.trim().split("\n").at(-1));
}

/** The images behind loop devices, which the kernel releases a moment after the last process has ended. */
async function listImages(): Promise<string[]> {
  const names = await readdir("/sys/block");
  const files = names.map((name) => readFile(`/sys/block/${name}/loop/backing_file`, "utf8").catch(() => ""));
  return (await Promise.all(files)).filter((file) => file.includes("/own-"));
}

describe("a run with a file system of its own", () => {
  it.each([
    ["bytes by one command", "head -c 200M /dev/zero > big; sleep 600", "more than 64 MiB"],
    ["bytes by a command that ends by itself", "head -c 200M /dev/zero > big; true", "more than 64 MiB"],
    [
      "bytes by eight programs at once, in deleted files",
      "for i in 1 2 3 4 5 6 7 8; do { exec 9> x$i; rm x$i; head -c 50M /dev/zero >&9 || :; sleep 600; } & done; wait",
      "more than 64 MiB",
    ],
    ["files", "for i in $(seq 5000); do : > $i; done; sleep 600", "more than 2000 files"],
    ["directories", "mkdir $(seq 5000)", "more than 2000 files"],
  ])("never has more than its limit of %s, and says which limit that is", async (_, command, reason) => {
    const seen = await fill(`${command} 2>/dev/null`);
    expect(seen).toMatchObject({ isOwn: true, mountedHere: false, left: [] });
    expect(seen.bytes).toBeLessThanOrEqual(64 * MIB);
    expect(seen.files).toBeLessThanOrEqual(2_000);
    expect(seen.summary).toContain(reason);
    await expect.poll(listImages).toEqual([]);
  });

  it("names the limit where a command gives up what it has written before anybody counts it", async () => {
    const seen = await fill("( exec 9> x; rm x; head -c 200M /dev/zero >&9 ) || true");
    expect(`${seen.outputs.join()} ${seen.summary}`).toContain("64 MiB");
  });

  it("leaves no mount and no image on the host when its harness is killed", async () => {
    const seen = await fill("head -c 10M /dev/zero > big; sleep 600", "kill");
    expect(seen).toMatchObject({ isOwn: true, mountedHere: false, left: [] });
    await expect.poll(listImages).toEqual([]);
  });
});
