import * as v from "valibot";
import type { OutwardFetch } from "#shared/oidc/outward-fetch.ts";
import { callApi, SystemFailure } from "./system-api.ts";

/** What a client of a system's API needs. */
export interface ApiAccess {
  /** The address of the API. */
  readonly address: string;
  readonly token: string;
  readonly fetch: OutwardFetch;
}

/** `maintain` is reported as `write`, and `triage` as `read`. */
const Permission = v.object({ permission: v.string() });

/**
 * Whether an account may write to a repository.
 * @see https://docs.github.com/en/rest/collaborators/collaborators#get-repository-permissions-for-a-user
 */
export async function hasGithubAccess(repository: string, login: string, access: ApiAccess): Promise<boolean> {
  const path = `/repos/${toPath(repository)}/collaborators/${encodeURIComponent(login)}/permission`;
  try {
    const { permission } = await callGithub({ path, schema: Permission }, access);
    return permission === "admin" || permission === "write";
  } catch (error) {
    if (error instanceof SystemFailure && error.status === 404) return false;
    throw error;
  }
}

/** A repository as a part of a path. */
const toPath = (repository: string): string => repository.split("/").map(encodeURIComponent).join("/");

interface GithubCall<T> {
  readonly path: string;
  readonly schema: v.GenericSchema<unknown, T>;
}

const callGithub = <T>({ path, schema }: GithubCall<T>, { address, token, fetch }: ApiAccess): Promise<T> =>
  callApi(
    {
      url: `${address}${path}`,
      headers: {
        accept: "application/vnd.github+json",
        authorization: `Bearer ${token}`,
        "x-github-api-version": "2022-11-28",
      },
      schema,
      name: "GitHub",
    },
    fetch,
  );
