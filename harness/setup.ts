import { mkdir } from "node:fs/promises";
import { basename, join } from "node:path";
import type { Repository } from "#shared/wire/config.ts";
import type { ClientEvent } from "#shared/wire/event.ts";
import type { ResolvePromptResponse } from "#shared/wire/harness.ts";
import { toTimestamp } from "#shared/wire/primitives.ts";
import type { CommandRunner } from "./commands.ts";
import { type Clone, cloneRepository, credentialsOf, placesOf, withoutCredentials, writeGitConfig } from "./git.ts";
import type { Outbox } from "./outbox.ts";
import { cutBytes, wellFormed } from "./output.ts";
import type { Redactor } from "./redact.ts";
import { loadSkill, type Skill } from "./skills.ts";
import { messageOf, SetupError } from "./stop.ts";
import { downloadFile } from "./transfer.ts";
import type { Workspace } from "./workspace.ts";

export type RunContext = NonNullable<ResolvePromptResponse["context"]>;

export interface SetupOptions {
  readonly context: RunContext;
  readonly workspace: Workspace;
  readonly outbox: Outbox;
  readonly redactor: Redactor;
  readonly runner: CommandRunner;
  /** The workspace as commands see it. */
  readonly seen: string;
  readonly deadlineAt: number;
  readonly signal: AbortSignal;
}

export interface Setup {
  readonly skills: readonly Skill[];
  /** Where the first command starts, relative to the workspace: the clone if there is exactly one. */
  readonly workingDirectory: string;
}

const CLONE_MS = 5 * 60_000;
const SETUP_MS = 10 * 60_000;
/** Lines of a failed setup command that the run's status message quotes. */
const LAST_LINES = 10;

/**
 * Brings into the workspace what the run's configuration asks for. Each part is an event of the timeline, with its duration.
 * @throws SetupError with what the caller can do about it
 */
export async function prepare(options: SetupOptions): Promise<Setup> {
  const { context, workspace, outbox } = options;
  const { repositories = [], skills, skill_spec } = context.agent_config;
  const specs = skills ?? (skill_spec === undefined ? [] : [skill_spec]);
  if (context.attachments.length > 0)
    await timed(outbox, "setup_environment_resolution", `${context.attachments.length} attachments`, () =>
      download(options),
    );
  const clones = await cloneAll(repositories, options);
  const [only] = clones;
  const workingDirectory = clones.length === 1 && only !== undefined ? only.path : "";
  for (const command of context.setup_commands ?? []) {
    await timed(outbox, "setup_commands", command, () =>
      runSetup(command, join(options.seen, workingDirectory), options),
    );
  }
  const loaded: Skill[] = [];
  for (const spec of specs)
    loaded.push(
      await timed(outbox, "setup_skill_loading", spec, () => loadSkill(spec, clones, workspace.paths.workspace)),
    );
  return { skills: loaded, workingDirectory };
}

/** One command of the environment; each begins where the agent's first command does. */
async function runSetup(
  command: string,
  workingDirectory: string,
  { runner, deadlineAt }: SetupOptions,
): Promise<void> {
  const timeoutMs = Math.max(1, Math.min(SETUP_MS, deadlineAt - Date.now()));
  const { exitCode, timedOut, text } = await runner.run({ command, workingDirectory, timeoutMs });
  if (exitCode === 0) return;
  const how = timedOut ? `took longer than ${Math.ceil(timeoutMs / 1000)} s` : `ended with exit code ${exitCode}`;
  const last = text.trimEnd().split("\n").slice(-LAST_LINES).join("\n");
  throw new SetupError(`the setup command "${cutBytes(command, 200)}" ${how}${last === "" ? "" : `:\n${last}`}`);
}

async function cloneAll(repositories: readonly Repository[], options: SetupOptions): Promise<Clone[]> {
  if (repositories.length === 0) return [];
  const { workspace, outbox, redactor, signal, deadlineAt } = options;
  for (const { url } of repositories) for (const secret of credentialsOf(url)) redactor.add(secret);
  await writeGitConfig(workspace.etc);
  const cloneOptions = {
    workspace: workspace.paths.workspace,
    etc: workspace.etc,
    timeoutMs: Math.max(1, Math.min(CLONE_MS, deadlineAt - Date.now())),
    signal,
  };
  const clones = [...placesOf(repositories)].map(([place, repository]) =>
    timed(outbox, "setup_repo_clone", withoutCredentials(repository.url), () =>
      cloneRepository(place, repository, cloneOptions),
    ),
  );
  const ended = await Promise.allSettled(clones);
  return ended.map((clone) => {
    if (clone.status === "rejected") throw clone.reason;
    return clone.value;
  });
}

async function download({ context, workspace, signal }: SetupOptions): Promise<void> {
  const folder = join(workspace.paths.workspace, "attachments");
  await mkdir(folder, { recursive: true });
  const names = new Set<string>();
  for (const { attachment_id, filename, download_url } of context.attachments) {
    const plain = basename(filename.replaceAll("\\", "/"));
    const name = ["", ".", ".."].includes(plain) || names.has(plain) ? `${attachment_id}-${plain}` : plain;
    names.add(name);
    try {
      await downloadFile(download_url, join(folder, name), signal);
    } catch (error) {
      if (!(error instanceof SetupError)) throw error;
      throw new SetupError(`attachment ${filename} could not be fetched: ${error.message}`);
    }
  }
}

async function timed<T>(
  outbox: Outbox,
  name: ClientEvent["event_name"],
  detail: string,
  work: () => Promise<T>,
): Promise<T> {
  const start = Date.now();
  const tell = (isError: boolean, text: string) => {
    const finish = Date.now();
    outbox.event(name, {
      start_ts: toTimestamp(start),
      finish_ts: toTimestamp(finish),
      latency_ms: finish - start,
      is_error: isError,
      detail: cutBytes(wellFormed(text), 4000),
    });
  };
  try {
    const result = await work();
    tell(false, detail);
    return result;
  } catch (error) {
    tell(true, messageOf(error));
    throw error;
  }
}
