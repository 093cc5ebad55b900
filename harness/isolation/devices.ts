import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";

/** The device nodes that bwrap would bind from the host, with their numbers. */
const NODES: Readonly<Record<string, string>> = {
  null: "1 3",
  zero: "1 5",
  full: "1 7",
  random: "1 8",
  urandom: "1 9",
  tty: "5 0",
};

/**
 * Creates device nodes for commands. If the harness runs as root, commands own the host's device nodes, and `chmod 0 /dev/null` would
 * affect the whole machine. Creates none if the harness is not root, or lacks the right.
 * @param folder a directory that commands cannot write
 * @returns paths of the nodes by their name in /dev
 */
export async function createDevices(folder: string): Promise<Readonly<Record<string, string>>> {
  if (process.getuid?.() !== 0) return {};
  const own = join(folder, "dev");
  await mkdir(own, { recursive: true });
  const make = Object.entries(NODES).map(([name, numbers]) => `mknod -m 666 ${name} c ${numbers} && : < ${name}`);
  // /dev/tty can only be opened by a process with a terminal.
  const script = make.join(" && ").replace(" && : < tty", "");
  const child = spawn("/bin/sh", ["-c", script], { cwd: own, env: { PATH: "/usr/bin:/bin" }, stdio: "ignore" });
  const [code] = await once(child, "exit").catch(() => [1]);
  return code === 0 ? Object.fromEntries(Object.keys(NODES).map((name) => [name, join(own, name)])) : {};
}
