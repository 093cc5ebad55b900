import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { WorkspacePaths } from "./sandbox.ts";

/** The directories of one execution on the host, which are removed with it. */
export interface Workspace {
  readonly root: string;
  readonly paths: WorkspacePaths;
  /** Generated files of /etc; commands cannot write here. */
  readonly etc: string;
  remove(): Promise<void>;
}

/** Creates the directories below TMPDIR. */
export async function createWorkspace(): Promise<Workspace> {
  const root = await mkdtemp(join(tmpdir(), "runyard-"));
  const inside = (name: string) => join(root, name);
  const workspace = inside("workspace");
  const paths = {
    workspace,
    home: inside("home"),
    tmp: inside("tmp"),
    steps: inside("steps"),
    output: join(workspace, "output"),
  };
  const etc = inside("etc");
  await Promise.all([...Object.values(paths), etc].map((path) => mkdir(path, { recursive: true })));
  return { root, paths, etc, remove: () => removeTree(root) };
}

/** Removes a directory tree, even if commands removed its write permissions. */
async function removeTree(root: string): Promise<void> {
  await rm(root, { recursive: true, force: true }).catch(async () => {
    await chmod(root, 0o700);
    await once(spawn("chmod", ["-R", "u+rwX", root], { stdio: "ignore" }), "exit");
    await rm(root, { recursive: true, force: true });
  });
}
