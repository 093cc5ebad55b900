import type { ArtifactItem, RunItem, Runyard } from "../../../clients/typescript/src/index.ts";
import { Problem } from "../problem.ts";

type FileArtifact = Extract<ArtifactItem, { artifact_type: "FILE" }>["data"];
export type GitChanges = NonNullable<FileArtifact["git"]>;

/** What a run changed in one repository. */
export interface Changes {
  readonly artifactUid: string;
  readonly filename: string;
  readonly git: GitChanges;
}

/** The latest changes of each repository of a run. */
export function listChanges({ artifacts = [] }: Pick<RunItem, "artifacts">): Changes[] {
  const latest = new Map<string, Changes>();
  for (const { artifact_type, data } of artifacts) {
    if (artifact_type !== "FILE" || data.git === undefined) continue;
    latest.set(data.git.path, { artifactUid: data.artifact_uid, filename: data.filename, git: data.git });
  }
  return [...latest.values()];
}

/** The changes of the repository at this path in the workspace, or the only ones. */
export function selectChanges(changes: readonly Changes[], repo: string | undefined): Changes {
  const found = repo === undefined ? changes : changes.filter(({ git }) => git.path === repo);
  const [only, ...others] = found;
  if (only !== undefined && others.length === 0) return only;
  const paths = changes.map(({ git }) => git.path).join(", ");
  if (changes.length === 0) throw new Problem("The run has changed no repository.");
  throw new Problem(
    repo === undefined ? "The run has changed several repositories." : `The run has not changed ${repo}.`,
    { remedy: `Name one of them with --repo: ${paths}` },
  );
}

/** A patch is at most 10 MiB. */
const MAX_BYTES = 16 * 1024 * 1024;

export async function downloadPatch(client: Pick<Runyard, "artifacts">, { artifactUid }: Changes): Promise<Buffer> {
  const { body } = await client.artifacts.download(artifactUid);
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += chunk.length;
    if (bytes > MAX_BYTES) throw new Problem("The patch is larger than 16 MiB.");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** The numbers of a change, such as `3 files changed, +10 −2, 1 commit on fix`. */
export function describeChanges({
  files_changed,
  insertions,
  deletions,
  commits,
  branch,
  ...rest
}: GitChanges): string {
  const count = (number: number, one: string) => `${number} ${one}${number === 1 ? "" : "s"}`;
  return [
    `${count(files_changed, "file")} changed, +${insertions} −${deletions}`,
    commits === 0 ? "no commits" : count(commits, "commit"),
    ...(branch === undefined ? [] : [`branch ${branch}`]),
    ...(rest.files_omitted === undefined ? [] : [`${count(rest.files_omitted, "file")} left out because of the size`]),
    ...(rest.redacted === true ? ["secrets are redacted"] : []),
  ].join(", ");
}

interface FileStat {
  readonly name: string;
  readonly insertions: number;
  readonly deletions: number;
  readonly isBinary: boolean;
}

/** Counts the changed lines of each file in a patch. */
export function parseFileStats(patch: string): FileStat[] {
  const files = patch.split(/^(?=diff --git )/m).filter((part) => part.startsWith("diff --git "));
  return files.map((file) => {
    const lines = file.split("\n");
    const body = lines.slice(lines.findIndex((line) => line.startsWith("@@")));
    const hasHunks = lines.some((line) => line.startsWith("@@"));
    const count = (mark: string) => (hasHunks ? body.filter((line) => line.startsWith(mark)).length : 0);
    const isBinary = lines.some((line) => line === "GIT binary patch" || line.startsWith("Binary files "));
    return { name: parseName(lines), insertions: count("+"), deletions: count("-"), isBinary };
  });
}

/** The new name of the file, or the old one of a file that is deleted. */
function parseName(lines: readonly string[]): string {
  const after = (mark: string) =>
    lines.find((line) => line.startsWith(mark) && !line.startsWith(`${mark}/dev/null`))?.slice(mark.length);
  const named = after("+++ ") ?? after("--- ");
  const [, renamed = ""] = / ("?b\/.*)$/.exec(lines[0] ?? "") ?? [];
  return (named ?? renamed).replace(/^("?)[ab]\//, "$1").trimEnd();
}
