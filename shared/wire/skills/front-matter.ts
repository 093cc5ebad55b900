import { isMap, isScalar, LineCounter, type ParsedNode, parseDocument, type YAMLMap } from "yaml";

/** Bytes of front matter that are parsed as YAML; a name and a description are some hundred. */
const MATTER_BYTES = 16 * 1024;
/** Characters of a name and of a description. */
const MAX_CHARACTERS = { name: 256, description: 4096 } as const;

/** What a skill says of itself. `error` says what is wrong with it, and in which line of the file. */
export interface FrontMatter {
  readonly name?: string;
  readonly description?: string;
  readonly error?: string;
}

/**
 * Reads the name and the description from the front matter of a SKILL.md. About a quarter of the skills that people publish
 * have front matter that YAML refuses, such as an unquoted description with a colon. It is valid where both members can be read
 * from the lines that begin with their names.
 */
export function readFrontMatter(matter: string): FrontMatter {
  const parsed = parseYaml(matter);
  if ("members" in parsed) return parsed.members;
  const name = readLines(matter, "name");
  const description = readLines(matter, "description");
  const isReadable = /^[\p{L}\p{N}][\p{L}\p{N} ._-]*$/u.test(name) && !/^(?:["']|$)/.test(description);
  if (!isReadable) return { error: parsed.error };
  return collect(
    checkText({ member: "name", value: name, line: findLine(matter, "name") }),
    checkText({ member: "description", value: description, line: findLine(matter, "description") }),
  );
}

type Member = keyof typeof MAX_CHARACTERS;

/** The front matter begins in the second line of its file. */
const inLine = (line: number, what: string): string => `line ${line + 1}: ${what}`;

function parseYaml(matter: string): { readonly members: FrontMatter } | { readonly error: string } {
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
    return { members: collect(readMember(contents, "name", lines), readMember(contents, "description", lines)) };
  } catch {
    // For example, nested too deeply.
    return { error: "line 1: the front matter is not YAML" };
  }
}

type Text = { readonly text: string } | { readonly error: string };

const collect = (name: Text, description: Text): FrontMatter => {
  const errors = [name, description].flatMap((one) => ("error" in one ? [one.error] : []));
  return {
    ...("text" in name ? { name: name.text } : {}),
    ...("text" in description ? { description: description.text } : {}),
    ...(errors.length === 0 ? {} : { error: errors.join("; ") }),
  };
};

/** A member as text; a number, a date and the like is what is written. Anything else is an error in the line where it stands. */
function readMember(map: YAMLMap.Parsed, member: Member, lines: LineCounter): Text {
  const pair = map.items.find(({ key }) => isScalar(key) && key.value === member);
  if (pair === undefined) return { error: inLine(0, `${member} is missing`) };
  const line = Math.max(1, lines.linePos(startOf(pair.key)).line);
  if (!isScalar(pair.value)) return { error: inLine(line, `${member} must be text`) };
  const { value, source = "" } = pair.value;
  return checkText({ member, value: typeof value === "string" ? value : source, line });
}

function checkText({ member, value, line }: { member: Member; value: string; line: number }): Text {
  const text = value.trim();
  if (text === "") return { error: inLine(line, `${member} is empty`) };
  const most = MAX_CHARACTERS[member];
  return [...text].length > most ? { error: inLine(line, `${member} has more than ${most} characters`) } : { text };
}

/**
 * The text after the name of a member, with the indented lines that follow: folded as YAML folds them, so that a line break is a space
 * and an empty line is a line break.
 */
function readLines(matter: string, member: Member): string {
  const lines = matter.split(/\r?\n/).slice(Math.max(0, findLine(matter, member) - 1));
  const [first = ""] = lines;
  if (!first.startsWith(`${member}:`)) return "";
  const end = lines.findIndex((line, index) => index > 0 && /^\S/.test(line));
  const value = first.slice(member.length + 1).trim();
  const opening = /^[|>][-+\d]*$/.test(value) ? "" : value;
  const text = [opening, ...lines.slice(1, end === -1 ? undefined : end).map((line) => line.trim())]
    .join("\n")
    .trim()
    .replace(/\n+/g, (breaks) => (breaks.length === 1 ? " " : breaks.slice(1)));
  return /^(["'])(.*)\1$/s.exec(text)?.[2] ?? text;
}

/** The line of the front matter in which a member begins; 0 if none does. */
const findLine = (matter: string, member: Member): number =>
  matter.split(/\r?\n/).findIndex((line) => line.startsWith(`${member}:`)) + 1;

const startOf = (node: ParsedNode): number => node.range[0];
const countLines = (text: string): number => text.replace(/\n$/, "").split("\n").length;
