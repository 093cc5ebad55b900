import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, constants, openSync, rmSync } from "node:fs";
import { Socket } from "node:net";
import { join } from "node:path";
import type { Readable } from "node:stream";

/** A pipe whose write end is for a program. */
export interface Pipe {
  readonly output: Readable;
  /** The descriptor of the write end. */
  readonly write: number;
  /** Closes the harness's own descriptor of the write end, once the program has it. */
  closeWrite(): void;
  /** Closes a pipe that no program got. */
  close(): void;
}

export interface Pipes {
  /** @returns undefined if this machine cannot make one */
  open(): Promise<Pipe | undefined>;
}

/** One program makes several, since each process costs a millisecond. */
const BATCH = 8;

/**
 * Opens pipes. Those that Node makes are sockets, which a program cannot open again by a name such as /dev/stdout.
 * @param folder a directory of the host that commands cannot see
 */
export function createPipes(folder: string): Pipes {
  let count = 0;
  let ready: Promise<string[]> = Promise.resolve([]);
  const make = async (): Promise<string[]> => {
    const paths = Array.from({ length: BATCH }, () => join(folder, `pipe-${++count}`));
    const options = { cwd: "/", env: { PATH: "/usr/bin:/bin" }, stdio: "ignore" } as const;
    const [code] = await once(spawn("mkfifo", ["-m", "600", ...paths], options), "exit").catch(() => [1]);
    return code === 0 ? paths : [];
  };
  return {
    async open() {
      const paths = await ready;
      if (paths.length === 0) ready = make();
      const path = (await ready).pop();
      return path === undefined ? undefined : openPipe(path);
    },
  };
}

/** The name is needed only to open both ends. */
function openPipe(path: string): Pipe {
  // Without O_NONBLOCK, each end would wait for the other one.
  const read = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const write = openSync(path, constants.O_WRONLY);
  rmSync(path);
  const output = new Socket({ fd: read, readable: true, writable: false });
  const closeWrite = () => closeSync(write);
  const close = () => {
    closeWrite();
    output.destroy();
  };
  return { output, write, closeWrite, close };
}
