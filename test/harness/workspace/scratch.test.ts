import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, promises, readdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import path from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { createScratch, listLeftScratch, removeAbandoned, removeScratch } from "#shared/sandbox/scratch.ts";
import { useDataDirectory } from "../../server/support/data-directory.ts";

const data = useDataDirectory();
let folder: string;
beforeEach(() => {
  folder = data.directory();
});
afterEach(() => {
  vi.restoreAllMocks();
  syncBuiltinESMExports();
});

const ENDED = spawnSync("true").pid;
const makeDirectory = (name: string, mode = 0o700): string => {
  const directory = path.join(folder, name);
  mkdirSync(path.join(directory, "below"), { recursive: true });
  chmodSync(directory, mode);
  return directory;
};
const list = () => readdirSync(folder).toSorted();

/** Makes the removal of files with this name fail. */
function failToRemove(name: string): void {
  const unlink = promises.unlink;
  vi.spyOn(promises, "unlink").mockImplementation(async (file) => {
    if (file.toString().endsWith(`/${name}`)) throw Object.assign(new Error("EIO: i/o error"), { code: "EIO" });
    await unlink(file);
  });
  syncBuiltinESMExports();
}

it("removeAbandoned removes the directories of ended processes, unless a process of a harness still uses them", async () => {
  const used = `runyard-sandbox-${ENDED}-b`;
  const kept = [used, `runyard-sandbox-${process.pid}-c`, `my-runyard-sandbox-${ENDED}-d`, "runyard-sandbox-e", "f"];
  for (const name of [`runyard-sandbox-${ENDED}-a`, ...kept]) makeDirectory(name);
  const env = { ...process.env, TMPDIR: path.join(folder, used) };
  const harness = spawn("sleep", ["600"], { stdio: "ignore", env });
  await once(harness, "spawn");
  await removeAbandoned(folder).finally(() => harness.kill("SIGKILL"));
  expect(list()).toEqual(kept.toSorted());
});

it("removeAbandoned keeps what other users can have made: links, directories with other modes or owners, files", async () => {
  const target = makeDirectory("target");
  const names = ["open", "group", "link", "file"].map((name) => `runyard-sandbox-${ENDED}-${name}`);
  makeDirectory(`runyard-sandbox-${ENDED}-open`, 0o707);
  makeDirectory(`runyard-sandbox-${ENDED}-group`, 0o770);
  symlinkSync(target, path.join(folder, `runyard-sandbox-${ENDED}-link`));
  writeFileSync(path.join(folder, `runyard-sandbox-${ENDED}-file`), "");
  await removeAbandoned(folder);
  expect(list()).toEqual([...names, "target"].toSorted());
  makeDirectory(`runyard-sandbox-${ENDED}-other`);
  vi.spyOn(process, "getuid").mockReturnValue(statSync(target).uid + 1);
  await removeAbandoned(folder);
  expect(list()).toEqual([...names, `runyard-sandbox-${ENDED}-other`, "target"].toSorted());
});

it("createScratch creates directories that only their owner can access, in a parent of the same kind", async () => {
  const parent = path.join(folder, "scratch");
  const made = await createScratch(parent);
  expect([parent, made].map((directory) => statSync(directory).mode & 0o777)).toEqual([0o700, 0o700]);
  expect(path.dirname(made)).toBe(parent);
});

it("removeScratch keeps what could not be removed under a name that is listed, and removes it with the next one", async () => {
  const [first, second] = [await createScratch(folder), await createScratch(folder)];
  writeFileSync(path.join(first, "stuck"), "secret");
  failToRemove("stuck");
  await removeScratch(first);
  const left = path.join(folder, `left-${path.basename(first)}`);
  expect(await listLeftScratch(folder)).toEqual([left]);
  expect(existsSync(path.join(left, "stuck"))).toBe(true);
  vi.restoreAllMocks();
  syncBuiltinESMExports();
  await removeScratch(second);
  expect([list(), await listLeftScratch(folder)]).toEqual([[], []]);
});

it("removeAbandoned removes what could not be removed earlier, although its process is still alive", async () => {
  makeDirectory(`left-runyard-sandbox-${process.pid}-a`);
  await removeAbandoned(folder);
  expect(list()).toEqual([]);
});
