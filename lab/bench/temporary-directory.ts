import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { onInterrupt } from "./interruption.ts";

/**
 * Calls `work` with a temporary directory, and removes it afterwards, also if the benchmark is interrupted.
 * @param parent the folder that it is made in
 */
export async function withDirectory<T>(
  prefix: string,
  work: (directory: string) => Promise<T>,
  parent = tmpdir(),
): Promise<T> {
  const directory = await mkdtemp(path.join(parent, prefix));
  const remove = () => rm(directory, { recursive: true, force: true, maxRetries: 3 });
  const cancel = onInterrupt(remove);
  try {
    return await work(directory);
  } finally {
    await remove();
    cancel();
  }
}
