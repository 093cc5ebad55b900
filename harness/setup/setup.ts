import { resolve } from "node:path";
import type { Repository } from "#shared/wire/config.ts";
import { maskUrlUsers } from "#shared/wire/repository-url.ts";
import {
  assignClonePaths,
  type Clone,
  cloneRepository,
  listClones,
  type NewClone,
  type PlannedClone,
} from "../git/clone.ts";
import { MIRRORS_VARIABLE } from "../git/mirror.ts";
import { chooseToken, findCredentials } from "../git/repository-access.ts";
import { writeGitConfig } from "../git/run-git.ts";
import { loadSkill, type Skill } from "../skills/skills.ts";
import { formatError, SetupError } from "../support/stop.ts";
import { cutBytes, toWellFormed } from "../support/text-limits.ts";
import { downloadAttachments } from "./attachments.ts";
import { reportStep, type StepDetail } from "./report-step.ts";
import { runSetupCommand } from "./setup-command.ts";
import type { SetupOptions } from "./setup-options.ts";
import type { RestoredSetup } from "./setup-snapshot.ts";

export interface Setup {
  readonly skills: readonly Skill[];
  readonly clones: readonly Clone[];
  /** Whether the workspace is that of an earlier execution. */
  readonly isRestored: boolean;
  /**
   * Where the first command starts, relative to the workspace: the clone, if there is exactly one. A directory of an image, where commands
   * start without a clone, is absolute.
   */
  readonly workingDirectory: string;
}

const CLONE_MS = 5 * 60_000;
/** A shorter value in a URL is a user name, such as `git`, and not a secret. */
const MIN_CREDENTIAL_LENGTH = 8;

/**
 * Sets up the workspace as the run's configuration says. Each part is an event of the timeline, with its duration.
 * @throws SetupError that states what to fix
 */
export async function prepare(options: SetupOptions): Promise<Setup> {
  const { context, workspace, outbox } = options;
  const { repositories = [], skills, skill_spec } = context.agent_config;
  const specs = skills ?? (skill_spec === undefined ? [] : [skill_spec]);
  const isRestored = await restoreWorkspace(options);
  await resolveEnvironment(options, isRestored);
  const plans = isRestored ? undefined : await planClones(repositories, options);
  const reused = plans === undefined ? undefined : await reuseSetup(plans, options);
  const clones = reused ?? (plans === undefined ? listClones(repositories) : await cloneAll(plans, options));
  const [only] = clones;
  const beginning = clones.length === 0 ? options.start : undefined;
  const workingDirectory = clones.length === 1 && only !== undefined ? only.path : (beginning ?? "");
  for (const command of reused === undefined ? (context.setup_commands ?? []) : []) {
    await runSetupCommand(command, resolve(options.seen, workingDirectory), options);
  }
  if (!isRestored && context.setup_snapshot?.keep === true) await keepSetup(clones, options);
  const loaded: Skill[] = [];
  for (const spec of specs)
    loaded.push(
      await reportStep(outbox, "setup_skill_loading", spec, () => loadSkill(spec, clones, workspace.paths.workspace)),
    );
  return { skills: loaded, clones, isRestored, workingDirectory };
}

async function restoreWorkspace({ context, outbox, restore }: SetupOptions): Promise<boolean> {
  if ((context.checkpoint?.files.length ?? 0) === 0) return false;
  return reportStep(outbox, "setup_environment_resolution", "the workspace of the previous execution", restore);
}

/** Downloads attachments and checks that all secrets are available. */
async function resolveEnvironment(options: SetupOptions, isRestored: boolean): Promise<void> {
  const { context, outbox } = options;
  const { attachments, secrets = [] } = context;
  if (attachments.length + secrets.length === 0) return;
  const detail = [formatCount(attachments.length, "attachment"), formatCount(secrets.length, "secret")]
    .flat()
    .join(", ");
  await reportStep(outbox, "setup_environment_resolution", detail, async () => {
    const missing = secrets.flatMap((secret) => ("unavailable" in secret ? [secret] : []));
    if (missing.length > 0)
      throw new SetupError(missing.map(({ name, unavailable }) => `secret ${name}: ${unavailable}`).join("; "));
    if (!isRestored) await downloadAttachments(attachments, options.workspace.paths.workspace, options.signal);
  });
  for (const secret of secrets) {
    if (!("value" in secret) || secret.problem === undefined) continue;
    const problem = toWellFormed(`secret ${secret.name}: ${secret.problem}`);
    outbox.event("setup_environment_resolution", { is_error: true, detail: problem });
  }
}

