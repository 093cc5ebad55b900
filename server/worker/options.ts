import { homedir, hostname } from "node:os";
import path from "node:path";
import { parseFlags, parseInteger, UsageError } from "../command/usage.ts";

export interface WorkerOptions {
  /** The id under which runs name this worker. */
  readonly id: string;
  /** Runs that execute at the same time. */
  readonly maxTasks: number;
  /** Address of the API, ending in /api/v1. */
  readonly baseUrl: string;
  readonly key: string;
  /** The team of a key whose owner has several. */
  readonly team: string | undefined;
  /** Address of the socket. @default the one that the service names */
  readonly socketUrl: string | undefined;
  readonly dryRun: boolean;
  /** False if commands may run without isolation. */
  readonly isolates: boolean;
  /** The directory of images and of the file runyard.json. */
  readonly directory: string;
  /** Seconds that running tasks get to end after the first signal. */
  readonly drainSeconds: number;
}

const DEFAULT_DRAIN_SECONDS = 300;
const MAX_TASKS = 1_000;
const MAX_SECONDS = 86_400;

const NO_ADDRESS =
  "the address of the service is missing: set --server or RUNYARD_BASE_URL, or use `runyard worker`, which finds it as all other commands do";

export const WORKER_HELP = `Usage: runyard-server worker --id ID [options]

Connects this machine to Runyard as a self-hosted worker and executes the runs that name it in config.worker_host.

  --id ID             id of the worker; several processes may share one (default: the host name, ${hostname()})
  --max-tasks N       runs that execute at the same time (default: 1)
  --server URL        address of the service (default: RUNYARD_BASE_URL; one of the two is needed)
  --ws-url URL        address of its WebSocket (default: what the service names)
  --drain-seconds N   time for running tasks after SIGTERM or Ctrl-C (default: ${DEFAULT_DRAIN_SECONDS})
  --data DIR          directory of images and runyard.json (default: RUNYARD_DATA, or .runyard/worker in the home directory)
  --dry-run           check address, key, id, socket and isolation, and exit
  --no-sandbox        execute commands without isolation, as the user of this process
  --help              show this text

RUNYARD_API_KEY is an agent key, or a personal key of a member of the team; RUNYARD_TEAM names the team of a person with several.
\`runyard worker\` finds both address and key as all other commands do: those of a service that runs in this directory, or that \`runyard login\`
stored.`;

export const AGENT_HELP = `Usage: runyard-server agent run --task-id ID --server-root-url URL --sandboxed

Executes one run that a worker has claimed; for workers that start a program of their own for each task.

  --task-id ID           id of the run
  --server-root-url URL  address of the service
  --sandboxed            accepted: commands are always isolated where bubblewrap is available
  --no-sandbox           execute commands without isolation

WARP_API_KEY, or RUNYARD_API_KEY, is the key of the run. Other options are ignored: the run has its configuration.
Exit codes: 0 the execution has ended and reported its result; 1 it was lost, and the service was notified; 2 wrong usage;
3 the service refused the key.`;

/** Parses the options of `worker`; undefined if they request help. @throws UsageError */
export function parseWorkerOptions(args: readonly string[], environment: NodeJS.ProcessEnv): WorkerOptions | undefined {
  const text = { type: "string" } as const;
  const flag = { type: "boolean", default: false } as const;
  const { values } = parseFlags(args, {
    id: text,
    "max-tasks": text,
    server: text,
    "ws-url": text,
    "drain-seconds": text,
    data: text,
    "dry-run": flag,
    "no-sandbox": flag,
  });
  if (values.help) return undefined;
  const key = environment["RUNYARD_API_KEY"];
  if (!key) throw new UsageError("RUNYARD_API_KEY is missing: set it to an agent key of the team");
  const server = values.server ?? (environment["RUNYARD_BASE_URL"] || undefined);
  // The key must not go to whatever listens at a preset address.
  if (server === undefined) throw new UsageError(NO_ADDRESS);
  return {
    id: values.id ?? hostname(),
    maxTasks: parseInteger("--max-tasks", values["max-tasks"], MAX_TASKS) ?? 1,
    baseUrl: toBaseUrl("--server", server),
    key,
    team: environment["RUNYARD_TEAM"] || undefined,
    socketUrl: parseSocketUrl(values["ws-url"]),
    dryRun: values["dry-run"],
    isolates: !values["no-sandbox"],
    directory: values.data ?? findDirectory(environment),
    drainSeconds: parseInteger("--drain-seconds", values["drain-seconds"], MAX_SECONDS) ?? DEFAULT_DRAIN_SECONDS,
  };
}

const findDirectory = ({ RUNYARD_DATA: data }: NodeJS.ProcessEnv): string =>
  data || path.join(homedir(), ".runyard", "worker");

export interface AgentOptions {
  readonly runId: string;
  readonly baseUrl: string;
  readonly key: string;
  readonly isolates: boolean;
  /** As of `WorkerOptions`. */
  readonly directory: string;
}

/**
 * Parses the options of `agent run`, of which those of other programs are ignored; undefined if they request help. @throws
 * UsageError
 */
export function parseAgentOptions(args: readonly string[], environment: NodeJS.ProcessEnv): AgentOptions | undefined {
  const [verb, ...rest] = args;
  if (verb === "--help" || verb === "-h" || rest.includes("--help")) return undefined;
  if (verb !== "run") throw new UsageError(`agent ${verb ?? ""}: the only command is agent run`);
  const option = (name: string): string | undefined => {
    const index = rest.indexOf(name);
    const joined = rest.find((arg) => arg.startsWith(`${name}=`));
    return joined?.slice(name.length + 1) ?? (index < 0 ? undefined : rest[index + 1]);
  };
  const runId = option("--task-id");
  const server = option("--server-root-url") ?? environment["RUNYARD_BASE_URL"];
  const key = environment["WARP_API_KEY"] || environment["RUNYARD_API_KEY"];
  if (!runId) throw new UsageError("--task-id is missing");
  if (!server) throw new UsageError("--server-root-url is missing");
  if (!key) throw new UsageError("WARP_API_KEY is missing: it is the key of the run");
  return {
    runId,
    baseUrl: toBaseUrl("--server-root-url", server),
    key,
    isolates: !rest.includes("--no-sandbox"),
    directory: findDirectory(environment),
  };
}

function parseSocketUrl(value: string | undefined): string | undefined {
  if (value === undefined || /^wss?:$/.test(URL.parse(value)?.protocol ?? "")) return value;
  throw new UsageError(`--ws-url takes an address such as wss://runyard.example.com/workers, not "${value}"`);
}

/** Adds /api/v1 to the address of a server that is named without it. */
function toBaseUrl(name: string, value: string): string {
  const url = URL.parse(value);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new UsageError(`${name} takes an address such as https://runyard.example.com, not "${value}"`);
  }
  const path = url.pathname.replace(/\/+$/, "");
  return `${url.origin}${path.endsWith("/api/v1") ? path : `${path}/api/v1`}`;
}
