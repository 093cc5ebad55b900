import type { RunItem } from "../../clients/typescript/src/index.ts";

/** What a run left behind, in short. */
export interface RunOutcome {
  /** The latest pull request, such as `shop#12`, with its status. */
  readonly pullRequest?: { readonly name: string; readonly status: string };
  /** The lines that the run changed in its repositories, as `+12 −3`. */
  readonly lines?: string;
}

/** Reads the outcome of a run off its artifacts. */
export function readOutcome({ artifacts = [] }: Pick<RunItem, "artifacts">): RunOutcome {
  const requests = artifacts.flatMap((one) => (one.artifact_type === "PULL_REQUEST" ? [one.data] : []));
  const latestChanges = artifacts.flatMap((one) =>
    one.artifact_type === "FILE" && one.data.git ? [[one.data.git.path, one.data.git] as const] : [],
  );
  const changes = [...new Map(latestChanges).values()];
  const latest = requests.at(-1);
  const sum = (member: "insertions" | "deletions") => changes.reduce((total, one) => total + one[member], 0);
  const [added, removed] = [sum("insertions"), sum("deletions")];
  return {
    ...(latest === undefined ? {} : { pullRequest: { name: toName(latest.url), status: latest.status } }),
    ...(added + removed === 0 ? {} : { lines: `+${added} −${removed}` }),
  };
}

/** `https://github.com/acme/shop/pull/12` → `shop#12`; GitLab's addresses have `/-/merge_requests/12`. */
function toName(url: string): string {
  const [, repository, number] = /([^/]+)\/(?:-\/)?(?:pull|pulls|merge_requests|pull-requests)\/(\d+)/.exec(url) ?? [];
  return repository === undefined ? "Pull request" : `${repository}#${number}`;
}
