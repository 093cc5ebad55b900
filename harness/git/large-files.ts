import { toLargeFilesUrl } from "./repository-access.ts";
import type { Git } from "./run-git.ts";

export interface LargeFilesOptions {
  /** Host path of the clone. */
  readonly directory: string;
  /** The URL that it was cloned from, without credentials. */
  readonly url: string;
  /** Whether to download the files, instead of leaving their pointers. */
  readonly isWanted: boolean;
  /** Runs git with the repository's credential. */
  readonly git: Git;
}

/**
 * Downloads the files that a clone keeps in Git LFS. The objects come from the repository's own server: its `.lfsconfig` may name
 * another one, which would receive requests of the harness.
 * @returns what is left out, and why
 */
export async function addLargeFiles({ directory, url, isWanted, git }: LargeFilesOptions): Promise<string[]> {
  const inClone: Git = (...args) => git("-C", directory, ...args);
  const attributes = ["--", ".gitattributes", "**/.gitattributes"];
  if (!(await inClone("grep", "--cached", "--quiet", "--fixed-strings", "-e", "filter=lfs", ...attributes)).ok)
    return [];
  const leaveOut = (reason: string) => [`the contents of files in Git LFS (${reason})`];
  if (!isWanted) return leaveOut("set lfs of the repository to download them");
  const { protocol } = URL.parse(url) ?? {};
  if (protocol !== "https:" && protocol !== "file:") return leaveOut("they require an https URL");
  if (!(await inClone("lfs", "version")).ok) return leaveOut("git-lfs is not installed where runs are set up");
  const place = protocol === "https:" ? ["-c", `lfs.url=${toLargeFilesUrl(url)}`] : [];
  // Commands in the sandbox need the filters too: without them, git sees the contents as changes.
  const installed = await inClone("lfs", "install", "--local", "--skip-repo");
  const pulled = installed.ok ? await inClone(...place, "lfs", "pull") : installed;
  return pulled.ok ? [] : leaveOut(pulled.text);
}
