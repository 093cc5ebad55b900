import { resolve } from "node:path";
import type { Followup } from "#shared/wire/harness.ts";
import { type BackgroundCommands, createBackgroundCommands } from "../commands/background-commands.ts";
import { type CommandRunner, createCommandRunner } from "../commands/command-runner.ts";
import { findEarlierCommands } from "../commands/earlier-commands.ts";
import type { ControlPlane } from "../control-plane/control-plane.ts";
import { findLastDirectory, findStart, type Start } from "../engine/resume.ts";
import { createSandboxWatch, type Watch } from "../isolation/resource-watch.ts";
import { moveToWorkspace } from "../isolation/workspace.ts";
import { type ArtifactCollector, createArtifactCollector } from "../reporting/artifact-collector.ts";
import { type ChangeCollector, createChangeCollector } from "../reporting/change-collector.ts";
import { receiveAttachments } from "../setup/attachments.ts";
import { type CheckpointOptions, type Checkpoints, createCheckpoints } from "../setup/checkpoints.ts";
import { prepare, type Setup } from "../setup/setup.ts";
import type { SetupSnapshotOptions, SetupSnapshots } from "../setup/setup-snapshot.ts";
import type { Skill } from "../skills/skills.ts";
import type { Log } from "../support/log.ts";
import { formatError } from "../support/stop.ts";
import { cutBytes, toWellFormed } from "../support/text-limits.ts";
import { type BranchPusher, createBranchPusher } from "./branch-pusher.ts";
import type { ResolvedRun } from "./resolved-run.ts";
import type { SessionChannel, SessionContext } from "./session-context.ts";

const SKILL_NAME_BYTES = 256;
const CHECK_MS = 10_000;

/** A workspace that the agent can start to work in. */
export interface PreparedWorkspace {
  readonly setup: Setup;
  readonly runner: CommandRunner;
  readonly background: BackgroundCommands;
  /** Watches what all commands of the execution use together. */
  readonly watch: Watch | undefined;
  readonly artifacts: ArtifactCollector;
  readonly changes: ChangeCollector;
  /** Pushes commits of a run of a pull request. */
  readonly branch: BranchPusher;
  readonly checkpoints: Checkpoints;
  /** Saves a checkpoint like `Checkpoints.save`. A failure is reported in the timeline, and the execution continues. */
  readonly save: Checkpoints["save"];
  /** Receives the files of a follow-up. */
  readonly receive: (followup: Followup) => Promise<Followup>;
  /** Where this execution continues the run. */
  readonly start: Start;
  /** Where the first command starts, as commands see it. */
  readonly workingDirectory: string;
  /** Resolves when the skill was reported to the control plane, or could not be. */
  readonly skillReported: Promise<void>;
}

/**
 * Restores or sets up the workspace.
 * @throws SetupError
 */
export async function prepareWorkspace(
  session: SessionContext,
  { context, workspace, sandbox, egress, image }: ResolvedRun,
  channel: SessionChannel,
): Promise<PreparedWorkspace> {
  const { envelope, stop, redactor, plane, log } = session;
  const { outbox, followups, slice } = channel;
  const { signal } = stop;
  const { deadlineAt } = slice;
  const places = { host: workspace.paths, seen: sandbox.paths };
  const executionId = envelope.execution_id;
  const watch = createSandboxWatch(sandbox, workspace.paths);
  const commands = { sandbox, host: workspace.paths, executionId, redactor, signal, watch };
  const runner = createCommandRunner(commands);
  const background = createBackgroundCommands({ ...commands, earlier: findEarlierCommands(context.messages) });
  const artifacts = createArtifactCollector({ plane, redactor, output: workspace.paths.output, signal });
  const settle = async () => {
    await outbox.flush();
    await followups.settle();
  };
  const checkpoints = createCheckpoints({
    ...{ plane, runner, ...places, deadlineAt, signal, settle, artifacts, layer: sandbox.layer },
    freeze: background.freeze,
    reportMissing: createMissingReport(outbox),
  });
  const restore = () => checkpoints.restore(context.checkpoint);
  const seen = sandbox.paths.workspace;
  const reportMissing = createMissingReport(outbox);
  const snapshots = await loadSetupSnapshots({
    ...{ context, plane, runner, sandbox, layer: sandbox.layer, ...places, deadlineAt, signal, reportMissing },
    imageDigest: image?.digest,
  });
  const setup = await prepare({
    ...{ context, workspace, outbox, redactor, runner, egress, seen, deadlineAt, signal, restore, snapshots },
    live: channel.live,
    start: image?.directory,
  });
  const { clones } = setup;
  const changes = createChangeCollector({ plane, redactor, runner, clones, ...places, deadlineAt, signal, log });
  const branch = createBranchPusher({ plane, redactor, runner, clones, context, ...places, deadlineAt, signal, log });
  if (setup.isRestored) await branch.checkOut();
  const [skill] = setup.skills;
  const skillReported = skill === undefined ? Promise.resolve() : reportSkill(skill, plane, log);
  const start = findStart(context);
  // Without its workspace, directories of an earlier turn are others, if they are there at all.
  const last = start.workingDirectory ?? (setup.isRestored ? findLastDirectory(context.messages) : undefined);
  const workingDirectory = (await findInWorkspace(last, runner, seen)) ?? resolve(seen, setup.workingDirectory);
  const save = createCheckpointSaver(session, channel, checkpoints);
  const place = { runner, ...places, signal };
  const receive = (followup: Followup) => receiveAttachments(followup, place);
  return {
    ...{
      setup,
      runner,
      watch,
      background,
      artifacts,
      changes,
      branch,
      checkpoints,
      save,
      start,
      workingDirectory,
      skillReported,
    },
    receive,
  };
}

