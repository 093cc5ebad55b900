import { tmpdir } from "node:os";
import type { Shell } from "../../cli/src/shell.ts";

export interface FakeOptions {
  readonly env?: Record<string, string>;
  readonly input?: string;
  /** Whether standard output is a terminal, and by default standard error too. */
  readonly terminal?: boolean;
  readonly errTerminal?: boolean;
  /** The person's input, in order. Without it the shell is not interactive. */
  readonly responses?: readonly (string | undefined)[];
  readonly cwd?: string;
  readonly home?: string;
  readonly columns?: number;
  /** @default "UTC" */
  readonly zone?: string;
  readonly ran?: { code: number; stdout: string };
}

/** A shell that records its output, and whose user, input and signals a test simulates. */
export class FakeShell implements Shell {
  stdout = "";
  stderr = "";
  readonly questions: string[] = [];
  readonly programs: string[][] = [];
  /** The variables that `exec` added, for each program. */
  readonly variables: Readonly<Record<string, string>>[] = [];
  readonly outIsTerminal: boolean;
  readonly errIsTerminal: boolean;
  readonly canAsk: boolean;
  readonly columns: number;
  readonly zone: string;
  readonly env: Record<string, string>;
  readonly cwd: string;
  readonly home: string;
  readonly #options: FakeOptions;
  readonly #answers: (string | undefined)[];
  readonly #listeners = new Set<() => void>();

  constructor(options: FakeOptions = {}) {
    this.#options = options;
    this.#answers = [...(options.responses ?? [])];
    this.outIsTerminal = options.terminal === true;
    this.errIsTerminal = options.errTerminal ?? this.outIsTerminal;
    this.canAsk = options.responses !== undefined;
    this.columns = options.columns ?? 100;
    this.zone = options.zone ?? "UTC";
    this.env = options.env ?? {};
    this.cwd = options.cwd ?? tmpdir();
    this.home = options.home ?? "/nonexistent";
  }

  readonly out = (data: string | Uint8Array): void => {
    this.stdout += typeof data === "string" ? data : Buffer.from(data).toString("utf8");
  };

  readonly err = (text: string): void => {
    this.stderr += text;
  };

  readonly readInput = async (): Promise<string> => this.#options.input ?? "";

  readonly inputLines = async function* (this: FakeShell): AsyncGenerator<string> {
    yield* (this.#options.input ?? "").split("\n");
  }.bind(this);

  readonly ask = async (question: string, { hidden = false } = {}): Promise<string | undefined> => {
    this.questions.push(`${question}${hidden ? "(hidden)" : ""}`);
    return this.#answers.shift();
  };

  readonly onInterrupt = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly exec: Shell["exec"] = async (program, args, env) => {
    this.programs.push([program, ...args]);
    this.variables.push(env);
    return this.#options.ran?.code ?? 0;
  };

  readonly run = async (program: string, args: readonly string[]): Promise<{ code: number; stdout: string }> => {
    this.programs.push([program, ...args]);
    return this.#options.ran ?? { code: 1, stdout: "" };
  };

  /** The number of listeners for Ctrl-C. */
  get listeners(): number {
    return this.#listeners.size;
  }

  /** Sends Ctrl-C as soon as there is a listener. */
  async interrupt(): Promise<void> {
    while (this.#listeners.size === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    for (const listener of this.#listeners) listener();
  }
}
