import { readFile } from "node:fs/promises";
import { join } from "node:path";
import * as v from "valibot";
import { type GitChanges, GitCommit } from "#shared/wire/artifact.ts";
import { maskUrlUsers } from "#shared/wire/repository-url.ts";
import { type ControlPlane, Refused } from "../control-plane/control-plane.ts";
import { uploadContent } from "../control-plane/transfer.ts";
import type { Clone } from "../git/clone.ts";
import { type CloneScriptOptions, runCloneScript } from "../git/clone-script.ts";
import { writeDiffScript } from "../git/diff-script.ts";
import type { Redactor } from "../redaction/redactor.ts";
import { createHash } from "../support/lazy-crypto.ts";
import type { Log } from "../support/log.ts";
import { formatError } from "../support/stop.ts";
import { toWellFormed } from "../support/text-limits.ts";

export interface ChangeOptions extends CloneScriptOptions {
  readonly plane: Pick<ControlPlane, "reportArtifact">;
  readonly redactor: Redactor;
  readonly clones: readonly Clone[];
  readonly signal: AbortSignal;
  readonly log: Log;
  readonly limits?: ChangeLimits;
}

export interface ChangeLimits {
  /** Larger files are left out of the patch. @default 5242880 */
  readonly fileBytes?: number;
  /** A larger patch is not stored. @default 10485760 */
  readonly patchBytes?: number;
}

/** Stores what a run changed in its repositories as artifacts. */
export interface ChangeCollector {
  /**
   * Stores a patch for each repository that changed since the last call. Returns a sentence for each that was not stored.
   * @param beforeStore called before a patch is reported
   */
  collect(beforeStore: () => Promise<void>): Promise<readonly string[]>;
}

const FILE_BYTES = 5 * 1024 * 1024;
const PATCH_BYTES = 10 * 1024 * 1024;
/** The longest texts of an artifact. */
const NAME_LENGTH = 200;
const TITLE_LENGTH = 500;
const MIME_TYPE = "text/x-diff";
const PATCH = "runyard-changes/changes.diff";

export function createChangeCollector(options: ChangeOptions): ChangeCollector {
  const { plane, clones, signal, log } = options;
  /** Digests of the stored patches, by clone. */
  const stored = new Map<string, string>();

  /** Returns what could not be read. */
  const collectClone = async (clone: Clone, beforeStore: () => Promise<void>): Promise<readonly string[]> => {
    const { change, unreadable } = await compareClone(clone, options);
    if (change !== undefined) await storeChange(clone, change, beforeStore);
    return unreadable;
  };
  const storeChange = async (clone: Clone, { patch, git }: Change, beforeStore: () => Promise<void>): Promise<void> => {
    const sha256 = createHash("sha256").update(patch).digest("hex");
    if (stored.get(clone.path) === sha256) return;
    await beforeStore();
    const filename = `${clone.name.slice(0, NAME_LENGTH)}.diff`;
    const file = {
      filepath: `changes/${clone.path}.diff`,
      filename,
      mime_type: MIME_TYPE,
      title: formatTitle(clone, git),
    };
    const data = { ...file, size_bytes: patch.length, sha256, git };
    const artifact = { artifact_type: "FILE", data } as const;
    const { upload } = await plane.reportArtifact(artifact);
    if (upload !== undefined) {
      await uploadContent(upload, new Blob([new Uint8Array(patch)], { type: MIME_TYPE }), signal);
      await plane.reportArtifact(artifact);
    }
    stored.set(clone.path, sha256);
  };

  return {
    async collect(beforeStore) {
      const omissions: string[] = [];
      for (const clone of clones) {
        try {
          const unreadable = await collectClone(clone, beforeStore);
          omissions.push(...unreadable.map((file) => `the change of ${clone.name}/${file}: it cannot be read`));
        } catch (error) {
          signal.throwIfAborted();
          const detail = options.redactor.text(error instanceof Refused ? error.detail : formatError(error));
          log("warn", "the change of a repository was not stored", { repository: clone.path, detail });
          omissions.push(`the change of ${clone.name}: ${detail}`);
        }
      }
      return omissions;
    },
  };
}

