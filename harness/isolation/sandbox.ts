import type { Limits } from "./limits.ts";

/** Where the parts of a workspace are: on the host, or as commands see them. */
export interface WorkspacePaths {
  /** Clones, attachments and whatever the agent makes. */
  readonly workspace: string;
  /** HOME of the commands. */
  readonly home: string;
  /** TMPDIR of the commands. */
  readonly tmp: string;
  /** Files put here become artifacts. */
  readonly output: string;
  /** The scripts of the commands; commands cannot write here where a sandbox prevents it. */
  readonly steps: string;
}

/** How to start a program so that it stays in its sandbox. */
export interface Launch {
  readonly file: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** A filter of system calls, read from descriptor 4. @default none */
  readonly filter?: Uint8Array;
  /** More arguments, which no list of processes shows: read from the next descriptor, each ended by a NUL. @default none */
  readonly hidden?: readonly string[];
}

/** The wall around commands. */
export interface Sandbox {
  readonly kind: "bubblewrap" | "machine" | "none";
  /** Paths as commands see them. */
  readonly paths: WorkspacePaths;
  /** The Node that runs this harness, as commands see it. */
  readonly node: string;
  /** Whether commands can reach the network. */
  readonly network: boolean;
  /** Whether nothing that a command starts can outlive it. */
  readonly contained: boolean;
  /** The directory of `SandboxOptions.programs`, as commands see it. */
  readonly programs: string | undefined;
  /** What commands may use of the machine; undefined where it is theirs alone. */
  readonly limits: Limits | undefined;
  /**
   * Bash on a script of the steps directory.
   * @param variables of this program, beside those of the sandbox itself. @default the run's secrets
   */
  launch(script: string, variables?: Readonly<Record<string, string>>): Launch;
}

export interface SandboxOptions {
  /** Paths on the host. */
  readonly host: WorkspacePaths;
  readonly runId: string;
  /** Found again in the environment of every process of this execution. */
  readonly marker: Readonly<Record<string, string>>;
  /** Variables of every command, by name; those of the sandbox itself go before them. @default none */
  readonly secrets?: Readonly<Record<string, string>>;
  /** A directory of the host with programs that commands may run. @default none */
  readonly programs?: string;
}

/** Makes the sandbox of a run, once the run is known. */
export type MakeSandbox = (options: SandboxOptions) => Sandbox;

export const BASH_OPTIONS = ["-eo", "pipefail"] as const;

/**
 * No boundary inside the machine: the process group and the marker find what a command leaves behind.
 * @param kind "machine" where nothing but this execution is on it
 */
export function createPlainSandbox(
  { host, runId, marker, secrets, programs }: SandboxOptions,
  kind: "machine" | "none",
): Sandbox {
  const own = {
    ...buildCommandEnvironment(host, runId),
    ...marker,
    PATH: process.env["PATH"] ?? "/usr/local/bin:/usr/bin:/bin",
  };
  return {
    kind,
    paths: host,
    node: process.execPath,
    programs,
    network: true,
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

/** All that a command finds in its environment besides PATH and the secrets of its run; never a key. */
export function buildCommandEnvironment(paths: WorkspacePaths, runId: string): Record<string, string> {
  return {
    HOME: paths.home,
    TMPDIR: paths.tmp,
    LANG: "C.UTF-8",
    TERM: "dumb",
    SHELL: "/bin/bash",
    USER: "agent",
    LOGNAME: "agent",
    RUNYARD_OUTPUT: paths.output,
    RUNYARD_RUN_ID: runId,
  };
}
