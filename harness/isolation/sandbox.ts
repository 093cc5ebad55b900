import type { Providers } from "#shared/wire/executions/providers.ts";
import { Stop } from "../support/stop.ts";
import type { Limits } from "./limits.ts";
import type { Network } from "./network.ts";
import { buildProviderVariables } from "./provider-variables.ts";

/** The paths of a workspace: on the host, or as commands see them. */
export interface WorkspacePaths {
  /** Clones, attachments and the files of the agent. */
  readonly workspace: string;
  /** HOME of the commands. */
  readonly home: string;
  /** TMPDIR of the commands. */
  readonly tmp: string;
  /** Files put here become artifacts. */
  readonly output: string;
  /** The scripts of the commands; commands cannot write here if the sandbox prevents it. */
  readonly steps: string;
}

/** The root of an image that commands of one execution can change: an overlay, whose changes lie in a directory of the execution. */
export interface RootLayer {
  /** Program and arguments that run a command where the root is mounted, and in the network of the commands. */
  readonly enter: readonly [string, ...string[]];
  /** The root, with the directories of the run, for commands that have entered. */
  readonly root: string;
  /** The host path of the changes. */
  readonly changes: string;
  /** Mounts the root again, after something else than its commands has changed its changes. */
  remount(): Promise<void>;
  close(): Promise<void>;
}

/** What runs commands: bash, or a POSIX shell where an image has no bash. */
export type Shell = "bash" | "sh";

/** How to start a program in its sandbox. */
export interface Launch {
  readonly file: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** A system call filter, read from descriptor 4. @default none */
  readonly filter?: Uint8Array;
  /** Arguments that must not appear in lists of processes: read from the next descriptor, each terminated by a NUL. @default none */
  readonly hidden?: readonly string[];
}

/** The isolation boundary of commands. */
export interface Sandbox {
  readonly kind: "bubblewrap" | "machine" | "none";
  /** Paths as commands see them. */
  readonly paths: WorkspacePaths;
  /** The Node that runs this harness, as commands see it. An image of the run need not have it. */
  readonly node: string;
  /** The shell of commands. */
  readonly shell: Shell;
  /** Where scripts of the harness run, with the same directories of the run but the programs of the host. @default here, like commands */
  readonly helpers?: Sandbox;
  /** What commands have changed in the root of their image, and where `helpers` see it. @default they cannot change it */
  readonly layer?: Pick<RootLayer, "changes" | "remount"> & { readonly seen: string };
  /** Lets commands of an image change its root, whose host path this is. Commands have it only if it is part of their image. */
  openRoot?(root: string): Promise<RootLayer>;
  /** Whether commands can reach the network. */
  readonly network: boolean;
  /** Where commands ask for the addresses of names. @default the files of /etc say it already, or they cannot */
  readonly nameServer?: string | undefined;
  /** Whether a command reaches the servers that other commands of its execution started. */
  readonly sharesNetwork: boolean;
  /** Whether the sandbox ends all processes of a command with it. */
  readonly contained: boolean;
  /** The directory of `SandboxOptions.programs`, as commands see it. */
  readonly programs: string | undefined;
  /** How much of the machine commands may use; undefined if no other run shares the machine. */
  readonly limits: Limits | undefined;
  /** Counts the processes of commands that the kernel has killed for their memory. @default the kernel does not limit it */
  readonly countKills?: () => number;
  /** Stops the processes of all commands, as `ProcessGroup.freeze`. @default the kernel cannot do that */
  readonly freeze?: (() => () => void) | undefined;
  /**
   * Builds the launch of the shell with a script of the steps directory.
   * @param variables environment variables besides those of the sandbox itself. @default the run's variables and secrets
   * @param isLimited whether the kernel limits it together with the run's commands. Without, it starts even where they have used up
   * their processes. @default true
   */
  launch(script: string, variables?: Readonly<Record<string, string>>, isLimited?: boolean): Launch;
}

