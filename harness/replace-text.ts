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
  if (old_text === new_text) throw new Error(`${number}old_text and new_text are the same, so nothing would change`);
  const found = findEdit(whole, { old: old_text, new: new_text });
  if (found === undefined) throw new Error(`${number}old_text was not found: ${describeNearest(whole, old_text)}`);
  const { spans, tolerance, texts } = found;
  if (spans.length > 1 && !replace_all) {
    const lines = spans.slice(0, 10).map(({ start }) => whole.slice(0, start).split("\n").length);
    const where = `at lines ${lines.join(", ")}${spans.length > 10 ? ", …" : ""}`;
    throw new Error(`${number}old_text occurs ${spans.length} times, ${where}: include more of the surrounding text`);
  }
  let text = "";
  let end = 0;
  for (const span of spans) {
    const original = whole.slice(span.start, span.end);
    text += whole.slice(end, span.start) + keepLineBreaks(found.isExact ? texts.new : adapt(texts, original), whole);
    end = span.end;
  }
  return { text: text + whole.slice(end), ...(tolerance === undefined ? {} : { tolerance }) };
}

interface Texts {
  readonly old: string;
  readonly new: string;
}

const LINE_NUMBER = /^[ ]*\d+\t/;

/** What models add to a text that they repeat: the line numbers of results, and escapes as in JSON. */
const ADDITIONS: readonly { readonly name: string; readonly remove: (texts: Texts) => Texts | undefined }[] = [
  {
    name: "line numbers",
    remove(texts) {
      const lines = splitLines(texts.old);
      if (!lines.every((line) => LINE_NUMBER.test(line))) return undefined;
      const clean = (text: string) =>
        splitLines(text)
          .map((line) => line.replace(LINE_NUMBER, ""))
          .join("");
      return { old: clean(texts.old), new: clean(texts.new) };
    },
  },
  {
    name: "escapes",
    remove(texts) {
      if (`${texts.old}${texts.new}`.includes("\n") || !/\\[nt"']/.test(texts.old)) return undefined;
      const clean = (text: string) =>
        text.replace(/\\([nt"'\\])/g, (_, character: string) => ESCAPES[character] ?? character);
      return { old: clean(texts.old), new: clean(texts.new) };
    },
  },
];
const ESCAPES: Readonly<Record<string, string>> = { n: "\n", t: "\t" };

interface FoundEdit {
  readonly spans: readonly Span[];
  readonly texts: Texts;
  readonly isExact: boolean;
  readonly tolerance?: string;
}

/** Finds the old text as it is, or else without what models add to it. */
function findEdit(whole: string, texts: Texts): FoundEdit | undefined {
  const found = findText(whole, texts.old);
  if (found !== undefined) return { texts, isExact: found.tolerance === undefined, ...found };
  for (const { name, remove } of ADDITIONS) {
    const cleaned = remove(texts);
    const place = cleaned === undefined || cleaned.old === "" ? undefined : findText(whole, cleaned.old);
    if (cleaned === undefined || place === undefined) continue;
    const tolerance = [name, ...(place.tolerance === undefined ? [] : [place.tolerance])].join(", ");
    return { ...place, texts: cleaned, isExact: place.tolerance === undefined, tolerance };
  }
  return undefined;
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
  // A text that begins within the indentation of a line has another one than the file, which its new lines must not get.
  const isShifted = exact.every(({ start }) => isWithinIndentation(whole, start));
  if (exact.length > 0 && !isShifted) return { spans: exact };
  const lines = splitLines(whole);
  const partLines = splitLines(part);
  for (const { name, normalize } of TOLERANCES) {
    const spans = findLines(lines.map(normalize), partLines.map(normalize)).map((at) =>
      toSpan(lines, at, partLines.length, part),
    );
    if (spans.length > 0) return { spans, tolerance: name };
  }
  return exact.length > 0 ? { spans: exact } : undefined;
}

/** Whether white space precedes the position in its line, and follows it. */
const isWithinIndentation = (whole: string, position: number): boolean =>
  /^[ \t]/.test(whole.slice(position)) && /(?:^|\n)[ \t]+$/.test(whole.slice(0, position));

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

/** Writes a new text like the original: lines that did not change as they are there, others with its indentation and its line breaks. */
function adapt({ old, new: text }: Texts, original: string): string {
  const toLines = (one: string) => splitLines(one).map(toContent);
  const [before, after, found] = [toLines(old), toLines(text), toLines(original)];
  // The original has no last line where that is empty.
  const pairs = before.map((line, index) => ({ old: line, original: found[index] ?? "" }));
  const { first, last } = countEqualLines(before, after);
  const originalLines = pairs.map((pair) => pair.original);
  const lines = [
    ...originalLines.slice(0, first),
    ...after.slice(first, after.length - last).map(createReindent(pairs)),
    ...originalLines.slice(before.length - last),
  ];
  const lineBreak = original.includes("\r\n") ? "\r\n" : "\n";
  return lines.join(lineBreak) + (text.endsWith("\n") ? lineBreak : "");
}

/** Counts the lines at the beginning of two texts, and then at their end, that are equal. */
export function countEqualLines(
  before: readonly string[],
  after: readonly string[],
): { readonly first: number; readonly last: number } {
  const shorter = Math.min(before.length, after.length);
  let first = 0;
  while (first < shorter && before[first] === after[first]) first++;
  let last = 0;
  while (last < shorter - first && before.at(-1 - last) === after.at(-1 - last)) last++;
  return { first, last };
}

/** Where all lines of a file end with CRLF, those of a new text do too. */
const keepLineBreaks = (text: string, whole: string): string =>
  whole.includes("\r\n") && !/(?<!\r)\n/.test(whole) ? text.replace(/\r?\n/g, "\r\n") : text;

const toContent = (line: string): string => line.replace(/\r?\n$/, "");
const toIndentation = (line: string): string => /^[ \t]*/.exec(line)?.[0] ?? "";

/** Creates the conversion of a line that is indented like the old lines to one that is indented like the original ones. */
function createReindent(pairs: readonly { readonly old: string; readonly original: string }[]) {
  const known = pairs.flatMap(({ old, original }) =>
    old.trim() === "" ? [] : [{ old: toIndentation(old), original: toIndentation(original) }],
  );
  const isTabs = known.some(({ original }) => original.includes("\t"));
  const unit = {
    old: findUnit(known.map(({ old }) => old)),
    original: findUnit(known.map(({ original }) => original)),
  };
  /** Converts the indentation beyond that of a known line. */
  const convert = (rest: string): string => {
    if (isTabs && /^ +$/.test(rest)) return "\t".repeat(Math.ceil(rest.length / (unit.old ?? DEFAULT_UNIT)));
    if (!isTabs && /^\t+$/.test(rest)) return " ".repeat(rest.length * (unit.original ?? DEFAULT_UNIT));
    if (unit.old === undefined || unit.original === undefined || rest.length % unit.old !== 0) return rest;
    return rest.charAt(0).repeat((rest.length / unit.old) * unit.original);
  };
  return (line: string): string => {
    const indentation = toIndentation(line);
    if (indentation === line) return line;
    const candidates = known.filter(({ old }) => indentation.startsWith(old));
    const [nearest] = candidates.toSorted((a, b) => b.old.length - a.old.length);
    if (nearest === undefined) return line;
    return nearest.original + convert(indentation.slice(nearest.old.length)) + line.slice(indentation.length);
  };
}

/** The indentation of one level where no lines show it. */
const DEFAULT_UNIT = 4;

/** The smallest difference of the indentations, if there are several. */
function findUnit(indentations: readonly string[]): number | undefined {
  const lengths = [...new Set(indentations.map(({ length }) => length))].toSorted((a, b) => a - b);
  const steps = lengths.slice(1).map((length, index) => length - (lengths[index] ?? 0));
  return steps.length === 0 ? undefined : Math.min(...steps);
}

/** Shows the lines that have the most in common with a text that was not found. */
function describeNearest(whole: string, part: string): string {
  const lines = splitLines(whole);
  const partLines = new Set(
    splitLines(part)
      .map((line) => toPlainCharacters(line).trim())
      .filter((line) => line !== ""),
  );
  const count = Math.min(splitLines(part).length, MAX_SHOWN_LINES);
  const isWanted = lines.map((line) => partLines.has(toPlainCharacters(line).trim()));
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
  const numbered = lines
    .slice(0, MAX_SHOWN_LINES)
    .map((line, index) => `${first + index}\t${line.replace(/\r?\n$/, "")}`.slice(0, SHOWN_CHARACTERS));
  return [
    ...numbered,
    ...(lines.length > numbered.length ? [`… ${lines.length - numbered.length} more lines`] : []),
  ].join("\n");
}

function findPlaces(whole: string, part: string): number[] {
  const places: number[] = [];
  for (let at = whole.indexOf(part); at >= 0; at = whole.indexOf(part, at + part.length)) places.push(at);
  return places;
}
