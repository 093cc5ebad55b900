import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import * as v from "valibot";
import { removeTree } from "#shared/sandbox/remove-tree.ts";
import type { CommandRunner } from "../commands/command-runner.ts";
import { quoteForShell } from "../commands/shell-quote.ts";
import type { ControlPlane } from "../control-plane/control-plane.ts";
import { downloadFile, downloadText, uploadContent, uploadFile } from "../control-plane/transfer.ts";
import { type InsideFile, openInside } from "../files/path-containment.ts";
import type { WorkspacePaths } from "../isolation/sandbox.ts";
import { type ArtifactCollector, hashFile } from "../reporting/artifact-collector.ts";
import { createHash } from "../support/lazy-crypto.ts";
import { formatError, SetupError } from "../support/stop.ts";
import type { RunContext } from "./setup.ts";

/** Points from which another execution can continue: the conversation so far, and the workspace. */
export interface Checkpoints {
  /**
   * Saves the workspace and all messages so far.
   * @param options.always saves an empty workspace, too. The end of a run needs no such checkpoint: its follow-ups start after it.
   *   An empty workspace also replaces a checkpoint with files, which would return otherwise
   * @returns false if nothing was saved, since the workspace is empty
   * @throws when it could not be saved
   */
  save(options?: SaveOptions): Promise<boolean>;
  /**
   * Restores the workspace that an earlier execution saved. Returns false if there is none, or it has been deleted.
   * @throws SetupError
   */
  restore(checkpoint: RunContext["checkpoint"]): Promise<boolean>;
}

export interface SaveOptions {
  readonly always?: boolean;
}

export interface CheckpointOptions {
  readonly plane: Pick<ControlPlane, "uploadSnapshot" | "commitSnapshot">;
  /** Packs and unpacks inside the sandbox: the files of a workspace, and archives of them, are untrusted. */
  readonly runner: CommandRunner;
  /** Paths on the host, and as commands see them. */
  readonly host: WorkspacePaths;
  readonly seen: WorkspacePaths;
  readonly deadlineAt: number;
  readonly signal: AbortSignal;
  /** Called before a workspace is saved: stores all messages and acknowledges the follow-ups. */
  readonly settle: () => Promise<void>;
  /** Called with what could not be read and is missing in the checkpoint, or could not be restored from it, redacted. */
  readonly reportMissing: (files: readonly string[], step: "saved" | "restored") => void;
  /** The files that are artifacts are part of the checkpoint. */
  readonly artifacts: Pick<ArtifactCollector, "stored" | "adopt">;
  /** Stops other processes while the files are packed, until the returned function is called. @default there are none */
  readonly freeze?: () => Promise<() => void>;
  /** The largest archive. @default 1 GiB */
  readonly maxBytes?: number;
  /** The largest apparent size of the files before they are packed, including holes of sparse files. @default 4 GiB */
  readonly maxApparentBytes?: number;
}

const ARCHIVE = "workspace.tar.gz";
const MIME_TYPE = "application/gzip";
const LIST_TYPE = "application/json";
/** Lists the files that were artifacts when the workspace was saved, so that none is stored twice and none is missed. */
const ARTIFACTS = "artifacts.json";
const Stored = v.pipe(v.string(), v.parseJson(), v.array(v.tuple([v.string(), v.string()])));
const MAX_BYTES = 1024 * 1024 * 1024;
const MAX_APPARENT_BYTES = 4 * 1024 * 1024 * 1024;
const PACK_MS = 5 * 60_000;
/** Exit code of the pack command when the workspace is too large. */
const TOO_LARGE = 74;

export function createCheckpoints(options: CheckpointOptions): Checkpoints {
  const { plane, host, signal, settle, artifacts, freeze = async () => () => {} } = options;
  const archive = join(host.tmp, ARCHIVE);
  let count = 0;
  /** Whether the last checkpoint has the files of a workspace. */
  let hasFiles = false;

  const { pack, unpack } = createPacker(options, archive);
  const packFrozen = async () => {
    const thaw = await freeze();
    return await pack().finally(thaw);
  };

  /** Returns false if storage no longer has the archive. */
  const download = async (url: string) => {
    await removeTree(archive);
    return await downloadFile(url, archive, signal).then(
      () => true,
      (error: unknown) => {
        if (error instanceof SetupError) return false;
        throw error;
      },
    );
  };

  return {
    async save({ always = false } = {}) {
      const isEmpty = await isEmptyWorkspace(host);
      if (isEmpty && !always && !hasFiles) return false;
      await settle();
      const generation = `checkpoint-${++count}`;
      try {
        await using packed = isEmpty ? undefined : await packFrozen();
        const list = Buffer.from(JSON.stringify([...artifacts.stored()]));
        const files = packed === undefined ? [] : [await describeArchive(packed), describeList(list)];
        const { uploads } = await plane.uploadSnapshot({ mode: "checkpoint", generation, files });
        const [forArchive, forList] = uploads;
        if (packed !== undefined && forArchive !== undefined && forList !== undefined) {
          await uploadFile(forArchive, packed.path, MIME_TYPE, signal);
          await uploadContent(forList, new Blob([list], { type: LIST_TYPE }), signal);
        }
        await plane.commitSnapshot({ generation, files: files.map(({ filename }) => filename) });
        hasFiles = !isEmpty;
        return true;
      } finally {
        await removeTree(archive);
      }
    },
    async restore(checkpoint) {
      const file = (name: string) => checkpoint?.files.find(({ filename }) => filename === name);
      const [saved, list] = [file(ARCHIVE), file(ARTIFACTS)];
      if (saved === undefined || !(await download(saved.download_url))) return false;
      hasFiles = true;
      try {
        await unpack();
        if (list !== undefined) artifacts.adopt(v.parse(Stored, await downloadText(list.download_url, signal)));
        return true;
      } catch (error) {
        signal.throwIfAborted();
        throw new SetupError(`the workspace of an earlier execution could not be restored: ${formatError(error)}`);
      } finally {
        await removeTree(archive);
      }
    },
  };
}

