import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { removeTree } from "#shared/sandbox/remove-tree.ts";
import { useDataDirectory } from "../server/support/data-directory.ts";

const data = useDataDirectory();
const FILES = 300;
const ROUNDS = 8;

/**
 * Waits until the first file of a directory is gone, and exchanges the directory for a link to another one with the same names, as a
 * program of a run can do while the harness removes the directory. Then it exchanges them back and forth for a while.
 */
const ATTACK = `
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
folder, victim = sys.argv[1:3]
os.chdir(folder)
os.symlink(victim, "link")
descriptor = os.open("archive", os.O_RDONLY)
begun = os.fstat(descriptor).st_mtime_ns
exchange = lambda: libc.renameat2(-100, b"archive", -100, b"link", 2)
print("ready", flush=True)
while os.fstat(descriptor).st_mtime_ns == begun: pass
for _ in range(300): exchange()
`;

it("a directory that is exchanged for a link while it is removed costs no file of the host", async () => {
  const root = data.directory();
  const victim = path.join(root, "victim");
  mkdirSync(victim);
  const names = Array.from({ length: FILES }, (_, index) => `file-${index}`);
  for (const name of names) writeFileSync(path.join(victim, name), "");
  let outcomes = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const folder = path.join(root, String(round));
    mkdirSync(path.join(folder, "archive"), { recursive: true });
    for (const name of names) writeFileSync(path.join(folder, "archive", name), "");
    const attacker = spawn("python3", ["-c", ATTACK, folder, victim], { stdio: ["ignore", "pipe", "inherit"] });
    // It may end before the removal does.
    const closed = once(attacker, "close");
    await once(attacker.stdout, "data");
    // It may find that the attacker never stops, but it ends.
    await removeTree(path.join(folder, "archive")).catch(() => undefined);
    outcomes++;
    attacker.kill("SIGKILL");
    await closed;
  }
  expect([outcomes, readdirSync(victim).length]).toEqual([ROUNDS, FILES]);
});
