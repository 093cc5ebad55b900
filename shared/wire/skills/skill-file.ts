// The format of skills in repositories, shared by the control plane and the harness.

import { withoutUser } from "../repository-url.ts";

/** The folders with skills, as `<folder>/<name>/SKILL.md`, in search order. The last one is that of collections of skills. */
export const SKILL_FOLDERS = [
  ".agents/skills",
  ".claude/skills",
  ".codex/skills",
  ".cursor/skills",
  ".gemini/skills",
  ".github/skills",
  ".warp/skills",
  "skills",
];

/** The number of skills that are read from one repository. */
export const MAX_SKILLS = 200;
/** The size limit of a SKILL.md file in bytes, in lists and for runs. */
export const SKILL_BYTES = 256 * 1024;
/** The size limit of all skills of a repository in bytes. */
export const SKILLS_BYTES = 2 * 1024 * 1024;

/** Whether a path in a repository, with slashes, is the path of a skill. */
export function isSkillPath(path: string): boolean {
  const [, folder] = /^(.+)\/[^/]+\/SKILL\.md$/s.exec(path) ?? [];
  return folder !== undefined && SKILL_FOLDERS.includes(folder);
}

/** Compares paths of skills by search order: by folder, then by name. */
export function inSkillOrder(a: string, b: string): number {
  const folder = (path: string) => SKILL_FOLDERS.indexOf(path.split("/").slice(0, -2).join("/"));
  return folder(a) - folder(b) || (a < b ? -1 : a > b ? 1 : 0);
}

/** Splits a text into its front matter, if it has one, and the Markdown after it. */
export function splitFrontMatter(text: string): { readonly matter?: string; readonly body: string } {
  const opening = /^\uFEFF?---[ \t]*\r?\n/.exec(text)?.[0];
  if (opening === undefined) return { body: text };
  // Sticky and line by line, so that the time is linear in the length whatever the text is.
  const closing = /---[ \t]*(?:\r?\n|$)/y;
  for (let line = opening.length; line < text.length; line = text.indexOf("\n", line) + 1 || text.length) {
    closing.lastIndex = line;
    if (closing.test(text)) return { matter: text.slice(opening.length, line), body: text.slice(closing.lastIndex) };
  }
  return { body: text };
}

/** Owner and name of a repository: the last two segments of its URL, without the user; a file URL has them too. */
export function parseRepositoryIdentity(url: string): { readonly owner: string; readonly name: string } {
  const segments = withoutUser(url)
    .replace(/[?#].*$/s, "")
    .replace(/(?<!\/)\/+$/, "")
    .replace(/\/?\.git$/, "")
    .split(/[/:]+/);
  return { owner: segments.at(-2) ?? "", name: segments.at(-1) ?? "" };
}