/** Packs and unpacks the workspace by commands in the sandbox. */
function createPacker(options: CheckpointOptions, archive: string) {
  const {
    runner,
    host,
    seen,
    deadlineAt,
    reportMissing,
    maxBytes = MAX_BYTES,
    maxApparentBytes = MAX_APPARENT_BYTES,
  } = options;
  const packed = quoteForShell(join(seen.tmp, ARCHIVE));
  const inSandbox = async (command: string) => {
    const timeoutMs = Math.max(1, Math.min(PACK_MS, deadlineAt - Date.now()));
    const { exitCode, text } = await runner.run({ command, workingDirectory: seen.workspace, timeoutMs });
    if (exitCode === TOO_LARGE)
      throw new Error(
        `the files of the workspace have more than ${maxApparentBytes} bytes, including holes of sparse files`,
      );
    if (exitCode !== 0) throw new Error(`tar ended with exit code ${exitCode}: ${text.trim().slice(-500)}`);
    return text;
  };
  const pack = async () => {
    // Exit code 1 means that a file changed while it was read, which is acceptable: no command of the agent is running.
    const printed = await inSandbox(
      [
        `rm -rf ${packed}`,
        refuseAbove(maxApparentBytes),
        `tar --create ${GNU_OPTIONS} --gzip --file=${packed} . || [ $? -eq 1 ]`,
      ].join("\n"),
    );
    const unreadable = [...printed.matchAll(UNREADABLE)].map(([, file, why]) => `${file}: ${why}`);
    if (unreadable.length > 0) reportMissing(unreadable, "saved");
    const opened = await openInside(host.tmp, archive);
    if (opened.sizeBytes <= maxBytes) return opened;
    await opened[Symbol.asyncDispose]();
    throw new Error(`the workspace has more than ${maxBytes} bytes when packed`);
  };
  const unpack = async () => {
    // Each file that cannot be created, such as one whose path is too long, is left out; whatever else fails ends with an exit code.
    const printed = await inSandbox(
      [
        `complaints=$(LC_ALL=C tar --extract --gzip --file=${packed} 2>&1 | ${SHORTEN}) && code=0 || code=$?`,
        `if [ $code -eq 2 ] && ! grep -qvE ${quoteForShell(LEFT_OUT)} <<< "$complaints"; then code=0; fi`,
        `printf '%s\\n' "$complaints" >&2; exit $code`,
      ].join("\n"),
    );
    const missing = [...printed.matchAll(UNCREATABLE)].map(([, file, why]) => `${file}: ${why}`);
    if (missing.length > 0) reportMissing(missing, "restored");
  };
  return { pack, unpack };
}

/**
 * Shell commands that exit if the files are too large to pack. A sparse file uses almost no disk, but the time to pack it depends on
 * its apparent size. GNU and BSD have different options for that size.
 */
const refuseAbove = (bytes: number): string =>
  [
    "kib=$({ du -s -k --apparent-size . 2>/dev/null || du -s -k -A . 2>/dev/null || true; } | tail -n 1 | cut -f 1)",
    `if [ "\${kib:-0}" -gt ${Math.floor(bytes / 1024)} ]; then exit ${TOO_LARGE}; fi`,
  ].join("\n");

/**
 * Makes GNU tar ask the file system for holes instead of reading them, and go on after a file that it cannot read. Other versions have no
 * such options or do so by default.
 */
const GNU_OPTIONS =
  "$(tar --version 2>/dev/null | grep -q GNU && echo --sparse --hole-detection=seek --ignore-failed-read || true)";
/** How GNU and BSD tar report what they could not read and left out. */
const UNREADABLE = /^tar: (?:\.\/)?(.+): (?:Warning: Cannot \w+: |Couldn't )(.+)$/gm;

/** Leaves out the middle of long lines: hundreds of paths that are too long to be created take more memory than a command may have. */
const SHORTEN =
  "if command -v awk >/dev/null; then LC_ALL=C awk 'length > 800 { $0 = substr($0, 1, 500) \"…\" substr($0, length - 199) } 1'; else cat; fi";

/** How GNU tar reports that it could not create a file, and in the end that there was one. */
const LEFT_OUT =
  "^tar: (.+: Cannot .+: (File name too long|Operation not permitted|Permission denied)|Exiting with failure status due to previous errors)$";
const UNCREATABLE = /^tar: (?:\.\/)?(.+): Cannot .+: (File name too long|Operation not permitted|Permission denied)$/gm;

/** Whether the workspace contains nothing but an empty output directory. */
async function isEmptyWorkspace({ workspace, output }: WorkspacePaths): Promise<boolean> {
  const names = await readdir(workspace);
  if (names.some((name) => join(workspace, name) !== output)) return false;
  const stats = await lstat(output).catch(() => undefined);
  return stats === undefined || (stats.isDirectory() && (await readdir(output)).length === 0);
}

const describeList = (list: Buffer) => ({
  filename: ARTIFACTS,
  mime_type: LIST_TYPE,
  size_bytes: list.length,
  sha256: createHash("sha256").update(list).digest("hex"),
});

const describeArchive = async ({ path, sizeBytes }: InsideFile) => ({
  filename: ARCHIVE,
  mime_type: MIME_TYPE,
  size_bytes: sizeBytes,
  sha256: await hashFile(path),
});
