import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import * as v from "valibot";
import { removeTree } from "#shared/sandbox/remove-tree.ts";
import type { ControlPlane } from "../control-plane/control-plane.ts";
import { downloadFile, downloadText, uploadContent, uploadFile } from "../control-plane/transfer.ts";
import type { WorkspacePaths } from "../isolation/sandbox.ts";
import type { ArtifactCollector } from "../reporting/artifact-collector.ts";
import { createHash } from "../support/lazy-crypto.ts";
import { formatError, SetupError } from "../support/stop.ts";
import { ETC_NAMES } from "./image-etc.ts";
import { ARCHIVE_TYPE, createPackers, describeArchive, type PackerOptions, WORKSPACE_ARCHIVE } from "./packer.ts";
import type { RunContext } from "./run-context.ts";

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

export interface CheckpointOptions extends PackerOptions {
  readonly plane: Pick<ControlPlane, "uploadSnapshot" | "commitSnapshot">;
  readonly signal: AbortSignal;
  /** Called before a workspace is saved: stores all messages and acknowledges the follow-ups. */
  readonly settle: () => Promise<void>;
  /** The files that are artifacts are part of the checkpoint. */
  readonly artifacts: Pick<ArtifactCollector, "stored" | "adopt">;
  /** Stops other processes while the files are packed, until the returned function is called. @default there are none */
  readonly freeze?: () => Promise<() => void>;
}

const LIST_TYPE = "application/json";
/** Lists the files that were artifacts when the workspace was saved, so that none is stored twice and none is missed. */
const ARTIFACTS = "artifacts.json";
const Stored = v.pipe(v.string(), v.parseJson(), v.array(v.tuple([v.string(), v.string()])));

export function createCheckpoints(options: CheckpointOptions): Checkpoints {
  const { plane, host, signal, settle, artifacts, freeze = async () => () => {} } = options;
  let count = 0;
  /** Whether the last checkpoint has the files of a workspace. */
  let hasFiles = false;

  const packers = createPackers(options, [{ name: WORKSPACE_ARCHIVE, directory: options.seen.workspace }]);
  const packFrozen = async (stack: AsyncDisposableStack) => {
    const thaw = await freeze();
    const packed = [];
    try {
      for (const { name, pack } of packers) packed.push({ name, file: stack.use(await pack()) });
    } finally {
      thaw();
    }
    return packed;
  };
  const removeArchives = async () => void (await Promise.all(packers.map(({ archive }) => removeTree(archive))));

  /** Returns false if storage no longer has the archive. */
  const download = async (url: string, archive: string) => {
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
      const isEmpty = (await isEmptyWorkspace(host)) && !(await hasChangedRoot(options.layer));
      if (isEmpty && !always && !hasFiles) return false;
      await settle();
      const generation = `checkpoint-${++count}`;
      await using stack = new AsyncDisposableStack();
      stack.defer(removeArchives);
      const packed = isEmpty ? [] : await packFrozen(stack);
      const list = Buffer.from(JSON.stringify([...artifacts.stored()]));
      const archives = [];
      for (const { name, file } of packed) archives.push(await describeArchive(name, file));
      const files = isEmpty ? [] : [...archives, describeList(list)];
      const { uploads } = await plane.uploadSnapshot({ mode: "checkpoint", generation, files });
      for (const [index, upload] of uploads.entries()) {
        const file = packed[index]?.file;
        if (file !== undefined) await uploadFile(upload, file.path, ARCHIVE_TYPE, signal);
        else await uploadContent(upload, new Blob([list], { type: LIST_TYPE }), signal);
      }
      await plane.commitSnapshot({ generation, files: files.map(({ filename }) => filename) });
      hasFiles = !isEmpty;
      return true;
    },
    async restore(checkpoint) {
      const file = (name: string) => checkpoint?.files.find(({ filename }) => filename === name);
      const list = file(ARTIFACTS);
      const saved = packers.flatMap((packer) => {
        const found = file(packer.name);
        return found === undefined ? [] : [{ ...packer, url: found.download_url }];
      });
      await using stack = new AsyncDisposableStack();
      stack.defer(removeArchives);
      for (const { url, archive } of saved) if (!(await download(url, archive))) return false;
      if (saved.length === 0) return false;
      hasFiles = true;
      try {
        for (const { unpack } of saved) await unpack();
        if (list !== undefined) artifacts.adopt(v.parse(Stored, await downloadText(list.download_url, signal)));
        return true;
      } catch (error) {
        signal.throwIfAborted();
        throw new SetupError(`the workspace of an earlier execution could not be restored: ${formatError(error)}`);
      }
    },
  };
}

/** Whether the workspace contains nothing but an empty output directory. */
async function isEmptyWorkspace({ workspace, output }: WorkspacePaths): Promise<boolean> {
  const names = await readdir(workspace);
  if (names.some((name) => join(workspace, name) !== output)) return false;
  const stats = await lstat(output).catch(() => undefined);
  return stats === undefined || (stats.isDirectory() && (await readdir(output)).length === 0);
}

/** Whether commands have changed the root of their image. */
async function hasChangedRoot(layer: CheckpointOptions["layer"]): Promise<boolean> {
  if (layer === undefined) return false;
  const entries = await readdir(layer.changes, { withFileTypes: true });
  // Commands can replace the directory with a link, which this must not follow on the host.
  if (entries.some((entry) => entry.name !== "etc" || !entry.isDirectory())) return true;
  const names = entries.length === 0 ? [] : await readdir(join(layer.changes, "etc"));
  return names.some((name) => !ETC_NAMES.includes(name));
}

const describeList = (list: Buffer) => ({
  filename: ARTIFACTS,
  mime_type: LIST_TYPE,
  size_bytes: list.length,
  sha256: createHash("sha256").update(list).digest("hex"),
});
