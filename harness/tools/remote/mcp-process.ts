import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { ReadBuffer, serializeMessage } from "@modelcontextprotocol/sdk/shared/stdio.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import type { JSONRPCMessage } from "@modelcontextprotocol/sdk/types.js";
import { CLOSE_MS } from "../../commands/command-launcher.ts";
import { createCapture } from "../../commands/output-capture.ts";
import { quoteForShell } from "../../commands/shell-quote.ts";
import { type Launched, startLaunch } from "../../isolation/launch.ts";
import { formatUlimits, putBehindHarness } from "../../isolation/limits.ts";
import { createMarker, killTree } from "../../isolation/processes.ts";
import { createSandboxWatch, type Watch } from "../../isolation/resource-watch.ts";
import type { Sandbox, WorkspacePaths } from "../../isolation/sandbox.ts";
import type { Redactor } from "../../redaction/redactor.ts";
import { MESSAGE_BYTES } from "./outward-fetch.ts";

export interface ServerProgram {
  readonly command: string;
  readonly args: readonly string[];
  /** Its environment variables, besides those of the sandbox itself; it gets no others. Undefined stands for those of commands. */
  readonly env: Readonly<Record<string, string>> | undefined;
}

export interface ProcessPlace {
  readonly sandbox: Sandbox;
  /** Paths on the host. */
  readonly host: WorkspacePaths;
  readonly executionId: string;
  /** Where it starts, as commands see it. */
  readonly workingDirectory: string;
  readonly redactor: Redactor;
  /** Watches all commands of the execution, with which it shares their limits. @default it has limits of its own */
  readonly watch?: Watch | undefined;
  /** Aborted when the execution stops: the server ends with it. */
  readonly signal: AbortSignal;
}

/** Limits for the captured standard error. */
const SAID = { keepBytes: 2_048, readBytes: 1024 * 1024 };
/** How long a server has to exit by itself after its input was closed. */
const END_MS = 1_000;

let count = 0;

/**
 * An MCP server that runs like a command, with the same isolation boundary and the same limits, until it is closed. It only gets the secrets
 * that its own configuration names.
 */
export class ProcessTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: <T extends JSONRPCMessage>(message: T) => void;
  readonly #program: ServerProgram;
  readonly #place: ProcessPlace;
  readonly #name = `mcp-${++count}`;
  /** Differs from the marker of commands, so that the server is not killed with a command. */
  readonly #mark: string;
  readonly #buffer = new ReadBuffer({ maxBufferSize: MESSAGE_BYTES });
  readonly #said: ReturnType<typeof createCapture>;
  #launched: Launched | undefined;
  #ended = Promise.resolve();
  #exceeded: string | undefined;
  #lastOutput: string | undefined;

  constructor(program: ServerProgram, place: ProcessPlace) {
    this.#program = program;
    this.#place = place;
    this.#mark = `${place.executionId}-${this.#name}`;
    this.#said = createCapture(place.redactor, SAID);
  }

  async start(): Promise<void> {
    const { sandbox, host, signal } = this.#place;
    const script = `${this.#name}.sh`;
    await writeFile(join(host.steps, script), this.#script(), { mode: 0o444 });
    const launch = sandbox.launch(script, this.#program.env);
    const launched = startLaunch({ ...launch, env: { ...launch.env, ...createMarker(this.#mark) } }, { stdin: "pipe" });
    this.#launched = launched;
    const { process } = launched;
    const [stdout, stderr] = launched.output;
    this.#ended = this.#waitForEnd(launched);
    // A server that has ended does not read its input; its last output shows why.
    launched.input?.on("error", () => {});
    stderr?.on("data", this.#said.stream());
    stdout?.on("data", (chunk: Buffer) => this.#receive(chunk));
    if (process.pid === undefined) return await this.#ended;
    if (sandbox.limits !== undefined) putBehindHarness(process.pid);
    this.#watch(process.pid);
    const stop = () => void this.#kill(process.pid);
    signal.addEventListener("abort", stop);
    void this.#ended.then(() => signal.removeEventListener("abort", stop));
    if (signal.aborted) stop();
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const input = this.#input();
    if (input.writableLength > MESSAGE_BYTES) {
      // It may ask on and on without reading the responses, which would take the memory of the harness.
      void this.close();
      throw new Error("the server does not read its input");
    }
    if (!input.write(serializeMessage(message))) await Promise.race([once(input, "drain"), this.#ended]);
  }

  async close(): Promise<void> {
    const launched = this.#launched;
    if (launched === undefined) return;
    launched.input?.end();
    await Promise.race([this.#ended, sleep(END_MS, undefined, { ref: false })]);
    await this.#kill(launched.process.pid);
    await this.#ended;
  }

  async #kill(pid: number | undefined): Promise<void> {
    await killTree(pid, this.#place.sandbox.contained ? undefined : this.#mark);
  }

  #watch(pid: number): void {
    const { sandbox, host, watch = createSandboxWatch(sandbox, host) } = this.#place;
    const unwatch = watch?.command(pid, (why) => {
      this.#exceeded = why;
      void this.#kill(pid);
    });
    void this.#ended.then(unwatch);
  }

  /** Returns which limit it exceeded, or the end of its redacted standard error. */
  lastOutput(): string {
    this.#lastOutput ??= this.#exceeded ?? this.#said.end().text.trim();
    return this.#lastOutput;
  }

  #script(): string {
    const { sandbox, workingDirectory } = this.#place;
    const { command, args } = this.#program;
    const lowering = sandbox.limits === undefined ? "" : formatUlimits(sandbox.limits);
    const words = [command, ...args].map(quoteForShell).join(" ");
    return `exec 3>&-; ${lowering} cd -- ${quoteForShell(workingDirectory)}; exec ${words}\n`;
  }

  #input(): Writable {
    const input = this.#launched?.input;
    if (input === undefined || !input.writable) throw new Error("the server has ended");
    return input;
  }

  async #waitForEnd({ process }: Launched): Promise<void> {
    const closed = once(process, "close").catch(() => {});
    try {
      await once(process, "exit");
      // Its last messages may be read after its exit. What it has started can keep its output open.
      await Promise.race([closed, sleep(CLOSE_MS, undefined, { ref: false })]);
    } catch (error) {
      if (error instanceof Error) this.onerror?.(error);
    }
    this.#buffer.clear();
    this.onclose?.();
  }

  #receive(chunk: Buffer): void {
    try {
      this.#buffer.append(chunk);
    } catch (error) {
      // The message is too large, so the connection ends.
      void this.close();
      if (error instanceof Error) this.onerror?.(error);
      return;
    }
    for (let message = this.#next(); message !== null; message = this.#next()) {
      if (message !== undefined) this.onmessage?.(message);
    }
  }

  /** Returns null if there is no complete message, and undefined for a line that is not a message, which some servers print. */
  #next(): JSONRPCMessage | null | undefined {
    try {
      return this.#buffer.readMessage();
    } catch {
      return undefined;
    }
  }
}
