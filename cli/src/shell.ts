/** The surroundings of the command: its terminal, its environment and its signals. Tests replace them. */
export interface Shell {
  /** Writes to standard output, as it is. */
  readonly out: (data: string | Uint8Array) => void;
  /** Writes to standard error, as it is. */
  readonly err: (text: string) => void;
  /** Whether standard output is a terminal. */
  readonly outIsTerminal: boolean;
  /** Whether standard error is a terminal. */
  readonly errIsTerminal: boolean;
  /** Whether there is a person to ask: standard input and standard error are terminals. */
  readonly canAsk: boolean;
  /** Characters in a line of the terminal. */
  readonly columns: number;
  /** Name of the time zone; undefined: that of the process. */
  readonly zone: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly home: string;
  /** All of standard input. */
  readonly readInput: () => Promise<string>;
  /** The lines of standard input, as they arrive. */
  readonly inputLines: () => AsyncIterable<string>;
  /** Asks a person for a line; `hidden` does not show the input. Ctrl-C returns undefined. */
  readonly ask: (question: string, options?: { hidden?: boolean }) => Promise<string | undefined>;
  /** Calls the listener for each SIGINT and SIGTERM, which do not end the program until the returned function is called. */
  readonly onInterrupt: (listener: () => void) => () => void;
  /** Runs a program with the input, output and signals of this one, and further variables. Resolves with its exit code. */
  readonly exec: (program: string, args: readonly string[], env: Readonly<Record<string, string>>) => Promise<number>;
  /** Runs a program with this one's output, and returns its exit code and standard output. */
  readonly run: (program: string, args: readonly string[], cwd: string) => Promise<{ code: number; stdout: string }>;
}
