import type { Repository } from "#shared/wire/config.ts";
import type { CloneOptions } from "./clone.ts";
import { separateCredential } from "./repository-access.ts";
import { pinRepositoryAddress } from "./repository-address.ts";
import { runGit } from "./run-git.ts";

/**
 * Asks the server of a repository which commit a clone of it would check out now, which proves that the token may read it.
 * @returns an empty text for a repository without commits; undefined if only a clone can tell
 * @throws an Error when the server does not say
 */
export async function readRemoteCommit(
  repository: Pick<Repository, "url" | "ref">,
  options: CloneOptions,
): Promise<string | undefined> {
  const { ref } = repository;
  const { url, variables } = separateCredential(repository.url, options.token);
  const pinned = await pinRepositoryAddress(repository.url, options);
  const names = ref === undefined ? [] : [`refs/heads/${ref}`, `refs/tags/${ref}`, `refs/tags/${ref}^{}`, ref];
  const listed = await runGit([...pinned, "ls-remote", "--quiet", "--", url, "HEAD", ...names], options, variables);
  if (!listed.ok) throw new Error(listed.text);
  const commits = new Map(
    listed.output.split("\n").flatMap((line) => {
      const [commit = "", name] = line.split("\t");
      return name === undefined ? [] : [[name, commit] as const];
    }),
  );
  if (ref === undefined) return commits.get("HEAD") ?? "";
  const [head = "", tag = "", peeled = "", itself = ""] = names;
  const branch = commits.get(head);
  const tagged = commits.get(peeled) ?? commits.get(tag);
  // Git decides between a branch and a tag of the same name.
  if (branch !== undefined && tagged !== undefined) return undefined;
  const named = branch ?? tagged ?? (ref.startsWith("refs/") ? commits.get(itself) : undefined);
  // No server lists commits, but no commit ever has another content.
  return named ?? (/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(ref) ? ref : undefined);
}
