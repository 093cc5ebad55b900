import { type ChildProcess, spawn } from "node:child_process";
import { Readable, Writable } from "node:stream";
import type { Pipe } from "./pipes.ts";
import type { Launch } from "./sandbox.ts";

/** A program that runs in its sandbox. */
export interface Launched {
  readonly process: ChildProcess;
  /** Its standard input, if it has one. */
  readonly input: Writable | undefined;
  /** Its standard output and its standard error. */
  readonly output: readonly Readable[];
  /** Its output on descriptor 3. */
  readonly report: Readable | undefined;
}

export interface Streams {
  /** Whether the program has a standard input. @default "ignore" */
  readonly stdin?: "ignore" | "pipe";
  /** Gets both standard output and standard error, in their order. @default a socket for each */
  readonly output?: Pipe | undefined;
}

/** Starts a program in its own process group, so that a kill reaches its descendants and not the harness. */
export function startLaunch(
  { file, args, env, cwd, filter, hidden = [] }: Launch,
  { stdin = "ignore", output: pipe }: Streams = {},
): Launched {
  const feeds = [filter, hidden.length === 0 ? undefined : hidden.map((argument) => `${argument}\0`).join("")].filter(
    (feed) => feed !== undefined,
  );
  const pipes = feeds.map(() => "pipe" as const);
  const output = pipe?.write ?? "pipe";
  const child = spawn(file, [...args], { env, cwd, detached: true, stdio: [stdin, output, output, "pipe", ...pipes] });
  pipe?.closeWrite();
  for (const [index, feed] of feeds.entries()) {
    const pipe = child.stdio[4 + index];
    if (!(pipe instanceof Writable)) continue;
    // A program that does not read it has already ended, and its exit shows why.
    pipe.on("error", () => {});
    pipe.end(feed);
  }
  const [input, stdout, stderr, report] = child.stdio;
  return {
    process: child,
    input: input instanceof Writable ? input : undefined,
    output: [pipe?.output, stdout, stderr].filter((stream) => stream instanceof Readable),
    report: report instanceof Readable ? report : undefined,
  };
}
