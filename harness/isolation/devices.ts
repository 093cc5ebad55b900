import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";

/** The nodes that bwrap takes over from the host, with their numbers. */
const NODES: Readonly<Record<string, string>> = {
  null: "1 3",
  zero: "1 5",
  full: "1 7",
  random: "1 8",
  urandom: "1 9",
  tty: "5 0",
};

/**
 * Where the harness is root's, the host's nodes of devices are its commands' own, and `chmod 0 /dev/null` would be for the whole machine. So
 * they get others. Nothing is made where the harness is somebody else's, or may not make any.
 * @param folder a directory that commands cannot write
 * @returns paths of the nodes by their name in /dev
 */
export async function createDevices(folder: string): Promise<Readonly<Record<string, string>>> {
  if (process.getuid?.() !== 0) return {};
  const own = join(folder, "dev");
  await mkdir(own, { recursive: true });
  const make = Object.entries(NODES).map(([name, numbers]) => `mknod -m 666 ${name} c ${numbers} && : < ${name}`);
  // A terminal can only be opened by who has one.
  const script = make.join(" && ").replace(" && : < tty", "");
  const child = spawn("/bin/sh", ["-c", script], { cwd: own, env: { PATH: "/usr/bin:/bin" }, stdio: "ignore" });
  const [code] = await once(child, "exit").catch(() => [1]);
  return code === 0 ? Object.fromEntries(Object.keys(NODES).map((name) => [name, join(own, name)])) : {};
}
