import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { bindPrograms } from "../isolation/bubblewrap.ts";
import { putBehindHarness } from "../isolation/limits.ts";
import { measureFiles } from "../isolation/machine.ts";
import { killTree } from "../isolation/processes.ts";

/** A program that handles an image, which may be hostile. */
export interface ConfinedProgram {
  readonly command: readonly [string, ...string[]];
  /** The host path of the only directory that it can write, which it sees as `/image`. */
  readonly directory: string;
  /** Files of the host that it can read, by the paths at which it sees them. @default none */
  readonly files?: Readonly<Record<string, string>>;
  readonly variables?: Readonly<Record<string, string>>;
  /** Program and arguments that run it in a network namespace. @default it has an empty one */
  readonly enter?: readonly [string, ...string[]] | undefined;
}

export interface ProgramLimits {
  /** Of all files in its directory. */
  readonly bytes: number;
  readonly files: number;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

export interface ProgramResult {
  /** The beginning of its standard output. */
  readonly output: Buffer;
  /** What its directory has in the end. */
  readonly bytes: number;
  readonly files: number;
}

const OUTPUT_BYTES = 4 * 1024 * 1024;
const MESSAGE_CHARACTERS = 600;
const MEASURE_MS = 300;
const DESCRIPTORS = 4_096;
/** What programs need of /etc for https. */
const ETC = ["ssl", "pki", "ca-certificates", "hosts", "nsswitch.conf"];

/**
 * Runs a program as the root of a user namespace without capabilities, which sees the programs of the host and one directory. It has no
 * variables and no secrets of the run. Its files are measured several times a second, so they exceed a limit for a moment only.
 * @throws an Error that says what it printed last, or which limit it exceeded
 */
export async function runConfined(program: ConfinedProgram, limits: ProgramLimits): Promise<ProgramResult> {
  const { enter = [] } = program;
  limits.signal.throwIfAborted();
  const [file = "bwrap", ...args] = [...enter, "bwrap", ...buildBoundary(program, limits)];
  const env = { PATH: process.env["PATH"] ?? "/usr/local/bin:/usr/bin:/bin" };
  const child = spawn(file, args, { cwd: "/", env, detached: true, stdio: ["ignore", "pipe", "pipe"] });
  putBehindHarness(child.pid);
  let reason: string | undefined;
  const end = (why: string) => {
    reason ??= why;
    void killTree(child.pid, undefined);
  };
  const chunks: Buffer[] = [];
  let bytes = 0;
  let text = "";
  child.stdout.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes <= OUTPUT_BYTES) chunks.push(chunk);
    else end(`it printed more than ${OUTPUT_BYTES} bytes`);
  });
  child.stderr.on("data", (chunk: Buffer) => {
    text = (text + chunk.toString()).slice(-8 * MESSAGE_CHARACTERS);
  });
  const over = new AbortController();
  const timer = setTimeout(
    () => end(`it did not end within ${Math.round(limits.timeoutMs / 1000)} s`),
    limits.timeoutMs,
  );
  const stop = () => end("the execution stops");
  limits.signal.addEventListener("abort", stop);
  const watching = watchFiles(program.directory, limits, end, over.signal);
  const [code] = await once(child, "close").catch((error: unknown) => {
    text = String(error);
    return [1];
  });
  clearTimeout(timer);
  over.abort();
  await watching;
  limits.signal.removeEventListener("abort", stop);
  limits.signal.throwIfAborted();
  const measured = await measureFiles(program.directory, limits.files);
  reason ??= findExcess(measured, limits);
  if (reason !== undefined) throw new Error(reason);
  if (code !== 0) throw new Error(takeMessage(text) || `it ended with exit code ${code}`);
  return { output: Buffer.concat(chunks), bytes: measured.bytes, files: measured.files };
}

function buildBoundary(
  { command, directory, files = {}, variables = {}, enter }: ConfinedProgram,
  { bytes }: ProgramLimits,
): string[] {
  const certificates = ["SSL_CERT_FILE", "SSL_CERT_DIR"].flatMap((name) => {
    const value = process.env[name];
    return value === undefined || value === "" ? [] : [[name, value] as const];
  });
  const environment = { PATH: "/usr/sbin:/usr/bin:/sbin:/bin", HOME: "/tmp", ...Object.fromEntries(certificates) };
  // One file that grows faster than it is measured.
  const limited = `ulimit -c 0; ulimit -f ${Math.ceil(bytes / 1024)}; ulimit -n ${DESCRIPTORS}; umask 022; exec "$@"`;
  return [
    ...["--die-with-parent", "--new-session", "--clearenv", "--cap-drop", "ALL"],
    ...["--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"],
    ...(enter === undefined ? ["--unshare-net"] : []),
    ...["--uid", "0", "--gid", "0", "--hostname", "runyard", ...bindPrograms()],
    ...["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"],
    ...ETC.flatMap((name) => ["--ro-bind-try", `/etc/${name}`, `/etc/${name}`]),
    ...certificates.flatMap(([, path]) => ["--ro-bind-try", path, path]),
    ...Object.entries(files).flatMap(([seen, path]) => ["--ro-bind", path, seen]),
    ...["--bind", directory, "/image", "--chdir", "/image"],
    // If the harness runs as root, the program could otherwise change files of the kernel.
    ...["/proc", "/dev", "/"].flatMap((path) => ["--remount-ro", path]),
    ...Object.entries({ ...environment, ...variables }).flatMap(([name, value]) => ["--setenv", name, value]),
    ...["--", "/bin/bash", "-c", limited, "bash", ...command],
  ];
}

async function watchFiles(
  directory: string,
  limits: ProgramLimits,
  end: (why: string) => void,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const excess = findExcess(await measureFiles(directory, limits.files), limits);
    if (excess !== undefined) end(excess);
    await sleep(MEASURE_MS, undefined, { signal }).catch(() => undefined);
  }
}

/** Says which limit the files of an image exceed. */
const findExcess = (
  used: Awaited<ReturnType<typeof measureFiles>>,
  { bytes, files }: ProgramLimits,
): string | undefined => {
  if (used.bytes > bytes) return `it has more than ${Math.floor(bytes / 1024 ** 2)} MiB, the limit of this machine`;
  if (used.files > files) return `it has more than ${files} files, the limit of this machine`;
  return used.isHidden ? "it has a directory that cannot be read, so that its files cannot be counted" : undefined;
};

/** The last message of a program, without the decoration of its log. */
function takeMessage(text: string): string {
  const [, fatal] = /level=fatal msg="((?:[^"\\]|\\.)*)"/.exec(text) ?? [];
  const last = (fatal ?? text.trim().split("\n").slice(-3).join(" ")).replaceAll('\\"', '"');
  return last.replace(/^Error parsing image name "[^"]*": /, "").slice(-MESSAGE_CHARACTERS);
}
