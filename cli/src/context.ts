import { type RequestWarning, Runyard } from "../../clients/typescript/src/index.ts";
import { type Connection, findConnection } from "./connection.ts";
import { teamUid } from "./names.ts";
import type { Shell } from "./shell.ts";
import { type Style, styleFor } from "./style.ts";
import { terminalJson, terminalLine, terminalText } from "./terminal-text.ts";
import { timeText } from "./time-text.ts";
import { VERSION } from "./version.ts";

/** The options that every command takes. */
export interface GlobalOptions {
  readonly json?: true | undefined;
  readonly baseUrl?: string | undefined;
  readonly team?: string | undefined;
  readonly utc?: true | undefined;
}

/** The context that a command runs in. */
export class Context {
  readonly shell: Shell;
  /** The style of standard output. */
  readonly style: Style;
  /** The style of standard error. */
  readonly errStyle: Style;
  /** The exit code, where nothing was thrown. */
  exitCode = 0;
  #global: GlobalOptions = {};
  #connection: Promise<Connection> | undefined;

  constructor(shell: Shell) {
    this.shell = shell;
    this.style = styleFor(shell.env, shell.outIsTerminal);
    this.errStyle = styleFor(shell.env, shell.errIsTerminal);
  }

  /** Sets the options of the command line; until then, a context has none. */
  use(options: GlobalOptions): void {
    this.#global = options;
  }

  /** Whether the output is for programs. */
  get json(): boolean {
    return this.#global.json === true;
  }

  get baseURL(): string | undefined {
    return this.#global.baseUrl;
  }

  /** @param baseURL the address that the command's own options name. @default that of --base-url */
  connection(baseURL = this.#global.baseUrl): Promise<Connection> {
    this.#connection ??= findConnection(this.shell, baseURL);
    return this.#connection;
  }

  async client(): Promise<Runyard> {
    const client = this.clientFor(await this.connection());
    const team = await this.team();
    return team === undefined ? client : client.withOptions({ team });
  }

  /** The uid of the team that --team names. */
  async team(): Promise<string | undefined> {
    const { team } = this.#global;
    return team === undefined ? undefined : teamUid(this.clientFor(await this.connection()), team);
  }

  clientFor({ baseURL, apiKey }: Pick<Connection, "baseURL" | "apiKey">): Runyard {
    const headers = { "user-agent": `runyard-cli/${VERSION}`, "x-run-source": "CLI" };
    const onWarnings = (warnings: readonly RequestWarning[]) => {
      for (const { path, message } of warnings) this.note(`Warning: ${path}: ${message}`);
    };
    return new Runyard({ baseURL, apiKey, headers, onWarnings });
  }

  /** Formats a time for people, in the zone of this machine unless --utc is given. */
  timeText(time: string | null | undefined): string | undefined {
    if (time === null || time === undefined) return undefined;
    return timeText(time, this.#global.utc === true ? "UTC" : this.shell.zone);
  }

  /** Prints a line for people to standard output. */
  say(line = ""): void {
    this.shell.out(`${terminalLine(line)}\n`);
  }

  /** Prints text of several lines for people to standard output. */
  sayText(text: string): void {
    this.shell.out(`${terminalText(text)}\n`);
  }

  /** Prints a remark to standard error. */
  note(line: string): void {
    this.shell.err(`${terminalLine(line)}\n`);
  }

  /** Prints the whole result as one JSON document. */
  printJson(value: unknown): void {
    this.shell.out(`${terminalJson(JSON.stringify(value, null, this.shell.outIsTerminal ? 2 : undefined))}\n`);
  }

  /** Prints one of many results as a line of JSON. */
  printJsonLine(value: unknown): void {
    this.shell.out(`${terminalJson(JSON.stringify(value))}\n`);
  }

  /** Prints a result: as JSON for programs, as text for people. */
  show(value: unknown, words: () => void): void {
    if (this.json) this.printJson(value);
    else words();
  }
}
