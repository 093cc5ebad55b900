import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdirSync, openSync, statSync } from "node:fs";
import { join } from "node:path";

/** The device nodes that bwrap would bind from the host. */
const NAMES = ["null", "zero", "full", "random", "urandom", "tty"];
/** /dev/tty can only be opened by a process with a terminal. */
const OPENABLE = NAMES.filter((name) => name !== "tty");

/**
 * Creates device nodes for commands. If the harness runs as root, commands own the host's device nodes, and `chmod 0 /dev/null` would
 * affect the whole machine. Creates none if the harness is not root, or lacks the right.
 * @param folder a directory that commands cannot write
 * @returns paths of the nodes by their name in /dev
 */
export async function createDevices(folder: string): Promise<Readonly<Record<string, string>>> {
  if (process.getuid?.() !== 0) return {};
  const own = join(folder, "dev");
  mkdirSync(own, { recursive: true });
  // One program makes all of them, since each process costs a millisecond of every execution. Commands own what it makes.
  const copy = ["-R", ...NAMES.map((name) => `/dev/${name}`), own];
  const child = spawn("cp", copy, { cwd: "/", env: { PATH: "/usr/bin:/bin" }, stdio: "ignore" });
  const [code] = await once(child, "exit").catch(() => [1]);
  const nodes = NAMES.map((name) => [name, join(own, name)] as const);
  return code === 0 && nodes.every(([name, node]) => isUsable(name, node)) ? Object.fromEntries(nodes) : {};
}

/** A file system may refuse to make devices, or to open them. */
function isUsable(name: string, node: string): boolean {
  try {
    if (OPENABLE.includes(name)) closeSync(openSync(node, "r"));
    return statSync(node).isCharacterDevice();
  } catch {
    return false;
  }
}