const formatCount = (count: number, what: string): string[] =>
  count === 0 ? [] : [`${count} ${what}${count === 1 ? "" : "s"}`];

/** Brings back the files of an earlier setup instead. Returns undefined if the environment has to be set up. */
async function reuseSetup(
  plans: ReadonlyMap<string, PlannedClone>,
  { snapshots, context, outbox }: SetupOptions,
): Promise<readonly Clone[] | undefined> {
  if (snapshots === undefined || context.setup_snapshot?.made === undefined) return undefined;
  const { clones } = await reportStep(
    outbox,
    "setup_environment_resolution",
    ({ detail }: RestoredSetup) => detail,
    () => snapshots.restore(plans),
  );
  return clones;
}

/** Later runs only take longer without the snapshot, so a failure is reported and does not end the execution. */
async function keepSetup(clones: readonly Clone[], { snapshots, outbox, signal }: SetupOptions): Promise<void> {
  const event = (isError: boolean, detail: string) =>
    outbox.event("setup_environment_resolution", { is_error: isError, detail: toWellFormed(detail) });
  // Nothing failed: a machine without bubblewrap never has one.
  if (snapshots === undefined) return event(false, "no setup snapshot is saved: it requires bubblewrap");
  try {
    const bytes = await snapshots.keep(clones);
    event(false, `the setup snapshot is saved: ${Math.ceil(bytes / 1_000_000)} MB`);
  } catch (error) {
    signal.throwIfAborted();
    event(true, `the setup snapshot is not saved: ${formatError(error)}`);
  }
}

async function cloneAll(plans: ReadonlyMap<string, PlannedClone>, { outbox }: SetupOptions): Promise<Clone[]> {
  const clones = [...plans].map(([path, { repository, options }]) =>
    reportStep(outbox, "setup_repo_clone", describeClone(repository), () => cloneRepository(path, repository, options)),
  );
  const ended = await Promise.allSettled(clones);
  return ended.map((clone) => {
    if (clone.status === "rejected") throw clone.reason;
    return clone.value;
  });
}

/** Plans the clone of each repository, by its path in the workspace. Redacts what grants access to them. */
async function planClones(
  repositories: readonly Repository[],
  options: SetupOptions,
): Promise<Map<string, PlannedClone>> {
  if (repositories.length === 0) return new Map();
  const { workspace, redactor, signal, deadlineAt } = options;
  const credentials = repositories.flatMap(({ url }) => findCredentials(url));
  for (const credential of credentials) if (credential.length >= MIN_CREDENTIAL_LENGTH) redactor.add(credential);
  const tokens = new Map(repositories.map((repository) => [repository, chooseToken(repository, options.context)]));
  for (const token of tokens.values()) if (token !== undefined) redactor.add(token);
  await writeGitConfig(workspace.etc);
  const cloneOptions = {
    workspace: workspace.paths.workspace,
    etc: workspace.etc,
    timeoutMs: Math.max(1, Math.min(CLONE_MS, deadlineAt - Date.now())),
    signal,
    checkHost: options.egress.check,
    proxyUrl: options.egress.proxyUrl,
    namesCoAuthor: options.context.creator !== undefined,
  };
  const named = [...tokens].map(([{ url }, token]) => ({ url, token }));
  const { cache_scope: scope, repository_tokens: appTokens = [] } = options.context;
  const directory = process.env[MIRRORS_VARIABLE];
  return new Map(
    [...assignClonePaths(repositories)].map(([path, repository]) => {
      const token = tokens.get(repository);
      // Each execution has another token of the deployment's app.
      const credential = appTokens.some((one) => one.token === token) ? "app" : (token ?? repository.url);
      const mirrors = scope === undefined || directory === undefined ? undefined : { directory, scope, credential };
      return [path, { repository, options: { ...cloneOptions, named, token, mirrors } }];
    }),
  );
}

/** The longest description of a clone in the timeline. */
const CLONE_BYTES = 4_000;

const describeClone = ({ url }: Repository): StepDetail<NewClone> => ({
  start: maskUrlUsers(url),
  end: ({ omissions, isFromMirror }) => {
    const from = isFromMirror ? `${url}; from the mirror of this machine` : url;
    return cutBytes(
      maskUrlUsers(omissions.length === 0 ? from : `${from}; left out: ${omissions.join("; ")}`),
      CLONE_BYTES,
    );
  },
});
