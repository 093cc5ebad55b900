import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { openInside } from "#harness/files/path-containment.ts";

let folder = "";
let root = "";
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "inside-")));
  root = join(folder, "root");
  mkdirSync(join(root, "deep"), { recursive: true });
  mkdirSync(`${root}-other`);
  writeFileSync(join(root, "deep", "a.txt"), "inside");
  writeFileSync(join(`${root}-other`, "a.txt"), "outside");
});
afterEach(() => {
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true });
});

describe("openInside", () => {
  it("opens a regular file below the directory, whose content stays the same", async () => {
    const path = join(root, "deep", "a.txt");
    const file = await openInside(root, path);
    writeFileSync(join(root, "b.txt"), "another");
    renameSync(join(root, "b.txt"), path);
    expect([file.sizeBytes, readFileSync(file.path, "utf8"), readFileSync(path, "utf8")]).toEqual([
      6,
      "inside",
      "another",
    ]);
    await file[Symbol.asyncDispose]();
    expect(existsSync(file.path)).toBe(false);
  });

  it("opens a file below a directory that is named by a link", async () => {
    symlinkSync(root, join(folder, "link"));
    await using file = await openInside(join(folder, "link"), join(folder, "link", "deep", "a.txt"));
    expect(readFileSync(file.path, "utf8")).toBe("inside");
  });

  it.each([
    ["the file of another directory", () => join(`${root}-other`, "a.txt"), "leads out of its directory"],
    [
      "a file behind a link to another directory",
      () => {
        symlinkSync(`${root}-other`, join(root, "link"));
        return join(root, "link", "a.txt");
      },
      "leads out of its directory",
    ],
    [
      "a link",
      () => {
        symlinkSync(join(root, "deep", "a.txt"), join(root, "link"));
        return join(root, "link");
      },
      "ELOOP",
    ],
    ["a directory", () => join(root, "deep"), "is not a regular file"],
    [
      "a pipe, without waiting for its writer",
      () => {
        execFileSync("bash", ["-c", 'mkfifo "$0"', join(root, "pipe")]);
        return join(root, "pipe");
      },
      "is not a regular file",
    ],
    ["a missing file", () => join(root, "none"), "ENOENT"],
  ])("rejects %s", async (_, make, message) => {
    await expect(openInside(root, make())).rejects.toThrow(message);
  });

  it("returns the path itself on a system without /proc, and rejects a file outside there too", async () => {
    vi.spyOn(process, "platform", "get").mockReturnValue("darwin");
    const path = join(root, "deep", "a.txt");
    await using file = await openInside(root, path);
    expect(file.path).toBe(path);
    await expect(openInside(root, join(`${root}-other`, "a.txt"))).rejects.toThrow("leads out of its directory");
  });

  it("closes what it rejects", async () => {
    await expect(openInside(root, join(root, "deep"))).rejects.toThrow();
    const opened = readdirSync("/proc/self/fd").flatMap((descriptor) => {
      try {
        return [readlinkSync(`/proc/self/fd/${descriptor}`)];
      } catch {
        // It was closed in the meantime, such as that of the listing itself.
        return [];
      }
    });
    expect(opened.filter((path) => path.startsWith(folder))).toEqual([]);
  });
});
