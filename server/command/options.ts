import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";

export interface ServeOptions {
  /** Print a new link to sign in to the running server, and exit. */
  readonly link: boolean;
  readonly port: number | undefined;
  readonly host: string;
  /** Public address, without a slash at its end. @default the address that the server listens on */
  readonly url: string | undefined;
  readonly data: string | undefined;
  readonly once: boolean;
  readonly sample: boolean;
  readonly sandbox: boolean;
  readonly concurrency: number;
  readonly repo: string | undefined;
  readonly runTests: boolean;
}

/** An execution mostly waits for its model, but its commands need a core. */
const DEFAULT_CONCURRENCY = Math.max(4, 2 * availableParallelism());
const MAX_CONCURRENCY = 1_000;

export const HELP = `Usage: npm start -- [options]
       npm start -- link [--data DIR]

Runs Runyard as one process on this machine, executes a sample run on a real repository and serves until Ctrl-C.
"link" prints a new link that signs in to the web app of the running server.

  --port N          port (default: the last one, at first 4500; if it is busy, the next free one)
  --host ADDRESS    address to listen on (default: 127.0.0.1); other machines can then use the API
  --url URL         public address of the server, such as https://runyard.example.com, for links and file URLs
  --data DIR        directory of the database, the files and the key (default: .runyard/data in this checkout)
  --concurrency N   runs that execute at the same time (default: ${DEFAULT_CONCURRENCY})
  --once            exit after the sample run; the exit code is 0 if it succeeded
  --no-sample       do not execute the sample run
  --no-sandbox      execute commands without isolation, as the user who started the server
  --repo PATH|URL   repository that the sample run inspects (default: this checkout, as committed)
  --run-tests       let the sample run execute that repository's test command (60 seconds at most)
  --help            show this text

RUNYARD_STATE names the directory of .runyard (default: in this checkout).
RUNYARD_SANDBOX_SECONDS limits how long an execution takes; its run continues in the next one (default: no limit).
RUNYARD_ANTHROPIC_API_KEY, RUNYARD_OPENAI_API_KEY, RUNYARD_COMPATIBLE_BASE_URL with RUNYARD_COMPATIBLE_MODELS: see docs/models.md.
RUNYARD_GITHUB_TOKEN is a token for repositories on GitHub; RUNYARD_GITHUB_API_URL names another server with GitHub's API.`;

/** The command line cannot be understood; the message says why. */
export class UsageError extends Error {}

/** Parses the command line; undefined if it asks for help. @throws UsageError */
export function parseOptions(args: readonly string[]): ServeOptions | undefined {
  const { values, positionals } = readFlags(args);
  if (values.help) return undefined;
  const [command, ...others] = positionals;
  if ((command !== undefined && command !== "link") || others.length > 0) {
    throw new UsageError(`"${positionals.join(" ")}" is no command: there is only "link"`);
  }
  return {
    link: command === "link",
    port: integer("--port", values.port, 65_535),
    host: values.host,
    url: publicUrl(values.url),
    data: values.data,
    once: values.once,
    sample: !values["no-sample"],
    sandbox: !values["no-sandbox"],
    concurrency: integer("--concurrency", values.concurrency, MAX_CONCURRENCY) ?? DEFAULT_CONCURRENCY,
    repo: values.repo,
    runTests: values["run-tests"],
  };
}

function integer(name: string, value: string | undefined, max: number): number | undefined {
  if (value === undefined) return undefined;
  const number = Number(value);
  if (Number.isInteger(number) && number >= 1 && number <= max) return number;
  throw new UsageError(`${name} takes a number from 1 to ${max}, not "${value}"`);
}

function publicUrl(value: string | undefined): string | undefined {
  if (value === undefined) return undefined;
  const url = URL.parse(value);
  const isOrigin =
    url !== null && /^https?:$/.test(url.protocol) && url.pathname === "/" && url.search + url.hash === "";
  if (isOrigin) return url.origin;
  throw new UsageError(`--url takes an address such as https://runyard.example.com, not "${value}"`);
}

function readFlags(args: readonly string[]) {
  const text = { type: "string" } as const;
  const flag = { type: "boolean", default: false } as const;
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        port: text,
        host: { ...text, default: "127.0.0.1" },
        url: text,
        data: text,
        concurrency: text,
        once: flag,
        "no-sample": flag,
        "no-sandbox": flag,
        repo: text,
        "run-tests": flag,
        help: { ...flag, short: "h" },
      },
    });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}
