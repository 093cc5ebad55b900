import * as v from "valibot";
import { splitIntoBatches } from "#shared/arrays.ts";
import type { SkillFile } from "#shared/wire/scan.ts";
import {
  inSkillOrder,
  isSkillPath,
  MAX_SKILLS,
  SKILL_BYTES,
  SKILL_FOLDERS,
  SKILLS_BYTES,
} from "#shared/wire/skills/skill-file.ts";
import { DiscoveryFailure } from "./discovery-failure.ts";
import { type Access, chooseAccess, type Github, type GithubRepository } from "./github-access.ts";
import { GithubRefusal, type GithubResponse, requestGithub, toOutage } from "./github-api.ts";

/** Files that are fetched at the same time; GitHub asks clients not to send many requests at once. */
const AT_ONCE = 6;
/** Milliseconds for the files of one repository; the rest is read the next time. */
const FILES_MS = 15_000;

const Entry = v.object({
  path: v.string(),
  mode: v.string(),
  type: v.string(),
  sha: v.pipe(v.string(), v.regex(/^[0-9a-f]{40,64}$/)),
  size: v.optional(v.number()),
});
type Entry = v.InferOutput<typeof Entry>;
const Tree = v.object({ sha: v.string(), tree: v.array(Entry), truncated: v.optional(v.boolean(), false) });
type Tree = v.InferOutput<typeof Tree>;
/** The tree of a repository without a commit. */
const EMPTY_TREE: Tree = { sha: "", tree: [], truncated: false };
const Blob = v.object({ content: v.string(), encoding: v.literal("base64") });

/** What was found before, so that unchanged files are not fetched again. */
export interface Before {
  readonly etag?: string | undefined;
  /** True if this content at this path is stored already. */
  readonly knows: (path: string, sha: string) => boolean;
}

/** A file with its text; one that is stored already is not read again. */
export type ReadFile = SkillFile & { readonly isKnown?: true };

export interface GithubSkills {
  readonly files: readonly ReadFile[];
  readonly leftOut: number;
  readonly etag?: string;
  /** Why some of the files have no text, where GitHub stopped responding in between. */
  readonly failure?: DiscoveryFailure;
}

/**
 * Finds the skills of a repository on GitHub; returns `unchanged` where it has not changed.
 * @throws DiscoveryFailure
 */
export async function findGithubSkills(
  repository: GithubRepository,
  before: Before,
  github: Github,
): Promise<GithubSkills | "unchanged"> {
  const access = await chooseAccess(repository, github);
  try {
    return await findSkillsWith(access, repository, before, github);
  } catch (error) {
    if (error instanceof GithubRefusal) access.refused();
    throw error;
  }
}

async function findSkillsWith(
  { token, ifHidden }: Access,
  repository: GithubRepository,
  before: Before,
  github: Github,
): Promise<GithubSkills | "unchanged"> {
  const { owner, repo, ref = "HEAD" } = repository;
  const what = `${owner}/${repo}${repository.ref === undefined ? "" : ` at ${repository.ref}`}`;
  const git = `/repos/${encodeURIComponent(owner)}/${encodeURIComponent(repo)}/git`;
  const request = <T>(
    schema: v.GenericSchema<unknown, T>,
    path: string,
    more?: { etag?: string | undefined; ifEmpty?: T },
  ) => requestGithub(schema, { path: `${git}/${path}`, token, what, ifHidden, ...more }, github);
  const top = `trees/${encodeURIComponent(ref)}?recursive=1`;
  const response = await request(Tree, top, { etag: before.etag, ifEmpty: EMPTY_TREE });
  if (!response.changed) return "unchanged";
  const subTree = async (sha: string, recursive = false) =>
    requireBody(await request(Tree, `trees/${sha}${recursive ? "?recursive=1" : ""}`));
  const entries = response.body.truncated ? await listSkillFolders(response.body, subTree) : response.body.tree;
  const listed = entries.filter(isSkill).sort((a, b) => inSkillOrder(a.path, b.path));
  const deadline = performance.now() + FILES_MS;
  const { files, failure } = await readFiles(listed.slice(0, MAX_SKILLS), before, async (sha) => {
    if (performance.now() > deadline) throw toOutage(`GitHub responds slowly about ${what}`, github);
    return Buffer.from(requireBody(await request(Blob, `blobs/${sha}`)).content, "base64");
  });
  const { etag } = response;
  return {
    files,
    leftOut: Math.max(0, listed.length - MAX_SKILLS),
    // Without an ETag, the next discovery reads the files that this one could not.
    ...(etag === undefined || failure !== undefined ? {} : { etag }),
    ...(failure === undefined ? {} : { failure }),
  };
}

