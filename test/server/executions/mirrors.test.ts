import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { expireMirrors, listMirrors } from "#server/sandbox/mirrors.ts";

const DAY_MS = 24 * 3_600_000;
const NOW = Date.UTC(2026, 4, 18);
let directory: string;
beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), "mirrors-"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

function createMirror(name: string, days: number, bytes: number): void {
  const packs = path.join(directory, `${name}.git`, "objects", "pack");
  mkdirSync(packs, { recursive: true });
  writeFileSync(path.join(packs, "pack-1.pack"), "x".repeat(bytes));
  for (const file of ["used", "lock"]) writeFileSync(path.join(directory, `${name}.${file}`), "");
  const at = new Date(NOW - days * DAY_MS);
  utimesSync(path.join(directory, `${name}.used`), at, at);
}
const left = () => readdirSync(directory).toSorted();
const filesOf = (name: string) => ["git", "lock", "used"].map((file) => `${name}.${file}`);

describe("expireMirrors", () => {
  it("removes mirrors that were not used for 14 days, with their files", async () => {
    createMirror("recent", 13, 1);
    createMirror("old", 15, 1);
    expect(await expireMirrors(directory, NOW)).toBe(1);
    expect(left()).toEqual(filesOf("recent"));
  });

  it("removes the least recently used ones above the limits of size and count", async () => {
    for (const [name, days] of [
      ["a", 1],
      ["b", 2],
      ["c", 3],
      ["d", 4],
    ] as const)
      createMirror(name, days, 10);
    expect(await expireMirrors(directory, NOW, { bytes: 30 })).toBe(1);
    expect(left()).toEqual(["a", "b", "c"].flatMap(filesOf));
    expect(await expireMirrors(directory, NOW, { count: 2 })).toBe(1);
    expect(left()).toEqual(["a", "b"].flatMap(filesOf));
  });

  it("removes one whose removal was interrupted, and nothing where there are none", async () => {
    createMirror("a", 20, 1);
    mkdirSync(path.join(directory, "a.removed"));
    expect(await expireMirrors(directory, NOW)).toBe(1);
    expect(left()).toEqual([]);
    expect(await expireMirrors(path.join(directory, "absent"), NOW)).toBe(0);
    expect(existsSync(path.join(directory, "absent"))).toBe(false);
  });
});

it("listMirrors lists the last used mirror first, with the size of its packs", async () => {
  createMirror("a", 3, 10);
  createMirror("b", 1, 20);
  expect(await listMirrors(directory)).toEqual([
    { name: "b", usedAt: NOW - DAY_MS, bytes: 20 },
    { name: "a", usedAt: NOW - 3 * DAY_MS, bytes: 10 },
  ]);
});
