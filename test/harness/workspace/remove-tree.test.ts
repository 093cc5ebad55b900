import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, promises, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { removeTree } from "#shared/sandbox/remove-tree.ts";
import { useDataDirectory } from "../../server/support/data-directory.ts";

const data = useDataDirectory();
let folder: string;
beforeEach(() => {
  folder = data.directory();
});
const at = (...names: string[]) => path.join(folder, ...names);
const list = () => readdirSync(folder);
afterEach(() => {
  vi.restoreAllMocks();
  syncBuiltinESMExports();
});

describe("removeTree", () => {
  it("removes files, links and directories, and not what links lead to", async () => {
    mkdirSync(at("kept"));
    writeFileSync(at("kept", "file"), "");
    mkdirSync(at("tree", "a", "b"), { recursive: true });
    writeFileSync(at("tree", "a", "file"), "");
    symlinkSync(at("kept"), at("tree", "a", "link"));
    symlinkSync(at("kept"), at("link"));
    for (const name of ["tree", "link", "missing", "missing/below"]) await removeTree(at(name));
    expect([list(), readdirSync(at("kept"))]).toEqual([["kept"], ["file"]]);
  });

  it("removes trees that are deeper than the longest path, whose directories have no permissions", async () => {
    // Each level has a file, and every tenth directory cannot be read. A descriptor is the only way to go deeper.
    const script = [
      'import os; os.mkdir("tree"); at = os.open("tree", os.O_RDONLY)',
      "for level in range(120):",
      '  name = "d" * 100; os.mkdir(name, dir_fd=at); below = os.open(name, os.O_RDONLY, dir_fd=at)',
      '  os.close(os.open("file", os.O_CREAT, dir_fd=below)); level % 10 or os.fchmod(below, 0o300); os.close(at); at = below',
    ].join("\n");
    expect(spawnSync("python3", ["-c", script], { cwd: folder }).status).toBe(0);
    await removeTree(at("tree"));
    expect(list()).toEqual([]);
  });

  it("removes directories without permissions and names that are not UTF-8", async () => {
    mkdirSync(at("tree", "closed", "below"), { recursive: true });
    writeFileSync(Buffer.concat([Buffer.from(at("tree", "x")), Buffer.from([0xff, 0x0a])]), "");
    chmodSync(at("tree", "closed"), 0);
    await removeTree(at("tree"));
    expect(list()).toEqual([]);
  });

  it("tries again while files are added, and then reports what is left", async () => {
    mkdirSync(at("tree"));
    const rmdir = promises.rmdir;
    let adds = 2;
    const adding = vi.spyOn(promises, "rmdir").mockImplementation(async (directory) => {
      if (adds-- > 0) writeFileSync(at("tree", `added-${adds}`), "");
      await rmdir(directory);
    });
    syncBuiltinESMExports();
    await removeTree(at("tree"));
    expect([list(), adding.mock.calls.length]).toEqual([[], 3]);
    mkdirSync(at("tree"));
    adds = 100;
    await expect(removeTree(at("tree"))).rejects.toThrow("programs still add files to it");
  });
});
