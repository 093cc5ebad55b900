import { lstat, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { ControlPlane } from "./api.ts";
import { hashOf } from "./artifacts.ts";
import type { CommandRunner } from "./commands.ts";
import type { WorkspacePaths } from "./sandbox.ts";
import type { RunContext } from "./setup.ts";
import { messageOf, SetupError } from "./stop.ts";
import { downloadFile, uploadFile } from "./transfer.ts";

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
  /** @default 1 GiB */
  readonly mostBytes?: number;
}

const ARCHIVE = "workspace.tar.gz";
const MIME_TYPE = "application/gzip";
const MOST_BYTES = 1024 * 1024 * 1024;
const PACK_MS = 5 * 60_000;

export function createCheckpoints(options: CheckpointOptions): Checkpoints {
  const { plane, runner, host, seen, deadlineAt, signal, settle, mostBytes = MOST_BYTES } = options;
  const archive = join(host.tmp, ARCHIVE);
  let count = 0;

  const inSandbox = async (command: string) => {
    const timeoutMs = Math.max(1, Math.min(PACK_MS, deadlineAt - Date.now()));
    const { exitCode, text } = await runner.run({ command, workingDirectory: seen.workspace, timeoutMs });
    if (exitCode !== 0) throw new Error(`tar ended with exit code ${exitCode}: ${text.trim().slice(-500)}`);
  };
  const pack = async () => {
    const packed = quoted(join(seen.tmp, ARCHIVE));
    // 1 says that a file changed while it was read; no command runs now that could still mean it.
    await inSandbox(`rm -rf ${packed}; tar --create --gzip --file=${packed} . || [ $? -eq 1 ]`);
    const stats = await lstat(archive);
    if (!stats.isFile()) throw new Error("the archive of the workspace is no file");
    if (stats.size > mostBytes) throw new Error(`the workspace has more than ${mostBytes} bytes when packed`);
    return [{ filename: ARCHIVE, mime_type: MIME_TYPE, size_bytes: stats.size, sha256: await hashOf(archive) }];
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
      const isEmpty = await holdsNothing(host);
      if (isEmpty && !always) return;
      await settle();
      const generation = `checkpoint-${++count}`;
      try {
        const files = isEmpty ? [] : await pack();
        const { uploads } = await plane.uploadSnapshot({ mode: "checkpoint", generation, files });
        for (const target of uploads) await uploadFile(target, archive, MIME_TYPE, signal);
        await plane.commitSnapshot({ generation, files: files.map(({ filename }) => filename) });
      } finally {
        await rm(archive, { force: true, recursive: true });
      }
    },
    async restore(checkpoint) {
      const saved = checkpoint?.files.find(({ filename }) => filename === ARCHIVE);
      if (saved === undefined || !(await download(saved.download_url))) return false;
      try {
        await inSandbox(`tar --extract --gzip --file=${quoted(join(seen.tmp, ARCHIVE))}`);
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

/** True where the workspace has nothing but the directory for output, without anything in it. */
async function holdsNothing({ workspace, output }: WorkspacePaths): Promise<boolean> {
  const names = await readdir(workspace);
  if (names.some((name) => join(workspace, name) !== output)) return false;
  const stats = await lstat(output).catch(() => undefined);
  return stats === undefined || (stats.isDirectory() && (await readdir(output)).length === 0);
}

const quoted = (path: string): string => `'${path.replaceAll("'", "'\\''")}'`;
