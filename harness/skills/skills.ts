import { readdir, readFile, realpath, stat } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { SKILL_BYTES, SKILL_FOLDERS, splitFrontMatter } from "#shared/wire/skills/skill-file.ts";
import { openInside } from "../files/path-containment.ts";
import type { Clone } from "../git/clone.ts";
import { SetupError } from "../support/stop.ts";

export interface Skill {
  readonly name: string;
  readonly description?: string;
  /** `owner/repo:path/to/SKILL.md` */
  readonly id: string;
  /** The Markdown after the front matter. */
  readonly body: string;
}

/**
 * Finds the skill that `repo:name`, `repo:path`, `owner/repo:name` or `owner/repo:path/to/SKILL.md` names in the clones.
 * @throws SetupError that lists the available skills
 */
export async function loadSkill(spec: string, clones: readonly Clone[], workspace: string): Promise<Skill> {
  const fail = (reason: string) => new SetupError(`skill ${spec}: ${reason}`);
  const [, owner, repository, place] = /^(?:([^/:]+)\/)?([^/:]+):(.+)$/.exec(spec) ?? [];
  if (repository === undefined || place === undefined)
    throw fail("must have the form owner/repo:skill-name or owner/repo:path");
  const same = (a: string, b: string) => a.toLowerCase() === b.toLowerCase();
  const clone = clones.find((it) => same(it.name, repository) && (owner === undefined || same(it.owner, owner)));
  if (clone === undefined)
    throw fail(`this repository was not cloned; ${formatList("cloned", clones.map(formatName))}`);

  const root = await realpath(join(workspace, clone.path)).catch(() => undefined);
  // In a restored workspace, commands may have replaced the clone by a link.
  if (root === undefined || !root.startsWith((await realpath(workspace)) + sep))
    throw fail(`${formatName(clone)} is no longer in the workspace`);
  const file = await findFirstFile(root, listCandidates(place));
  if (file === undefined)
    throw fail(`${describeMissing(clone)}; ${formatList("skills there", await listSkillNames(root))}`);
  return readSkillFile(file, { clone, root });
}

/**
 * Reads the skill that a path in a clone leads to.
 * @throws SetupError
 */
export async function loadSkillAt(path: string, clone: Clone, root: string): Promise<Skill> {
  const file = await findFirstFile(root, [path]);
  if (file === undefined) throw new SetupError(`skill ${formatName(clone)}:${path}: ${describeMissing(clone)}`);
  return readSkillFile(file, { clone, root });
}

/** `root` is the clone's directory. */
async function readSkillFile(file: string, { clone, root }: { readonly clone: Clone; readonly root: string }) {
  const path = relative(root, file).split(sep);
  const id = `${formatName(clone)}:${path.join("/")}`;
  await using opened = await openInside(root, file);
  if (opened.sizeBytes > SKILL_BYTES) throw new SetupError(`skill ${id}: is larger than ${SKILL_BYTES} bytes`);
  const { matter, body } = splitFrontMatter(await readFile(opened.path, "utf8"));
  const { name, description } = matter === undefined ? {} : await readMatter(matter);
  return {
    name: name ?? path.at(-2) ?? path.join("/"),
    ...(description === undefined ? {} : { description }),
    id,
    body,
  };
}

function listCandidates(place: string): string[] {
  if (place.endsWith(".md")) return [place];
  const byName = place.includes("/") ? [] : SKILL_FOLDERS.map((folder) => join(folder, place, "SKILL.md"));
  return [...byName, join(place, "SKILL.md")];
}

/** Finds the first of these files that exists inside the clone after links are resolved. */
async function findFirstFile(root: string, candidates: readonly string[]): Promise<string | undefined> {
  for (const candidate of candidates) {
    const file = await realpath(join(root, candidate)).catch(() => undefined);
    if (file?.startsWith(root + sep) && (await stat(file)).isFile()) return file;
  }
  return undefined;
}

async function listSkillNames(root: string): Promise<string[]> {
  const found = await Promise.all(SKILL_FOLDERS.map((folder) => readdir(join(root, folder)).catch(() => [])));
  return [...new Set(found.flat())].sort();
}

/** The instructions are usable whatever the front matter is, so its errors are for the list of skills alone. */
async function readMatter(matter: string): Promise<{ readonly name?: string; readonly description?: string }> {
  // Loaded on demand, so that a run without skills starts faster.
  const { readFrontMatter } = await import("#shared/wire/skills/front-matter.ts");
  return readFrontMatter(matter);
}

const describeMissing = (clone: Clone) => `${formatName(clone)} has no such skill`;
const formatName = (clone: Clone) => `${clone.owner}/${clone.name}`;
const formatList = (what: string, names: readonly string[]) => `${what}: ${names.slice(0, 20).join(", ") || "none"}`;
