import type { ArtifactItem } from "./generated/types.ts";

/** An artifact that has content, and the file to save it to. */
export interface ArtifactFile {
  readonly artifact: ArtifactItem;
  readonly artifact_uid: string;
  /**
   * A relative path with `/`, which differs from those of the run's other artifacts, even if case is ignored. The agent
   * chose the name, but the path never leaves the folder that it is joined to.
   */
  readonly path: string;
}

/** Plans the files of a run's artifacts. Artifacts without content, such as pull requests, have none. */
export function planArtifactFiles(artifacts: readonly ArtifactItem[]): ArtifactFile[] {
  const usedPaths = new Set<string>();
  return artifacts.flatMap((artifact) => {
    const uid = textOf(artifact.data, "artifact_uid");
    if (uid === undefined) return [];
    const names = ["filepath", "filename", "title"].map((name) => textOf(artifact.data, name));
    const path = takePath(usedPaths, toSafePath(names.find((name) => name !== undefined) ?? uid));
    return [{ artifact, artifact_uid: uid, path }];
  });
}

/** Reads a member that only some kinds of artifacts have. An empty text counts as absent. */
function textOf(data: object, name: string): string | undefined {
  const value: unknown = Reflect.get(data, name);
  return typeof value === "string" && value !== "" ? value : undefined;
}

function toSafePath(name: string): string {
  const parts = name
    .replaceAll("\\", "/")
    .replace(/[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}]/gu, "_")
    .split("/");
  const safeParts = parts.filter((part) => !/^\.*$/.test(part) && !/^[a-z]:$/i.test(part));
  // Where a path is joined to a folder on Windows, the letter of a drive would lead out of it.
  return safeParts.length === 0 ? "artifact" : safeParts.map((part) => part.replace(/^([a-z]):/i, "$1_")).join("/");
}

/** Returns the path, or one with a number, that is neither a file nor a folder of another artifact. */
function takePath(usedPaths: Set<string>, path: string): string {
  const isFree = (one: string) =>
    !usedPaths.has(one.toLowerCase()) &&
    !usedPaths.has(`${one.toLowerCase()}/`) &&
    !foldersOf(one).some((folder) => usedPaths.has(folder));
  const preferred = foldersOf(path).some((folder) => usedPaths.has(folder)) ? path.replaceAll("/", "_") : path;
  let free = preferred;
  for (let count = 2; !isFree(free); count++) free = addNumber(preferred, count);
  usedPaths.add(free.toLowerCase());
  for (const folder of foldersOf(free)) usedPaths.add(`${folder}/`);
  return free;
}

/** The folders of a path, in lower case. */
function foldersOf(path: string): string[] {
  const parts = path.toLowerCase().split("/");
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join("/"));
}

/** `out/a-2.txt` for `out/a.txt`. */
function addNumber(path: string, count: number): string {
  const [, stem = path, ending = ""] = /^(.*[^/])(\.[^./]*)$/.exec(path) ?? [];
  return `${stem}-${count}${ending}`;
}
