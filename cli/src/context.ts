import { Runyard } from "../../clients/typescript/src/index.ts";
import { type Connection, findConnection } from "./connection.ts";
import type { Shell } from "./shell.ts";
import { type Style, styleFor } from "./style.ts";
import { terminalJson, terminalLine, terminalText } from "./terminal-text.ts";
import { VERSION } from "./version.ts";

/** The options that every command takes. */
export interface GlobalOptions {
  readonly json?: true | undefined;
  readonly baseUrl?: string | undefined;
  readonly team?: string | undefined;
}

/** What a command has to work with. */
export class Context {
  readonly shell: Shell;
  readonly style: Style;
  /** The exit code, where nothing was thrown. */
  exitCode = 0;
  #global: GlobalOptions = {};
  #connection: Promise<Connection> | undefined;

  constructor(shell: Shell) {
    this.shell = shell;
    this.style = styleFor(shell);
  }

  /** Takes over what the command line says; before that, a context has no options. */
  use(options: GlobalOptions): void {
    this.#global = options;
  }

  /** Whether the answer is for a program. */
  get json(): boolean {
    return this.#global.json === true;
  }

  get baseURL(): string | undefined {
    return this.#global.baseUrl;
  }

  connection(): Promise<Connection> {
    this.#connection ??= findConnection(this.shell, this.#global.baseUrl);
    return this.#connection;
  }

  async client(): Promise<Runyard> {
    return this.clientFor(await this.connection());
  }

  clientFor({ baseURL, apiKey }: Pick<Connection, "baseURL" | "apiKey">): Runyard {
    const headers = { "user-agent": `runyard-cli/${VERSION}`, "x-run-source": "CLI" };
    return new Runyard({ baseURL, apiKey, headers, team: this.#global.team });
  }

  /** A line for a person, on standard output. */
  say(line = ""): void {
    this.shell.out(`${terminalLine(line)}\n`);
  }

  /** Text of several lines for a person, on standard output. */
  sayText(text: string): void {
    this.shell.out(`${terminalText(text)}\n`);
  }

  /** A remark beside the answer, on standard error. */
  note(line: string): void {
    this.shell.err(`${terminalLine(line)}\n`);
  }

  /** The whole answer as one JSON document. */
  printJson(value: unknown): void {
    this.shell.out(`${terminalJson(JSON.stringify(value, null, this.shell.outIsTerminal ? 2 : undefined))}\n`);
  }

  /** One of many answers, on a line of its own. */
  printJsonLine(value: unknown): void {
    this.shell.out(`${terminalJson(JSON.stringify(value))}\n`);
  }

  /** An answer: as it is for a program, in words for a person. */
  show(value: unknown, words: () => void): void {
    if (this.json) this.printJson(value);
    else words();
  }
}
