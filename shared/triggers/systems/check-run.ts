import * as v from "valibot";
import { callGithub, readHeadCommit } from "./github-api.ts";
import { type ApiAccess, toPath } from "./system-api.ts";
import type { SetCheck } from "./system-request.ts";

const CheckRuns = v.object({
  check_runs: v.array(v.object({ id: v.number(), external_id: v.optional(v.nullable(v.string()), null) })),
});

/**
 * Creates or updates the check run of a run on the head commit of a pull request, and on the commit that had it before. It is found by its
 * external id, so that one whose response was lost is not created twice. Returns the head commit.
 * @see https://docs.github.com/en/rest/checks/runs
 */
export async function setGithubCheck(check: SetCheck, access: ApiAccess): Promise<string> {
  const sha = await readHeadCommit(check, access);
  for (const commit of new Set([check.sha ?? sha, sha])) await setCheck(check, commit, access);
  return sha;
}

async function setCheck(check: SetCheck, commit: string, access: ApiAccess): Promise<void> {
  const { name, external_id, status, conclusion, title, url } = check;
  const repository = `/repos/${toPath(check.repository)}`;
  const query = new URLSearchParams({ check_name: name, filter: "all", per_page: "100" });
  const path = `${repository}/commits/${encodeURIComponent(commit)}/check-runs?${query}`;
  const { check_runs } = await callGithub({ path, schema: CheckRuns }, access);
  const known = check_runs.find((one) => one.external_id === external_id);
  const body = {
    status,
    ...(conclusion === undefined ? {} : { conclusion }),
    ...(url === undefined ? {} : { details_url: url }),
    output: { title, summary: title },
  };
  await callGithub(
    known === undefined
      ? {
          method: "POST",
          path: `${repository}/check-runs`,
          body: { name, head_sha: commit, external_id, ...body },
          schema: v.unknown(),
        }
      : { method: "PATCH", path: `${repository}/check-runs/${known.id}`, body, schema: v.unknown() },
    access,
  );
}
