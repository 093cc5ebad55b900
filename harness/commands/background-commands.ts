import { listTrees } from "../isolation/machine.ts";
import { freezeProcesses } from "../isolation/process-states.ts";
import { createBackgroundMarker, findMarkedProcesses, killTree } from "../isolation/processes.ts";
import type { Watch } from "../isolation/resource-watch.ts";
import type { Sandbox, WorkspacePaths } from "../isolation/sandbox.ts";
import type { Redactor } from "../redaction/redactor.ts";
import { type BackgroundCommand, followCommand } from "./background-command.ts";
import { createLauncher } from "./command-launcher.ts";
import type { EarlierCommand } from "./earlier-commands.ts";

/** The background commands of an execution. They end with it. */
export interface BackgroundCommands {
  /** Whether later commands reach the ports of a background command. */
  readonly sharesNetwork: boolean;
  /** Commands that earlier executions of the run started and that ended with them. */
  readonly earlier: readonly EarlierCommand[];
  /** All commands of this execution, in their order. */
  list(): readonly BackgroundCommand[];
  /** @throws Error when too many are running */
  start(request: StartRequest): Promise<BackgroundCommand>;
  /** @throws Error for an id that no command of this execution has */
  find(id: string): BackgroundCommand;
  /** Stops all processes until the returned function is called. */
  freeze(): Promise<() => void>;
  /** Ends all commands. */
  close(): Promise<void>;
}

interface StartRequest {
  readonly command: string;
  /** As commands see it. */
  readonly workingDirectory: string;
  /** @default the time of the execution */
  readonly timeoutSeconds?: number | undefined;
  /** Whether it runs at a pseudo-terminal. @default false */
  readonly tty?: boolean | undefined;
}

interface BackgroundCommandsOptions {
  readonly sandbox: Sandbox;
  /** Paths on the host. */
  readonly host: WorkspacePaths;
  readonly executionId: string;
  readonly redactor: Redactor;
  /** Aborted when the execution stops. */
  readonly signal: AbortSignal;
  /** Watches all commands of the execution. */
  readonly watch: Watch | undefined;
  readonly earlier: readonly EarlierCommand[];
}

/** How many run at once. */
const MAX_RUNNING = 8;
/** The ended commands whose last output is kept. */
const MAX_ENDED = 24;
const ENDED_WITH_EXECUTION = "the execution ended";

export function createBackgroundCommands(options: BackgroundCommandsOptions): BackgroundCommands {
  const { sandbox, host, executionId, redactor, signal, watch, earlier } = options;
  const launch = createLauncher(sandbox, host);
  const commands: BackgroundCommand[] = [];
  let count = Math.max(0, ...earlier.map(({ number }) => number));
  let starting = 0;
  const listRunning = () => commands.filter(({ end }) => end === undefined);

  const follow = (id: string, command: string, launched: Awaited<ReturnType<typeof launch>>) => {
    const { pid = 0 } = launched.process;
    return followCommand(launched, {
      id,
      command: redactor.text(command),
      redactor,
      contained: sandbox.contained,
      listProcesses: () => {
        const { processes } = listTrees([pid]);
        // Outside of a boundary, a detached process leaves the tree.
        return sandbox.contained ? processes : [...new Set([...processes, ...findMarkedProcesses(executionId, id)])];
      },
      kill: () => killTree(launched.process.pid, sandbox.contained ? undefined : executionId, id),
      watch: (onExceeded) => watch?.command(pid, onExceeded) ?? (async () => {}),
    });
  };
  const close = async () => {
    await Promise.all(listRunning().map((command) => command.stop(ENDED_WITH_EXECUTION)));
  };
  signal.addEventListener("abort", () => void close());

  return {
    sharesNetwork: sandbox.sharesNetwork,
    earlier,
    list: () => commands,
    async start({ command, workingDirectory, timeoutSeconds, tty }) {
      if (listRunning().length + starting >= MAX_RUNNING)
        throw new Error(
          `${MAX_RUNNING} background commands are running, which is the limit: stop one with stop_command`,
        );
      starting++;
      try {
        const id = `background-${++count}`;
        const files = { script: `${id}-step.sh`, text: `${id}.sh`, marker: createBackgroundMarker(id) };
        const launched = await launch({ ...files, command, workingDirectory, signal, stdin: "pipe", tty });
        const started = follow(id, command, launched);
        commands.push(started);
        forgetOldest(commands);
        limitTime(started, timeoutSeconds);
        if (signal.aborted) await close();
        return started;
      } finally {
        starting--;
      }
    },
    find(id) {
      const found = commands.find((command) => command.id === id);
      if (found !== undefined) return found;
      if (earlier.some((command) => command.id === id))
        throw new Error(`the background command ${id} ended with the previous execution: start it again`);
      const known = commands.map((command) => command.id).join(", ") || "none";
      throw new Error(`there is no background command ${id}; there are: ${known}`);
    },
    freeze: () => freezeProcesses(() => listRunning().flatMap((command) => command.listProcesses())),
    close,
  };
}

function forgetOldest(commands: BackgroundCommand[]): void {
  const ended = commands.filter(({ end }) => end !== undefined);
  for (const command of ended.slice(0, Math.max(0, ended.length - MAX_ENDED)))
    commands.splice(commands.indexOf(command), 1);
}

function limitTime(command: BackgroundCommand, timeoutSeconds: number | undefined): void {
  if (timeoutSeconds === undefined) return;
  const stop = () => void command.stop(`it did not end within its ${timeoutSeconds} s`);
  setTimeout(stop, timeoutSeconds * 1000).unref();
}
