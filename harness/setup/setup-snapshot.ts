import { existsSync, readFileSync } from "node:fs";
import { arch } from "node:os";
import { removeTree } from "#shared/sandbox/remove-tree.ts";
import type { RunSetup } from "#shared/wire/executions/setup-snapshot.ts";
import { maskUrlUsers } from "#shared/wire/repository-url.ts";
import type { ControlPlane } from "../control-plane/control-plane.ts";
import { downloadFile, uploadFile } from "../control-plane/transfer.ts";
import { type Clone, listClones, type PlannedClone } from "../git/clone.ts";
import { readRemoteCommit } from "../git/remote-commit.ts";
import type { Sandbox } from "../isolation/sandbox.ts";
import { createHash } from "../support/lazy-crypto.ts";
import { formatError, SetupError } from "../support/stop.ts";
import { ARCHIVE_TYPE, createPackers, describeArchive, type PackerOptions, WORKSPACE_ARCHIVE } from "./packer.ts";
import type { RunContext } from "./run-context.ts";

/**
 * The files that the setup of an environment made, with which later runs start. Installed programs may contain paths, so it requires a
 * sandbox in which commands of all executions see the same ones: bubblewrap.
 */
export interface SetupSnapshots {
  /**
   * Brings back the files of the environment's snapshot, if a setup would have the same inputs: every repository is asked for its
   * commit, with the token of this run.
   * @param plans clones that a setup would make, by their paths
   * @throws SetupError if files are missing after an attempt
   */
  restore(plans: ReadonlyMap<string, PlannedClone>): Promise<RestoredSetup>;
  /** Saves the files of a setup. @returns the size in bytes */
  keep(clones: readonly Clone[]): Promise<number>;
}

export type RestoredSetup =
  | { readonly clones: readonly Clone[]; readonly detail: string }
  | { readonly clones?: undefined; readonly detail: string };

export interface SetupSnapshotOptions extends PackerOptions {
  readonly context: RunContext;
  readonly plane: Pick<ControlPlane, "uploadSnapshot" | "commitSnapshot">;
  readonly sandbox: Pick<Sandbox, "kind">;
  readonly signal: AbortSignal;
  /** The digest of the image in which setup commands run. @default they run among the programs of the host */
  readonly imageDigest?: string | undefined;
}

const GENERATION = "setup";

export function createSetupSnapshots(options: SetupSnapshotOptions): SetupSnapshots {
  const { context, seen, plane, signal, imageDigest } = options;
  const { setup_snapshot: setup } = context;
  const packers = createPackers(options, [
    { name: WORKSPACE_ARCHIVE, directory: seen.workspace },
    { name: "home.tar.gz", directory: seen.home },
  ]);
  // A sandbox whose commands cannot change the root of the image makes other files.
  const platform = hashPlatform(
    context,
    imageDigest && `${imageDigest}${options.layer === undefined ? "" : " changed"}`,
  );
  const restoreFiles = async ({ files = [] }: NonNullable<RunSetup["made"]>) => {
    for (const { name, archive, unpack } of packers) {
      const file = files.find(({ filename }) => filename === name);
      if (file === undefined) throw new Error(`it has no file ${name}`);
      try {
        await downloadFile(file.download_url, archive, signal);
        await unpack();
      } finally {
        await removeTree(archive);
      }
    }
  };

  return {
    async restore(plans) {
      const snapshot = setup?.made;
      if (snapshot === undefined) return { detail: "there is no setup snapshot" };
      const what = `the setup snapshot of ${snapshot.created_at} (${formatAge(Date.now() - Date.parse(snapshot.created_at))} old, run ${snapshot.run_id})`;
      const commits = new Map(snapshot.clones.map(({ path, commit }) => [path, commit]));
      const difference =
        snapshot.platform === platform ? await findDifference(snapshot, commits, plans) : OTHER_MACHINE;
      if (difference !== undefined) return { detail: `${what} is not used: ${difference}` };
      await restoreFiles(snapshot).catch((error: unknown) => {
        signal.throwIfAborted();
        throw new SetupError(
          `${what} could not be restored: ${formatError(error)}: make another with POST /agent/environments/{environmentUid}/try`,
        );
      });
      const repositories = [...plans.values()].map(({ repository }) => repository);
      return { clones: listClones(repositories, commits), detail: `${what} is used` };
    },

    async keep(clones) {
      if (setup === undefined) return 0;
      await using stack = new AsyncDisposableStack();
      const files = [];
      const paths: string[] = [];
      for (const { name, archive, pack } of packers) {
        stack.defer(() => removeTree(archive));
        const packed = stack.use(await pack());
        paths.push(packed.path);
        files.push(await describeArchive(name, packed));
      }
      const { uploads } = await plane.uploadSnapshot({ mode: "checkpoint", generation: GENERATION, files });
      for (const [index, upload] of uploads.entries())
        await uploadFile(upload, paths[index] ?? "", ARCHIVE_TYPE, signal);
      await plane.commitSnapshot({
        generation: GENERATION,
        files: files.map(({ filename }) => filename),
        setup: {
          inputs: setup.inputs,
          platform,
          clones: clones.map(({ path, commit }) => ({ path, commit })),
        },
      });
      return files.reduce((sum, { size_bytes }) => sum + size_bytes, 0);
    },
  };
}

const OTHER_MACHINE = "it was made on another machine, or this one has changed";
const OTHER_INPUTS =
  "the repositories, setup commands, variables, secrets or another part of the environment have changed since";

/** Why a setup would make other files now; undefined if it would not. */
async function findDifference(
  { files }: NonNullable<RunSetup["made"]>,
  commits: ReadonlyMap<string, string>,
  plans: ReadonlyMap<string, PlannedClone>,
): Promise<string | undefined> {
  if (files === undefined) return OTHER_INPUTS;
  const differences = await Promise.all(
    [...plans].map(async ([path, { repository, options }]) => {
      const name = maskUrlUsers(repository.url);
      const before = commits.get(path);
      try {
        const now = await readRemoteCommit(repository, options);
        return now !== undefined && now === before
          ? undefined
          : `${name} is at ${now || "another commit"}, it has ${before || "none"}`;
      } catch (error) {
        options.signal.throwIfAborted();
        return `${name} did not say its commit: ${maskUrlUsers(formatError(error))}`;
      }
    }),
  );
  return differences.find((difference) => difference !== undefined);
}

/** A digest of what setup commands find besides their inputs. An update of the system changes it. */
function hashPlatform({ creator }: RunContext, imageDigest: string | undefined): string {
  const author = creator === undefined ? "" : "co-author";
  const parts = [
    arch(),
    process.version,
    readSystemVersion(),
    author,
    ...(imageDigest === undefined ? [] : [imageDigest]),
  ];
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex");
}

/** Reads which release of the system is installed. A system has not all of the files. */
export const readSystemVersion = (files = ["/etc/os-release", "/etc/debian_version"]): string =>
  files.map((file) => (existsSync(file) ? readFileSync(file, "utf8") : "")).join("");

const UNITS = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
] as const;

/** Formats an age in its largest unit. */
function formatAge(ms: number): string {
  const [name, size] = UNITS.find(([, unit]) => ms >= unit) ?? ["minute", 60_000];
  const count = Math.max(0, Math.floor(ms / size));
  return `${count} ${name}${count === 1 ? "" : "s"}`;
}