/** Only files have these modes. Symbolic links are not followed: their targets are listed at their own paths. */
const isSkill = ({ path, mode }: Entry): boolean => (mode === "100644" || mode === "100755") && isSkillPath(path);

function requireBody<T>(response: GithubResponse<T>): T {
  if (response.changed) return response.body;
  throw new Error("an unconditional request got the response 304 Not Modified");
}

/**
 * Lists the entries below the skill folders of a repository whose tree GitHub truncates. Reads at most two trees per folder, and one
 * per skill where even a folder's own tree is truncated.
 */
async function listSkillFolders(
  root: Pick<Tree, "sha">,
  subTree: (sha: string, recursive?: boolean) => Promise<Tree>,
): Promise<Entry[]> {
  const found: Entry[] = [];
  const { tree } = await subTree(root.sha);
  const trees = (entries: readonly Entry[]) => entries.filter(({ type }) => type === "tree");
  for (const folder of SKILL_FOLDERS) {
    const [top, inner] = folder.split("/");
    const outer = trees(tree).find(({ path }) => path === top);
    if (outer === undefined) continue;
    const skills =
      inner === undefined ? outer : trees((await subTree(outer.sha)).tree).find(({ path }) => path === inner);
    if (skills === undefined) continue;
    const within = (prefix: string, entries: readonly Entry[]) =>
      entries.map((entry) => ({ ...entry, path: `${folder}/${prefix}${entry.path}` }));
    const whole = await subTree(skills.sha, true);
    if (!whole.truncated) {
      found.push(...within("", whole.tree));
      continue;
    }
    for (const skill of trees((await subTree(skills.sha)).tree).slice(0, MAX_SKILLS)) {
      found.push(...within(`${skill.path}/`, (await subTree(skill.sha)).tree));
    }
  }
  return found;
}

/** Reads the texts of the files, a few at a time. Once GitHub stops responding, the rest is not requested. */
async function readFiles(
  listed: readonly Entry[],
  { knows }: Before,
  fetchBlob: (sha: string) => Promise<Uint8Array>,
): Promise<{ files: ReadFile[]; failure?: DiscoveryFailure }> {
  let room = SKILLS_BYTES;
  let failure: DiscoveryFailure | undefined;
  const files: ReadFile[] = [];
  const one = async ({ path, sha, size = 0 }: Entry): Promise<ReadFile> => {
    if (size > SKILL_BYTES) return { path, sha, problem: `is larger than ${SKILL_BYTES} bytes` };
    if (size > room) {
      return { path, sha, problem: `was left out: the skills before it have ${SKILLS_BYTES} bytes together` };
    }
    room -= size;
    if (knows(path, sha)) return { path, sha, isKnown: true };
    if (failure !== undefined) return { path, sha, problem: "is not read yet" };
    try {
      return { path, sha, ...decode(await fetchBlob(sha)) };
    } catch (error) {
      if (!(error instanceof DiscoveryFailure)) throw error;
      failure = error;
      return { path, sha, problem: "is not read yet" };
    }
  };
  for (const batch of splitIntoBatches(listed, AT_ONCE)) files.push(...(await Promise.all(batch.map(one))));
  return { files, ...(failure === undefined ? {} : { failure }) };
}

function decode(bytes: Uint8Array): Pick<SkillFile, "text" | "problem"> {
  if (bytes.length > SKILL_BYTES) return { problem: `is larger than ${SKILL_BYTES} bytes` };
  try {
    return { text: new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes) };
  } catch {
    return { problem: "is not UTF-8" };
  }
}
