interface Replacement {
  readonly old_text?: string;
  readonly new_text?: string;
  readonly replace_all?: boolean;
}

/** The most lines, and characters of each, that the model gets of a change or of the nearest lines. */
const MAX_SHOWN_LINES = 40;
const SHOWN_CHARACTERS = 300;

/** Each line includes its line break; the last may have none. */
export const splitLines = (content: string): string[] => content.match(/[^\n]*\n|[^\n]+$/g) ?? [];

/** Replaces a text, and names what was ignored to find it. The number of the edit begins each error. */
export function replaceText(whole: string, edit: Replacement, number: string): { text: string; tolerance?: string } {
  const { old_text = "", new_text = "", replace_all = false } = edit;
  if (old_text === "") throw new Error(`${number}old_text is empty`);
  const found = findText(whole, old_text);
  if (found === undefined) throw new Error(`${number}old_text was not found: ${describeNearest(whole, old_text)}`);
  const { spans, tolerance } = found;
  if (spans.length > 1 && !replace_all) {
    const lines = spans.slice(0, 10).map(({ start }) => whole.slice(0, start).split("\n").length);
    const where = `at lines ${lines.join(", ")}${spans.length > 10 ? ", …" : ""}`;
    throw new Error(`${number}old_text occurs ${spans.length} times, ${where}: include more of the surrounding text`);
  }
  let text = "";
  let end = 0;
  for (const span of spans) {
    const original = whole.slice(span.start, span.end);
    text += whole.slice(end, span.start) + (tolerance === undefined ? new_text : adapt(new_text, old_text, original));
    end = span.end;
  }
  return { text: text + whole.slice(end), ...(tolerance === undefined ? {} : { tolerance }) };
}

type Span = Readonly<Record<"start" | "end", number>>;

const toPlainCharacters = (line: string): string =>
  line
    .replace(/[\u2018\u2019\u201a\u201b]/g, "'")
    .replace(/[\u201c-\u201f]/g, '"')
    .replace(/[\u2010-\u2015\u2212]/g, "-")
    .replace(/[\u00a0\u2002-\u200a\u202f\u3000]/g, " ");

/** What models get wrong when they repeat a text, from the most exact comparison of lines to the least. */
const TOLERANCES = [
  { name: "white space at line ends", normalize: (line: string) => line.trimEnd() },
  { name: "indentation", normalize: (line: string) => line.trim() },
  {
    name: "quotes, dashes and white space",
    normalize: (line: string) => toPlainCharacters(line).replace(/\s+/g, " ").trim(),
  },
];

/** Finds a text exactly, or else whole lines that are equal to its lines by the first tolerance that finds any. */
function findText(whole: string, part: string): { spans: Span[]; tolerance?: string } | undefined {
  const exact = findPlaces(whole, part).map((start) => ({ start, end: start + part.length }));
  if (exact.length > 0) return { spans: exact };
  const lines = splitLines(whole);
  const wanted = splitLines(part);
  for (const { name, normalize } of TOLERANCES) {
    const spans = findLines(lines.map(normalize), wanted.map(normalize)).map((at) =>
      toSpan(lines, at, wanted.length, part),
    );
    if (spans.length > 0) return { spans, tolerance: name };
  }
  return undefined;
}

/** The positions of these lines, which do not overlap. Blank lines alone are found nowhere. */
function findLines(lines: readonly string[], wanted: readonly string[]): number[] {
  if (wanted.every((line) => line === "")) return [];
  const found: number[] = [];
  for (let at = 0; at + wanted.length <= lines.length; at++) {
    if (!wanted.every((line, index) => lines[at + index] === line)) continue;
    found.push(at);
    at += wanted.length - 1;
  }
  return found;
}

/** The last line break belongs to the span only if the text that was looked for ends with one. */
function toSpan(lines: readonly string[], at: number, count: number, part: string): Span {
  const start = lines.slice(0, at).join("").length;
  const text = lines.slice(at, at + count).join("");
  return { start, end: start + (part.endsWith("\n") ? text : text.replace(/\r?\n$/, "")).length };
}

/** Gives a new text the indentation and the line breaks of the original where the old text differs from it. */
function adapt(text: string, old: string, original: string): string {
  const [wrong, right] = [old, original].map((one) => /^[ \t]*(?=\S)/m.exec(one)?.[0] ?? "");
  const indented =
    wrong === undefined || right === undefined || wrong === right
      ? text
      : splitLines(text)
          .map((line) => (line.trim() !== "" && line.startsWith(wrong) ? right + line.slice(wrong.length) : line))
          .join("");
  return original.includes("\r\n") ? indented.replace(/\r?\n/g, "\r\n") : indented;
}

/** Shows the lines that have the most in common with a text that was not found. */
function describeNearest(whole: string, part: string): string {
  const lines = splitLines(whole);
  const wanted = new Set(
    splitLines(part)
      .map((line) => toPlainCharacters(line).trim())
      .filter((line) => line !== ""),
  );
  const count = Math.min(splitLines(part).length, MAX_SHOWN_LINES);
  const isWanted = lines.map((line) => wanted.has(toPlainCharacters(line).trim()));
  let best = { at: 0, score: 0 };
  for (let at = 0; at < lines.length; at++) {
    const score = isWanted[at] === true ? isWanted.slice(at, at + count).filter(Boolean).length : 0;
    if (score > best.score) best = { at, score };
  }
  if (best.score === 0) return "no line of it is in the file. Read the file again";
  return `the nearest lines are\n${numberLines(lines.slice(best.at, best.at + count), best.at + 1)}`;
}

/** Formats lines with their numbers, as many as may be shown. */
export function numberLines(lines: readonly string[], first: number): string {
  const shown = lines
    .slice(0, MAX_SHOWN_LINES)
    .map((line, index) => `${first + index}\t${line.replace(/\r?\n$/, "")}`.slice(0, SHOWN_CHARACTERS));
  return [...shown, ...(lines.length > shown.length ? [`… ${lines.length - shown.length} more lines`] : [])].join("\n");
}

function findPlaces(whole: string, part: string): number[] {
  const places: number[] = [];
  for (let at = whole.indexOf(part); at >= 0; at = whole.indexOf(part, at + part.length)) places.push(at);
  return places;
}
