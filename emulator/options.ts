import { parseArgs } from "node:util";

export interface StartOptions {
  /** Leave after the sample run, with its success as the exit code. */
  once: boolean;
  /** Forget runs, keys and deployment of earlier starts. */
  fresh: boolean;
  /** Port of the local proxy. @default that of the last start, at first 4500, or the next free one */
  port?: number;
  /** What the sample run inspects: a directory or a URL that git can clone. */
  repo?: string;
  /** Let the sample run execute the repository's own test command, for 60 seconds at most. */
  runTests: boolean;
  /** Seed, or `seed/percent`, of the faults to inject between the functions and the emulator. @default none */
  faults?: string;
}

export const HELP = `Usage: npm run emulator -- [options]

Brings up Runyard on this machine, runs a sample agent on a real repository and stays up until Ctrl-C.

  --once            leave after the sample run; the exit code is 0 when it succeeded
  --fresh           forget the runs, keys and deployment of earlier starts
  --port N          port of the local proxy, which must be free (default: the last one, at first 4500, or the next free one)
  --repo PATH|URL   repository that the sample run inspects (default: this checkout, as committed)
  --run-tests       let the sample run execute that repository's test command (60 seconds at most)
  --faults SEED     let 5 of 100 calls of AWS be throttled, late, lost or done twice; SEED/20 for 20 of 100
  --help            show this text

RUNYARD_PYTHON names the Python (3.10 or later) that runs the emulator.
RUNYARD_STATE names the directory of state and logs (default: .runyard in this checkout).
RUNYARD_ANTHROPIC_API_KEY, RUNYARD_OPENAI_API_KEY, RUNYARD_COMPATIBLE_BASE_URL with RUNYARD_COMPATIBLE_MODELS: see docs/models.md.
RUNYARD_FAULTS is the same as --faults.
RUNYARD_SANDBOX_SECONDS is how long one sandbox may take (default: 900); runs that take longer go on in slices.
WORKER_CLAIM_SECONDS is how long a run that a self-hosted worker claimed may take to begin (default: 60).
RUNYARD_GITHUB_API_URL, RUNYARD_GITLAB_API_URL and RUNYARD_SLACK_API_URL name what stands in for the API of the system (default: the system itself).
RUNYARD_GITHUB_APP names the file of the deployment's GitHub App, as \`runyard github setup\` writes it.`;

export type ParsedOptions =
  | { kind: "start"; options: StartOptions }
  | { kind: "help" }
  | { kind: "wrong"; why: string };

/** Parses the command line. Returns what is wrong with it as a sentence, and never throws. */
export function parseOptions(args: string[]): ParsedOptions {
  let values: ReturnType<typeof readFlags>;
  try {
    values = readFlags(args);
  } catch (error) {
    return { kind: "wrong", why: error instanceof Error ? error.message : String(error) };
  }
  if (values.help) return { kind: "help" };
  const options: StartOptions = { once: values.once, fresh: values.fresh, runTests: values["run-tests"] };
  if (values.port !== undefined) {
    const port = Number(values.port);
    if (!Number.isInteger(port) || port < 1 || port > 65_535) {
      return { kind: "wrong", why: `--port takes a number from 1 to 65535, not "${values.port}"` };
    }
    options.port = port;
  }
  if (values.repo !== undefined) {
    if (values.repo.trim() === "") return { kind: "wrong", why: "--repo takes a directory or a URL" };
    options.repo = values.repo;
  }
  if (values.faults !== undefined) {
    if (!isFaults(values.faults)) {
      return { kind: "wrong", why: `--faults takes a number, or two as in 7/20, not "${values.faults}"` };
    }
    options.faults = values.faults;
  }
  return { kind: "start", options };
}

/** A seed, or `seed/percent`. */
export const isFaults = (text: string): boolean => /^\d+(\/\d+)?$/.test(text);

function readFlags(args: string[]) {
  const { values } = parseArgs({
    args,
    strict: true,
    allowPositionals: false,
    options: {
      once: { type: "boolean", default: false },
      fresh: { type: "boolean", default: false },
      port: { type: "string" },
      repo: { type: "string" },
      "run-tests": { type: "boolean", default: false },
      faults: { type: "string" },
      help: { type: "boolean", default: false, short: "h" },
    },
  });
  return values;
}
