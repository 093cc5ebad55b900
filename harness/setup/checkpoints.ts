import { createHash } from "node:crypto";
import { lstat, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import * as v from "valibot";
import type { CommandRunner } from "../commands/command-runner.ts";
import { quoteForShell } from "../commands/shell-quote.ts";
import type { ControlPlane } from "../control-plane/control-plane.ts";
import { downloadFile, downloadText, uploadContent, uploadFile } from "../control-plane/transfer.ts";
import { type InsideFile, openInside } from "../files/path-containment.ts";
import type { WorkspacePaths } from "../isolation/sandbox.ts";
import { type ArtifactCollector, hashFile } from "../reporting/artifact-collector.ts";
import { messageOf, SetupError } from "../support/stop.ts";
import type { RunContext } from "./setup.ts";

/** Points from which another execution can go on: the conversation so far, and the workspace as it is. */
export interface Checkpoints {
  /**
   * Saves the workspace and what has been said so far. Without files in the workspace there is
   * nothing that the conversation does not tell, and nothing is saved, unless `always`.
   * @throws when it could not be saved
   */
  save(options?: { readonly always?: boolean }): Promise<void>;
  /**
   * Brings the workspace back that an earlier execution saved. False where there is none, or it is not kept any more.
   * @throws SetupError
   */
  restore(checkpoint: RunContext["checkpoint"]): Promise<boolean>;
}

export interface CheckpointOptions {
  readonly plane: Pick<ControlPlane, "uploadSnapshot" | "commitSnapshot">;
  /** Packs and unpacks inside the sandbox: what is in a workspace, or in an archive of one, is nobody's but the commands'. */
  readonly runner: CommandRunner;
  /** Paths on the host, and as commands see them. */
  readonly host: WorkspacePaths;
  readonly seen: WorkspacePaths;
  readonly deadlineAt: number;
  readonly signal: AbortSignal;
  /** Called before a workspace is saved: stores all that was said, and which follow-ups were taken up. */
  readonly settle: () => Promise<void>;
  /** Goes along: which files are artifacts already. */
  readonly artifacts: Pick<ArtifactCollector, "stored" | "adopt">;
  /** Of the archive. @default 1 GiB */
  readonly maxBytes?: number;
  /** Of the files before they are packed, holes of sparse files included. @default 4 GiB */
  readonly maxApparentBytes?: number;
}

const ARCHIVE = "workspace.tar.gz";
const MIME_TYPE = "application/gzip";
const LIST_TYPE = "application/json";
/** Which of its files were artifacts when the workspace was saved, so that none becomes one twice, and none is forgotten. */
const ARTIFACTS = "artifacts.json";
const Stored = v.pipe(v.string(), v.parseJson(), v.array(v.tuple([v.string(), v.string()])));
const MAX_BYTES = 1024 * 1024 * 1024;
const MAX_APPARENT_BYTES = 4 * 1024 * 1024 * 1024;
const PACK_MS = 5 * 60_000;
/** The exit code by which the command that packs says that there is too much. */
const TOO_LARGE = 74;

export function createCheckpoints(options: CheckpointOptions): Checkpoints {
  const { plane, runner, host, seen, deadlineAt, signal, settle, artifacts } = options;
  const { maxBytes = MAX_BYTES, maxApparentBytes = MAX_APPARENT_BYTES } = options;
  const archive = join(host.tmp, ARCHIVE);
  let count = 0;

  const inSandbox = async (command: string) => {
    const timeoutMs = Math.max(1, Math.min(PACK_MS, deadlineAt - Date.now()));
    const { exitCode, text } = await runner.run({ command, workingDirectory: seen.workspace, timeoutMs });
    if (exitCode === TOO_LARGE)
      throw new Error(
        `the files of the workspace have more than ${maxApparentBytes} bytes, holes of sparse files included`,
      );
    if (exitCode !== 0) throw new Error(`tar ended with exit code ${exitCode}: ${text.trim().slice(-500)}`);
  };
  const pack = async () => {
    const packed = quoteForShell(join(seen.tmp, ARCHIVE));
    // 1 says that a file changed while it was read; no command runs now that could still mean it.
    await inSandbox(
      [
        `rm -rf ${packed}`,
        refuseAbove(maxApparentBytes),
        `tar --create ${SKIP_HOLES} --gzip --file=${packed} . || [ $? -eq 1 ]`,
      ].join("\n"),
    );
    const opened = await openInside(host.tmp, archive);
    if (opened.sizeBytes <= maxBytes) return opened;
    await opened[Symbol.asyncDispose]();
    throw new Error(`the workspace has more than ${maxBytes} bytes when packed`);
  };

  /** False where storage does not have it any more. */
  const download = async (url: string) => {
    await rm(archive, { force: true, recursive: true });
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
      if (isEmpty && !always) return;
      await settle();
      const generation = `checkpoint-${++count}`;
      try {
        await using packed = isEmpty ? undefined : await pack();
        const list = Buffer.from(JSON.stringify([...artifacts.stored()]));
        const files = packed === undefined ? [] : [await describeArchive(packed), describeList(list)];
        const { uploads } = await plane.uploadSnapshot({ mode: "checkpoint", generation, files });
        const [forArchive, forList] = uploads;
        if (packed !== undefined && forArchive !== undefined && forList !== undefined) {
          await uploadFile(forArchive, packed.path, MIME_TYPE, signal);
          await uploadContent(forList, new Blob([list], { type: LIST_TYPE }), signal);
        }
        await plane.commitSnapshot({ generation, files: files.map(({ filename }) => filename) });
      } finally {
        await rm(archive, { force: true, recursive: true });
      }
    },
    async restore(checkpoint) {
      const file = (name: string) => checkpoint?.files.find(({ filename }) => filename === name);
      const [saved, list] = [file(ARCHIVE), file(ARTIFACTS)];
      if (saved === undefined || !(await download(saved.download_url))) return false;
      try {
        await inSandbox(`tar --extract --gzip --file=${quoteForShell(join(seen.tmp, ARCHIVE))}`);
        if (list !== undefined) artifacts.adopt(v.parse(Stored, await downloadText(list.download_url, signal)));
        return true;
      } catch (error) {
        signal.throwIfAborted();
        throw new SetupError(`the workspace of an earlier execution could not be brought back: ${messageOf(error)}`);
      } finally {
        await rm(archive, { force: true, recursive: true });
      }
    },
  };
}

/**
 * Commands that end where the files have more bytes than may be packed. A sparse file takes next to nothing of the disk's limit, and as long to pack as its
 * apparent size says. GNU and BSD have different names for that size.
 */
const refuseAbove = (bytes: number): string =>
  [
    "kib=$({ du -s -k --apparent-size . 2>/dev/null || du -s -k -A . 2>/dev/null || true; } | tail -n 1 | cut -f 1)",
    `if [ "\${kib:-0}" -gt ${Math.floor(bytes / 1024)} ]; then exit ${TOO_LARGE}; fi`,
  ].join("\n");

/** Options of GNU tar, by which it asks the file system for holes instead of reading them. Others have none, or do so by themselves. */
const SKIP_HOLES = "$(tar --version 2>/dev/null | grep -q GNU && echo --sparse --hole-detection=seek || true)";

/** True where the workspace has nothing but the directory for output, without anything in it. */
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
