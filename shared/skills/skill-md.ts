import type { SkillFile } from "#shared/wire/scan.ts";
import { readFrontMatter } from "#shared/wire/skills/front-matter.ts";
import { splitFrontMatter } from "#shared/wire/skills/skill-file.ts";
import type { Skill } from "./skill.ts";

/**
 * Parses a SKILL.md. A malformed one has the name of its directory, and `error` says what is wrong with it and in which
 * line of the file.
 */
export function parseSkill({ path, sha, text, problem }: SkillFile): Skill {
  const directory = path.split("/").at(-2) ?? path;
  if (text === undefined) {
    const error = `SKILL.md ${problem ?? "could not be read"}`;
    // Without the hash of its content, it is read again the next time.
    return { path, sha: "", name: directory, description: "", base_prompt: "", error };
  }
  const { matter, body } = splitFrontMatter(text);
  const { name, description, error } = matter === undefined ? { error: unopened(text) } : readFrontMatter(matter);
  return {
    path,
    sha,
    name: name ?? directory,
    description: description ?? "",
    base_prompt: body.trim(),
    ...(error === undefined ? {} : { error }),
  };
}

const unopened = (text: string): string =>
  /^\uFEFF?---[ \t]*\r?\n/.test(text)
    ? "line 1: the front matter that begins here is not closed by another ---"
    : "line 1: there is no front matter; the file must begin with --- and a name and a description";
