import { totalmem } from "node:os";
import { parseSize } from "../disk/parse-size.ts";
import type { Program } from "./program.ts";
import { parseFlags, parseInteger, UsageError } from "./usage.ts";

export interface ServeOptions {
  readonly port: number | undefined;
  readonly host: string;
  /** Public address, without a slash at its end. @default the address that the server listens on */
  readonly url: string | undefined;
  readonly data: string | undefined;
  readonly detach: boolean;
  readonly once: boolean;
  readonly sample: boolean;
  readonly sandbox: boolean;
  readonly concurrency: number;
  /** What the data may use of the disk. @default a share of the disk */
  readonly maxDiskBytes: number | undefined;
  readonly repo: string | undefined;
  readonly runTests: boolean;
  /** The OIDC issuer by which people sign in, and the client there. @default the RUNYARD_OIDC_* variables */
  readonly oidcIssuer: string | undefined;
  readonly oidcClientId: string | undefined;
}

const MAX_CONCURRENCY = 1_000;

/**
 * Runs that execute at the same time by default. An execution mostly waits for its model, so that memory limits them and not
 * cores: each has 256 MiB of half the machine's memory.
 * @param memory bytes of the machine, or of the container
 */
export const defaultConcurrency = (memory: number): number =>
  Math.min(Math.max(4, Math.floor(memory / 2 / (256 * 1024 ** 2))), MAX_DEFAULT_CONCURRENCY);

/** More harnesses than this would start at the same moment on a machine with much memory and few cores. */
const MAX_DEFAULT_CONCURRENCY = 64;
// A process without a limit has 0, or a number above the machine's memory.
const DEFAULT_CONCURRENCY = defaultConcurrency(Math.min(process.constrainedMemory() || totalmem(), totalmem()));

/** The help text of `serve`; `commands` lists the other commands. */
export const serveHelp = ({ usage, homeText, isService }: Program, commands: string): string =>
  `Usage: ${usage} ${isService ? "serve " : "[COMMAND] "}[options]

${
  isService
    ? "Runs Runyard as one process on this machine and serves until it is stopped."
    : `Runs Runyard as one process on this machine, executes a sample run on a real repository and serves until Ctrl-C.

Commands (default: serve):
${commands}

Options of serve:`
}

  --port N          port; a start fails if it is in use (default: the last one, at first 4500, or the next free one)
  --host ADDRESS    address to listen on (default: 127.0.0.1); other machines can then use the API
  --url URL         public address of the server, such as https://runyard.example.com, for links and file URLs
  --data DIR        directory of the database, the files and the key (default: data in ${homeText})
  --concurrency N   runs that execute at the same time (default: ${DEFAULT_CONCURRENCY})
  --max-disk SIZE   what the data may use of the disk, such as 50GB (default: 80 % of the disk)
  --oidc-issuer URL     OIDC issuer by which people sign in to the web app, with --oidc-client-id ID (default: RUNYARD_OIDC_ISSUER)
  --detach          serve in the background; \`${usage} stop\` stops it
  --once            exit after the sample run; the exit code is 0 if it succeeded
  ${isService ? "--sample          execute a sample run after the start" : "--no-sample       do not execute the sample run"}
  --no-sandbox      execute commands without isolation, as the user who started the server
  --repo PATH|URL   repository that the sample run inspects (default: ${isService ? "an example" : "this checkout, as committed"})
  --run-tests       let the sample run execute that repository's test command (60 seconds at most)
  --help            show this text

--settings FILE names a file with settings as NAME=value lines, which all commands read (default: RUNYARD_SETTINGS).
RUNYARD_HOST, RUNYARD_PORT, RUNYARD_URL, RUNYARD_DATA, RUNYARD_CONCURRENCY and RUNYARD_MAX_DISK stand for these options.
RUNYARD_STATE names another directory in place of ${homeText}.
RUNYARD_SANDBOX_SECONDS limits how long an execution takes; its run continues in the next one (default: no limit).
RUNYARD_ANTHROPIC_API_KEY, RUNYARD_OPENAI_API_KEY, RUNYARD_COMPATIBLE_BASE_URL with RUNYARD_COMPATIBLE_MODELS: see docs/models.md.
RUNYARD_OIDC_ISSUER, RUNYARD_OIDC_CLIENT_ID, RUNYARD_OIDC_CLIENT_SECRET: see docs/signing-in.md.
RUNYARD_OIDC_ALLOW_PRIVATE: see docs/oidc-tokens.md. RUNYARD_WEBHOOKS_ALLOW_PRIVATE: see docs/webhooks.md.
RUNYARD_MCP_LOOPBACK, RUNYARD_MCP_PRIVATE_NETWORKS: see docs/mcp.md.
RUNYARD_METRICS_KEY opens /metrics to other machines: see docs/single-machine.md.
OTEL_EXPORTER_OTLP_ENDPOINT and others of OpenTelemetry name a collector of traces: see docs/tracing.md.
RUNYARD_GITHUB_TOKEN is a token for repositories on GitHub; RUNYARD_GITHUB_API_URL names another server with GitHub's API.
RUNYARD_GITLAB_API_URL and RUNYARD_SLACK_API_URL name other servers for triggers: see docs/triggers.md.`;

