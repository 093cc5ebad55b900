import { mkdtempSync, promises, rmSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { inOwnFileSystem } from "#shared/sandbox/own-file-system.ts";

const MIB = 1024 * 1024;
const COMMAND = ["node", "main.ts"] as const;
const SETTINGS = { RUNYARD_SANDBOX: "bubblewrap", RUNYARD_RUN_DISK_MIB: "64", RUNYARD_RUN_FILES: "2000" };

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "own-test-"));
  vi.spyOn(process, "getuid").mockReturnValue(0);
  vi.spyOn(promises, "access").mockResolvedValue();
  setFree(1_000);
});
afterEach(() => {
  vi.restoreAllMocks();
  syncBuiltinESMExports();
  rmSync(folder, { recursive: true });
});

function setFree(mib: number): void {
  const disk = { type: 0, bsize: MIB, blocks: 10_000, bfree: mib, bavail: mib, files: 0, ffree: 0 };
  vi.spyOn(promises, "statfs").mockResolvedValue({ ...disk, frsize: MIB });
  syncBuiltinESMExports();
}
const scratch = () => path.join(folder, "runyard-sandbox-1-x");
const wrap = (settings: Record<string, string> = {}) =>
  inOwnFileSystem(scratch(), COMMAND, { ...SETTINGS, ...settings });

describe("inOwnFileSystem", () => {
  it("gives the command an image whose blocks and inodes are no more than the limits", async () => {
    const [, , , , , place, bytes, inodes, ...command] = await wrap();
    expect([place, command]).toEqual([scratch(), COMMAND]);
    // 256 bytes for each inode.
    expect(Number(bytes) - Number(inodes) * 256).toBeLessThanOrEqual(64 * MIB);
    expect(Number(bytes) - Number(inodes) * 256).toBeGreaterThan(63 * MIB);
    expect(Number(inodes)).toBe(2_000 - 16);
  });

  it.each([
    ["where the operator has chosen the disk of the host", { RUNYARD_RUN_FILE_SYSTEM: "shared" }],
    ["where nothing limits commands", { RUNYARD_SANDBOX: "machine" }],
    ["where the harness will refuse a limit", { RUNYARD_RUN_FILES: "many" }],
    ["where the limit is smaller than what a file system has", { RUNYARD_RUN_FILES: "20" }],
  ])("leaves the command as it is %s", async (_, settings) => {
    expect(await wrap(settings)).toEqual(COMMAND);
  });

  it("leaves the command as it is for users who may not mount, and without loop devices", async () => {
    vi.spyOn(process, "getuid").mockReturnValue(1000);
    expect(await wrap()).toEqual(COMMAND);
    vi.spyOn(process, "getuid").mockReturnValue(0);
    vi.mocked(promises.access).mockRejectedValue(new Error("ENOENT"));
    expect(await wrap()).toEqual(COMMAND);
  });

  it("leaves the command as it is on a disk without room for what all images may still take", async () => {
    setFree(65);
    expect(await wrap()).not.toEqual(COMMAND);
    const other = path.join(folder, "runyard-sandbox-2-y");
    await promises.mkdir(other);
    await promises.writeFile(path.join(other, "disk.img"), "x");
    await promises.truncate(path.join(other, "disk.img"), 2 * MIB);
    expect(await wrap()).toEqual(COMMAND);
    setFree(64);
    await promises.rm(other, { recursive: true });
    expect(await wrap()).toEqual(COMMAND);
  });

  it("takes the default limits where they are empty", async () => {
    setFree(10_000_000);
    const [, , , , , , bytes] = await wrap({ RUNYARD_RUN_DISK_MIB: "", RUNYARD_RUN_FILES: "" });
    expect(Number(bytes)).toBeGreaterThan(10_240 * MIB);
  });
});
