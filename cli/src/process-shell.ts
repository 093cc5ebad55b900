import { spawn } from "node:child_process";
import { homedir } from "node:os";
import { createInterface } from "node:readline";
import { Writable } from "node:stream";
import type { Shell } from "./shell.ts";

/** The shell that this process was started from. */
export function processShell(): Shell {
  return {
    out: (data) => void process.stdout.write(data),
    err: (text) => void process.stderr.write(text),
    outIsTerminal: process.stdout.isTTY === true,
    errIsTerminal: process.stderr.isTTY === true,
    canAsk: process.stdin.isTTY === true && process.stderr.isTTY === true,
    columns: process.stdout.columns || 80,
    zone: undefined,
    env: process.env,
    cwd: process.cwd(),
    home: homedir(),
    readInput,
    inputLines,
    ask,
    onInterrupt: (listener) => {
      for (const signal of SIGNALS) process.on(signal, listener);
      return () => {
        for (const signal of SIGNALS) process.off(signal, listener);
      };
    },
    exec,
    run: (program, args, cwd) =>
      new Promise((resolve, reject) => {
        const child = spawn(program, args, { cwd, stdio: ["inherit", "pipe", "inherit"] });
        const chunks: Buffer[] = [];
        child.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
        child.on("error", reject);
        child.on("close", (code) => resolve({ code: code ?? 1, stdout: Buffer.concat(chunks).toString("utf8") }));
      }),
  };
}

const SIGNALS = ["SIGINT", "SIGTERM"] as const;

function exec(program: string, args: readonly string[], env: Readonly<Record<string, string>>): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: "inherit", env: { ...process.env, ...env } });
    const passOn = (signal: NodeJS.Signals): void => void child.kill(signal);
    for (const signal of SIGNALS) process.on(signal, passOn);
    child.on("error", reject);
    child.on("close", (code) => {
      for (const signal of SIGNALS) process.off(signal, passOn);
      resolve(code ?? 1);
    });
  });
}

async function readInput(): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
}

/** Only `\n` ends a line: readline's lines end at U+2028 too, which JSON may contain. */
async function* inputLines(): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of process.stdin) {
    const lines = `${rest}${decoder.decode(chunk, { stream: true })}`.split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
  if (rest !== "") yield rest;
}

/** The question goes to standard error, so that it is seen where standard output is a file. */
function ask(question: string, { hidden = false } = {}): Promise<string | undefined> {
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: process.stdin, output: hidden ? silent : process.stderr, terminal: true });
  return new Promise((resolve) => {
    const end = (response: string | undefined): void => {
      resolve(response);
      lines.close();
      if (hidden || response === undefined) process.stderr.write("\n");
    };
    if (hidden) process.stderr.write(question);
    lines.on("SIGINT", () => end(undefined));
    // Ctrl-D.
    lines.on("close", () => resolve(undefined));
    lines.question(hidden ? "" : question, end);
  });
}