/** Parses the command line; undefined if it requests help. @throws UsageError */
export function parseOptions(
  args: readonly string[],
  isService = false,
  environment: NodeJS.ProcessEnv = process.env,
): ServeOptions | undefined {
  const { values } = readFlags(args);
  const read = (name: string): string | undefined => environment[name] || undefined;
  if (values.help === true) return undefined;
  if (values.detach && values.once) throw new UsageError("--once cannot be combined with --detach.");
  return {
    port: parseInteger("--port", values.port ?? read("RUNYARD_PORT"), 65_535),
    host: values.host ?? read("RUNYARD_HOST") ?? "127.0.0.1",
    url: publicUrl(values.url ?? read("RUNYARD_URL")),
    data: values.data,
    detach: values.detach,
    once: values.once,
    sample: isService ? values.sample || values.once : !values["no-sample"],
    sandbox: !values["no-sandbox"],
    concurrency:
      parseInteger("--concurrency", values.concurrency ?? read("RUNYARD_CONCURRENCY"), MAX_CONCURRENCY) ??
      DEFAULT_CONCURRENCY,
    maxDiskBytes: maxDisk(values["max-disk"] ?? read("RUNYARD_MAX_DISK")),
    repo: values.repo,
    runTests: values["run-tests"],
    oidcIssuer: values["oidc-issuer"],
    oidcClientId: values["oidc-client-id"],
  };
}

function maxDisk(value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  const bytes = parseSize(value);
  if (bytes !== undefined) return bytes;
  throw new UsageError(`--max-disk takes a size such as 500MB or 50GB, not "${value}"`);
}

function publicUrl(value: string | undefined): string | undefined {
  if (value === undefined) return undefined;
  const url = URL.parse(value);
  const isOrigin =
    url !== null && /^https?:$/.test(url.protocol) && url.pathname === "/" && url.search + url.hash === "";
  if (isOrigin) return url.origin;
  throw new UsageError(`--url takes an address such as https://runyard.example.com, not "${value}"`);
}

const TEXT = { type: "string" } as const;
const FLAG = { type: "boolean", default: false } as const;

const readFlags = (args: readonly string[]) =>
  parseFlags(args, {
    port: TEXT,
    host: TEXT,
    url: TEXT,
    data: TEXT,
    concurrency: TEXT,
    "max-disk": TEXT,
    detach: FLAG,
    once: FLAG,
    sample: FLAG,
    "no-sample": FLAG,
    "no-sandbox": FLAG,
    repo: TEXT,
    "run-tests": FLAG,
    "oidc-issuer": TEXT,
    "oidc-client-id": TEXT,
  });
