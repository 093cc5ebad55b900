/** Characters that the file system of macOS ignores in names. */
const IGNORED_BY_HFS = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g;

/**
 * Whether no tree may contain a name, as `git fsck` sees it: one that leaves the directory, or that a file system takes for `.git`.
 * Windows ignores dots and spaces at the end and what follows a colon, separates directories by a backslash, and has `GIT~1` as the short
 * form of `.git`.
 */
export function isUnsafeName(name: string): boolean {
  if (name === "" || name === "." || name === ".." || name.includes("/")) return true;
  const parts = name.replace(IGNORED_BY_HFS, "").split("\\");
  return parts.some((part) => /^(?:\.git|git~1)[. ]*(?::|$)/i.test(part));
}
