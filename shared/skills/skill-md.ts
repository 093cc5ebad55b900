import { isMap, isScalar, LineCounter, type ParsedNode, parseDocument, type YAMLMap } from "yaml";
import type { SkillFile } from "#shared/wire/scan.ts";
import { splitFrontMatter } from "#shared/wire/skills/skill-file.ts";
import type { Skill } from "./skill.ts";

/** Bytes of front matter; a name and a description are some hundred. */
const MATTER_BYTES = 16 * 1024;
/** Characters of a name and of a description. */
const MAX_CHARACTERS = { name: 256, description: 4096 } as const;

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
  const { name, description, error } = matter === undefined ? { error: unopened(text) } : readMatter(matter);
  return {
    path,
    sha,
    name: name ?? directory,
    description: description ?? "",
    base_prompt: body.trim(),
    ...(error === undefined ? {} : { error }),
  };
}

interface Matter {
  readonly name?: string;
  readonly description?: string;
  readonly error?: string;
}

const unopened = (text: string): string =>
  /^\uFEFF?---[ \t]*\r?\n/.test(text)
    ? "line 1: the front matter that begins here is not closed by another ---"
    : "line 1: there is no front matter; the file must begin with --- and a name and a description";

/** The front matter begins in the second line of its file. */
const inLine = (line: number, what: string): string => `line ${line + 1}: ${what}`;

function readMatter(matter: string): Matter {
  if (Buffer.byteLength(matter) > MATTER_BYTES) {
    return { error: `line 1: the front matter is larger than ${MATTER_BYTES} bytes` };
  }
  const lines = new LineCounter();
  try {
    const { contents, errors } = parseDocument(matter, { lineCounter: lines, prettyErrors: false, logLevel: "error" });
    const [first] = errors;
    if (first !== undefined) {
      // An unclosed quote is noticed behind the last line.
      const line = Math.min(Math.max(1, lines.linePos(first.pos[0]).line), countLines(matter));
      return { error: inLine(line, `the front matter is not YAML: ${first.message.split("\n")[0]}`) };
    }
    if (!isMap(contents)) return { error: inLine(0, "the front matter must have a name and a description") };
    return readMembers(contents, lines);
  } catch {
    // For example, nested too deeply.
    return { error: "line 1: the front matter is not YAML" };
  }
}

function readMembers(map: YAMLMap.Parsed, lines: LineCounter): Matter {
  const name = readText(map, "name", lines);
  const description = readText(map, "description", lines);
  const errors = [name.error, description.error].filter((error) => error !== undefined);
  return {
    ...(name.text === undefined ? {} : { name: name.text }),
    ...(description.text === undefined ? {} : { description: description.text }),
    ...(errors.length === 0 ? {} : { error: errors.join("; ") }),
  };
}

/** A member as text. What is no text is an error in the line where it stands. */
function readText(
  map: YAMLMap.Parsed,
  member: "name" | "description",
  lines: LineCounter,
): { readonly text?: string; readonly error?: string } {
  const pair = map.items.find(({ key }) => isScalar(key) && key.value === member);
  if (pair === undefined) return { error: inLine(0, `${member} is missing`) };
  const line = Math.max(1, lines.linePos(startOf(pair.key)).line);
  const value = isScalar(pair.value) ? pair.value.value : undefined;
  if (typeof value !== "string") return { error: inLine(line, `${member} must be text`) };
  const text = value.trim();
  if (text === "") return { error: inLine(line, `${member} is empty`) };
  const most = MAX_CHARACTERS[member];
  return [...text].length > most ? { error: inLine(line, `${member} has more than ${most} characters`) } : { text };
}

const startOf = (node: ParsedNode): number => node.range[0];
const countLines = (text: string): number => text.replace(/\n$/, "").split("\n").length;
