import { lstat, readdir, readFile, realpath } from "node:fs/promises";
import { join, sep } from "node:path";
import { inSkillOrder, isSkillPath, MAX_SKILLS, SKILL_BYTES, SKILL_FOLDERS } from "#shared/wire/skills/skill-file.ts";
import type { Clone } from "../git/clone.ts";
import { cutBytes, toWellFormed } from "../support/text-limits.ts";
import { loadSkill, type Skill } from "./skills.ts";

/** A skill that the agent can load on demand. */
export interface SkillEntry {
  /** `owner/repo:path/to/SKILL.md` */
  readonly id: string;
  readonly name: string;
  readonly description: string;
}

/** The longest description in the list. */
const DESCRIPTION_BYTES = 500;
const NAME_BYTES = 128;

/** Lists the skills of the repositories. Skills that cannot be read are omitted. */
export async function listSkills(clones: readonly Clone[], workspace: string): Promise<SkillEntry[]> {
  const lists = await Promise.all(clones.map((clone) => findSkills(clone, workspace)));
  return lists.flat().slice(0, MAX_SKILLS);
}

/** Reads the body of a listed skill. @throws SetupError when it no longer exists */
export async function readSkill(id: string, clones: readonly Clone[], workspace: string): Promise<string> {
  return (await loadSkill(id, clones, workspace)).body;
}

async function findSkills(clone: Clone, workspace: string): Promise<SkillEntry[]> {
  const root = await realpath(join(workspace, clone.path)).catch(() => undefined);
  if (root === undefined) return [];
  const entries: SkillEntry[] = [];
  for (const path of (await findPaths(root)).slice(0, MAX_SKILLS)) {
    const skill = await loadSkill(`${clone.owner}/${clone.name}:${path}`, [clone], workspace).catch(() => undefined);
    if (skill !== undefined) entries.push(toEntry(skill));
  }
  return entries;
}

async function findPaths(root: string): Promise<string[]> {
  const found = SKILL_FOLDERS.map(async (folder) => {
    const names = await readdir(join(root, folder, "skills")).catch(() => []);
    return names.map((name) => `${folder}/skills/${name}/SKILL.md`);
  });
  const paths = (await Promise.all(found)).flat().filter(isSkillPath).sort(inSkillOrder);
  const listed = await Promise.all(paths.map((path) => isListed(root, path)));
  return paths.filter((_, index) => listed[index]);
}

async function isListed(root: string, path: string): Promise<boolean> {
  const file = await realpath(join(root, path)).catch(() => undefined);
  if (file === undefined || !file.startsWith(root + sep)) return false;
  const stats = await lstat(file);
  return stats.isFile() && stats.size <= SKILL_BYTES && (await readFile(file)).length > 0;
}

const toEntry = ({ id, name, description = "" }: Skill): SkillEntry => ({
  id,
  name: toOneLine(name, NAME_BYTES),
  description: toOneLine(description, DESCRIPTION_BYTES),
});

const toOneLine = (text: string, bytes: number): string =>
  cutBytes(toWellFormed(text).replace(/\s+/g, " ").trim(), bytes);