/** Few runs make or use a setup snapshot, so the others do not load it. */
async function loadSetupSnapshots(options: SetupSnapshotOptions): Promise<SetupSnapshots | undefined> {
  const { keep, made } = options.context.setup_snapshot ?? {};
  if ((keep === undefined && made === undefined) || options.sandbox.kind !== "bubblewrap") return undefined;
  const { createSetupSnapshots } = await import("../setup/setup-snapshot.ts");
  return createSetupSnapshots(options);
}

/** Converts a directory as an earlier execution saw it; undefined if this one has no such directory. */
async function findInWorkspace(
  directory: string | undefined,
  runner: CommandRunner,
  seen: string,
): Promise<string | undefined> {
  if (directory === undefined) return undefined;
  const workingDirectory = moveToWorkspace(directory, seen);
  const { exitCode } = await runner.run({ command: ":", workingDirectory, timeoutMs: CHECK_MS });
  return exitCode === 0 ? workingDirectory : undefined;
}

/** The skill is information for people who look at the run, so a failure does not end the execution. */
async function reportSkill({ name, id, body }: Skill, plane: ControlPlane, log: Log): Promise<void> {
  try {
    await plane.noteSkill({ name: cutBytes(toWellFormed(name), SKILL_NAME_BYTES), content: body, path: id });
  } catch (error) {
    log("warn", "the skill could not be reported", { detail: formatError(error) });
  }
}

/** The most files that an event names. */
const MAX_NAMED_FILES = 20;

/** Names in the timeline what a checkpoint does not contain or bring back, once for the same files. */
function createMissingReport({ event }: SessionChannel["outbox"]): CheckpointOptions["reportMissing"] {
  let last = "";
  return (files, step) => {
    const named = files.slice(0, MAX_NAMED_FILES).map((file) => shorten(file));
    const more = files.length > MAX_NAMED_FILES ? `; and ${files.length - MAX_NAMED_FILES} more` : "";
    const why = step === "saved" ? "saved without what cannot be read" : "restored without what cannot be created";
    const detail = cutBytes(toWellFormed(`${why}: ${named.join("; ")}${more}`), MAX_DETAIL_BYTES);
    const name = step === "saved" ? "checkpoint_saved" : "setup_environment_resolution";
    if (detail !== last) event(name, { is_error: true, detail });
    last = detail;
  };
}

/** Leaves out the middle of a long name. */
const shorten = (file: string): string =>
  file.length > MAX_NAME ? `${file.slice(0, MAX_NAME / 2)}…${file.slice(-MAX_NAME / 2)}` : file;
const MAX_NAME = 400;
const MAX_DETAIL_BYTES = 4_096;

function createCheckpointSaver(
  { stop, redactor, log }: SessionContext,
  { outbox }: SessionChannel,
  checkpoints: Checkpoints,
): Checkpoints["save"] {
  let lastFailure = "";
  return async (options) => {
    try {
      return await checkpoints.save(options);
    } catch (error) {
      stop.signal.throwIfAborted();
      const detail = redactor.text(formatError(error));
      log("warn", "no checkpoint was saved", { detail });
      // Reported once and not at each attempt: readers of the timeline learn that a next execution will not have the files.
      if (detail !== lastFailure) outbox.event("checkpoint_saved", { is_error: true, detail: `not saved: ${detail}` });
      lastFailure = detail;
      return true;
    }
  };
}
