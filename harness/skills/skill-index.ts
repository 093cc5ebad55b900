import { lstat, readdir, realpath } from "node:fs/promises";
import { join } from "node:path";
import { inSkillOrder, isSkillPath, MAX_SKILLS, SKILL_FOLDERS } from "#shared/wire/skills/skill-file.ts";
import type { Clone } from "../git/clone.ts";
import { formatError } from "../support/stop.ts";
import { cutBytes, toWellFormed } from "../support/text-limits.ts";
import { loadSkill, loadSkillAt, type Skill } from "./skills.ts";

/** A skill that the agent can load on demand. */
export interface SkillEntry {
  /** `owner/repo:path/to/SKILL.md` */
  readonly id: string;
  readonly name: string;
  readonly description: string;
}

/** The skills of the repositories. */
export interface SkillIndex {
  readonly skills: readonly SkillEntry[];
  /** Why skills cannot be used, such as `skill acme/shop:.agents/skills/fix/SKILL.md: is larger than 262144 bytes`. */
  readonly unusable: readonly string[];
}

/** The longest description in the list. */
const DESCRIPTION_BYTES = 500;
const NAME_BYTES = 128;
const PROBLEM_BYTES = 500;

/** Lists the skills of the repositories. */
export async function listSkills(clones: readonly Clone[], workspace: string): Promise<SkillIndex> {
  const lists = (await Promise.all(clones.map((clone) => findSkills(clone, workspace)))).flat();
  return {
    skills: lists.flatMap((one) => (typeof one === "string" ? [] : [one])).slice(0, MAX_SKILLS),
    unusable: lists.filter((one) => typeof one === "string").slice(0, MAX_SKILLS),
  };
}

/** Reads the body of a listed skill. @throws SetupError when it no longer exists */
export async function readSkill(id: string, clones: readonly Clone[], workspace: string): Promise<string> {
  return (await loadSkill(id, clones, workspace)).body;
}

/** The skills of a repository, each as its entry or as the reason why it cannot be used. */
async function findSkills(clone: Clone, workspace: string): Promise<(SkillEntry | string)[]> {
  const root = await realpath(join(workspace, clone.path)).catch(() => undefined);
  if (root === undefined) return [];
  const entries: (SkillEntry | string)[] = [];
  for (const path of (await findPaths(root)).slice(0, MAX_SKILLS)) {
    try {
      const skill = await loadSkillAt(path, clone, root);
      entries.push(skill.body.trim() === "" ? `skill ${skill.id}: has no instructions` : toEntry(skill));
    } catch (error) {
      entries.push(toOneLine(formatError(error), PROBLEM_BYTES));
    }
  }
  return entries;
}

async function findPaths(root: string): Promise<string[]> {
  const found = SKILL_FOLDERS.map(async (folder) => {
    const names = await readdir(join(root, folder)).catch(() => []);
    const paths = names.map((name) => `${folder}/${name}/SKILL.md`).filter(isSkillPath);
    // A directory without the file is no skill; a link to elsewhere is one that cannot be used.
    const present = await Promise.all(paths.map((path) => isPresent(join(root, path))));
    return paths.filter((_, index) => present[index]);
  });
  return (await Promise.all(found)).flat().sort(inSkillOrder);
}

const isPresent = (path: string): Promise<boolean> =>
  lstat(path).then(
    () => true,
    () => false,
  );

const toEntry = ({ id, name, description = "" }: Skill): SkillEntry => ({
  id,
  name: toOneLine(name, NAME_BYTES),
  description: toOneLine(description, DESCRIPTION_BYTES),
});

const toOneLine = (text: string, bytes: number): string =>
  cutBytes(toWellFormed(text).replace(/\s+/g, " ").trim(), bytes);