interface Change {
  readonly patch: Buffer;
  readonly git: GitChanges;
}

interface Comparison {
  /** Undefined if nothing changed. */
  readonly change: Change | undefined;
  /** Files and directories that git could not read, redacted; the patch does not contain their changes. */
  readonly unreadable: readonly string[];
}

/** Compares a clone with the commit that was cloned. */
async function compareClone(clone: Clone, options: ChangeOptions): Promise<Comparison> {
  const { seen, redactor, limits = {} } = options;
  const { fileBytes = FILE_BYTES, patchBytes = PATCH_BYTES } = limits;
  const repository = join(seen.workspace, clone.path);
  const write = (patch: string) => writeDiffScript({ repository, base: clone.commit, patch, fileBytes });
  return await runCloneScript(options, { file: PATCH, write }, async (output, open) => {
    await using file = await open();
    const unreadable = [...output.matchAll(/^unreadable (.+)$/gm)].map(([, name = ""]) =>
      redactor.text(toWellFormed(name)),
    );
    if (file.sizeBytes === 0) return { change: undefined, unreadable };
    if (file.sizeBytes > patchBytes) throw new Error(`the patch has more than ${patchBytes} bytes`);
    const { bytes, redacted } = redactPatch(await readFile(file.path), redactor);
    const git = { ...parseReport(output, redactor), path: clone.path, ...(redacted ? { redacted } : {}) };
    return { change: { patch: bytes, git }, unreadable };
  });
}

/** Redacts the run's secrets, which would otherwise be published with the patch. Files in other encodings keep their bytes. */
function redactPatch(bytes: Buffer, redactor: Redactor): { bytes: Buffer; redacted: boolean } {
  const encoding = Buffer.from(bytes.toString("utf8")).equals(bytes) ? "utf8" : "latin1";
  const text = bytes.toString(encoding);
  const clean = redactor.text(text);
  return clean === text ? { bytes, redacted: false } : { bytes: Buffer.from(clean, encoding), redacted: true };
}

const Whole = v.pipe(v.string(), v.regex(/^\d{1,9}$/), v.transform(Number));
const Report = v.object({
  base: GitCommit,
  head: v.union([GitCommit, v.literal("")]),
  branch: v.string(),
  commits: Whole,
  omitted: Whole,
  stat: v.string(),
});

/** Reads the numbers that the script printed. Commands of the run could have printed them, so they are as untrusted as the patch. */
function parseReport(text: string, redactor: Redactor): Omit<GitChanges, "path" | "redacted"> {
  const lines = text.split("\n").flatMap((line) => {
    const [, name, value] = /^(base|head|branch|commits|omitted|stat) ?(.*)$/.exec(line.trimEnd()) ?? [];
    return name === undefined ? [] : [[name, (value ?? "").trim()] as const];
  });
  const { base, head, branch, commits, omitted, stat } = v.parse(Report, Object.fromEntries(lines));
  const count = (what: RegExp) => Number(what.exec(stat)?.[1] ?? 0);
  return {
    base_commit: base,
    ...(head === "" ? {} : { head_commit: head }),
    ...(branch === "" ? {} : { branch: redactor.text(toWellFormed(branch)).slice(0, NAME_LENGTH) }),
    commits,
    files_changed: count(/(\d{1,9}) files? changed/),
    insertions: count(/(\d{1,9}) insertions?/),
    deletions: count(/(\d{1,9}) deletions?/),
    ...(omitted === 0 ? {} : { files_omitted: omitted }),
  };
}

const formatTitle = ({ owner, name }: Clone, { files_changed, insertions, deletions }: GitChanges): string =>
  maskUrlUsers(
    `Changes of ${owner}/${name}: ${files_changed} ${files_changed === 1 ? "file" : "files"}, +${insertions} −${deletions}`,
  ).slice(0, TITLE_LENGTH);
