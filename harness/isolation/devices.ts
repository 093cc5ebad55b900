import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir } from "node:fs/promises";
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
  await mkdir(own, { recursive: true });
  // One program makes all of them, since each process costs a millisecond of every execution.
  const script = [
    `cp -a ${NAMES.map((name) => `/dev/${name}`).join(" ")} .`,
    `chmod 666 ${NAMES.join(" ")}`,
    ...NAMES.map((name) => `[ -c ${name} ]`),
    ...OPENABLE.map((name) => `: < ${name}`),
  ].join(" && ");
  const child = spawn("/bin/sh", ["-c", script], { cwd: own, env: { PATH: "/usr/bin:/bin" }, stdio: "ignore" });
  const [code] = await once(child, "exit").catch(() => [1]);
  return code === 0 ? Object.fromEntries(NAMES.map((name) => [name, join(own, name)])) : {};
}
