import type { RunItem } from "../../clients/typescript/src/index.ts";

type Artifact = NonNullable<RunItem["artifacts"]>[number];
export type PullRequest = Extract<Artifact, { artifact_type: "PULL_REQUEST" }>["data"];
type File = Extract<Artifact, { artifact_type: "FILE" }>["data"];
export type Patch = File & Required<Pick<File, "git">>;
type Artifacts = Pick<RunItem, "artifacts">;

const isPatch = (file: File): file is Patch => file.git !== undefined;

/** The patches of a run: the latest one of each repository, which replaces those of earlier turns. */
export function listPatches({ artifacts = [] }: Artifacts): readonly Patch[] {
  const files = artifacts.flatMap((one) => (one.artifact_type === "FILE" ? [one.data] : []));
  return [...new Map(files.filter(isPatch).map((file) => [file.git.path, file])).values()];
}

export interface ChangeTotals {
  readonly files: number;
  readonly insertions: number;
  readonly deletions: number;
}

/** What the run has changed in all of its repositories; absent if it has no patch. */
export function totalChanges(run: Artifacts): ChangeTotals | undefined {
  const patches = listPatches(run);
  if (patches.length === 0) return undefined;
  const sum = (member: "files_changed" | "insertions" | "deletions") =>
    patches.reduce((total, { git }) => total + git[member], 0);
  return { files: sum("files_changed"), insertions: sum("insertions"), deletions: sum("deletions") };
}

/** The pull requests, each with its latest report. */
export function listPullRequests({ artifacts = [] }: Artifacts): readonly PullRequest[] {
  const found = artifacts.flatMap((one) => (one.artifact_type === "PULL_REQUEST" ? [one.data] : []));
  return [...new Map(found.map((one) => [one.url, one])).values()];
}

/** The outcome of a run in short. */
export interface RunOutcome {
  /** The latest pull request, such as `shop#12`, with its status. */
  readonly pullRequest?: { readonly name: string; readonly status: string };
  /** The lines that the run changed in its repositories, as `+12 −3`. */
  readonly lines?: string;
}

/** Reads the outcome of a run off its artifacts. */
export function readOutcome(run: Artifacts): RunOutcome {
  const latest = listPullRequests(run).at(-1);
  const { insertions, deletions } = totalChanges(run) ?? { insertions: 0, deletions: 0 };
  return {
    ...(latest === undefined ? {} : { pullRequest: { name: toShortName(latest.url), status: latest.status } }),
    ...(insertions + deletions === 0 ? {} : { lines: `+${insertions} −${deletions}` }),
  };
}

/** The repository's name and the number, from the addresses that code hosts use; GitLab's have `/-/merge_requests/12`. */
export const PULL_REQUEST = /([^/]+)\/(?:-\/)?(?:pull|pulls|merge_requests|pull-requests)\/(\d+)/;

/** `https://github.com/acme/shop/pull/12` → `shop#12`. */
function toShortName(url: string): string {
  const [, repository, number] = PULL_REQUEST.exec(url) ?? [];
  return repository === undefined ? "Pull request" : `${repository}#${number}`;
}