export interface SandboxOptions {
  /** Paths on the host. */
  readonly host: WorkspacePaths;
  readonly runId: string;
  /** Environment variables that identify every process of this execution. */
  readonly marker: Readonly<Record<string, string>>;
  /** Environment variables of every command; those of the sandbox itself take precedence. @default none */
  readonly secrets?: Readonly<Record<string, string>>;
  /** The cloud providers that commands sign in to. @default none */
  readonly providers?: Providers;
  /** A directory of the host with programs that commands may run. @default none */
  readonly programs?: string;
  /** How the network of its commands is limited. @default it is that of the host's sandboxes */
  readonly limited?: LimitedNetwork;
  /** Where commands run. @default among the programs of the host */
  readonly image?: SandboxImage;
  /** The host path of what commands have changed in the root of an image, for scripts of the harness. @default none */
  readonly changes?: string | undefined;
}

/** An image of a run, in which its commands run instead of among the programs of the host. */
export interface SandboxImage {
  /** The host path of its files, which nobody changes. */
  readonly root: string;
  /** The variables of its configuration. The sandbox's own take precedence, except for PATH. */
  readonly variables: Readonly<Record<string, string>>;
  readonly shell: Shell;
  /** Commands run as root of the image if they can change it. @default they cannot */
  readonly layer?: RootLayer;
}

/** A network that leads only where an environment allows. */
export interface LimitedNetwork {
  /** @default each command has its own, with only a loopback */
  readonly network: Network | undefined;
  /** Whether it leads anywhere. */
  readonly leadsOut: boolean;
  /** Environment variables by which programs find the way out. */
  readonly variables: Readonly<Record<string, string>>;
}

/** Creates the sandbox when the run is known. */
export type MakeSandbox = (options: SandboxOptions) => Sandbox;

export const BASH_OPTIONS = ["-eo", "pipefail"] as const;

/**
 * Creates a sandbox without a boundary inside the machine. Processes that a command leaves behind are found by group and marker.
 * @param kind "machine" if the machine runs only this execution
 */
export function createPlainSandbox(
  { host, runId, marker, secrets, programs, limited, providers }: SandboxOptions,
  kind: "machine" | "none",
): Sandbox {
  if (limited !== undefined) throw new Stop("unreachable", NOT_LIMITED);
  const own = {
    ...buildCommandEnvironment(host, runId, providers),
    ...marker,
    PATH: process.env["PATH"] ?? "/usr/local/bin:/usr/bin:/bin",
  };
  return {
    kind,
    paths: host,
    node: process.execPath,
    shell: "bash",
    programs,
    network: true,
    sharesNetwork: true,
    contained: false,
    limits: undefined,
    launch: (script, variables = secrets) => ({
      file: "bash",
      args: [...BASH_OPTIONS, `${host.steps}/${script}`],
      env: { ...variables, ...own },
      cwd: host.workspace,
    }),
  };
}

/** A run must not begin with more network than its environment allows. */
const NOT_LIMITED =
  "the environment limits the network of its runs, which this sandbox cannot: set its network.mode to open, or execute them on a single machine with bubblewrap";

/** Builds the environment of a command without PATH and the run's variables and secrets. It never contains a key. */
export function buildCommandEnvironment(
  paths: WorkspacePaths,
  runId: string,
  providers: Providers = {},
): Record<string, string> {
  return {
    ...buildProviderVariables(providers, paths, runId),
    HOME: paths.home,
    TMPDIR: paths.tmp,
    LANG: "C.UTF-8",
    TERM: "dumb",
    SHELL: "/bin/bash",
    USER: "agent",
    LOGNAME: "agent",
    RUNYARD_WORKSPACE: paths.workspace,
    RUNYARD_ATTACHMENTS: `${paths.workspace}/attachments`,
    RUNYARD_OUTPUT: paths.output,
    RUNYARD_RUN_ID: runId,
  };
}
