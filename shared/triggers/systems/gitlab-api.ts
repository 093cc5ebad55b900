import * as v from "valibot";
import type { ApiAccess } from "./github-api.ts";
import { callApi, SystemFailure } from "./system-api.ts";

/** The role Developer, the first one that can push. */
const DEVELOPER = 30;

const Member = v.object({ access_level: v.number(), state: v.optional(v.string(), "active") });

/**
 * Whether an account may push to a project.
 * @see https://docs.gitlab.com/api/project_members/#get-a-project-member-including-inherited-and-invited-members
 */
export async function hasGitlabAccess(project: string, user: string, access: ApiAccess): Promise<boolean> {
  const path = `/projects/${encodeURIComponent(project)}/members/all/${encodeURIComponent(user)}`;
  try {
    const { access_level, state } = await callGitlab({ path, schema: Member }, access);
    return state === "active" && access_level >= DEVELOPER;
  } catch (error) {
    if (error instanceof SystemFailure && error.status === 404) return false;
    throw error;
  }
}

interface GitlabCall<T> {
  readonly path: string;
  readonly schema: v.GenericSchema<unknown, T>;
}

const callGitlab = <T>({ path, schema }: GitlabCall<T>, { address, token, fetch }: ApiAccess): Promise<T> =>
  callApi({ url: `${address}${path}`, headers: { "private-token": token }, schema, name: "GitLab" }, fetch);
