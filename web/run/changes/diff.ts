export interface DiffLine {
  /** `gap` is the header of a hunk, which follows lines that are not in the diff. */
  readonly kind: "add" | "remove" | "same" | "gap";
  readonly text: string;
  /** The number of the line before and after the change, where it has one. */
  readonly before?: number | undefined;
  readonly after?: number | undefined;
}

export interface FileDiff {
  readonly path: string;
  readonly change: "changed" | "created" | "deleted";
  readonly lines: readonly DiffLine[];
  readonly added: number;
  readonly removed: number;
}

const KINDS: Readonly<Record<string, DiffLine["kind"]>> = { "+": "add", "-": "remove", " ": "same" };
const NOTHING = "/dev/null";
const HUNK = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/;

interface Draft {
  readonly before: string;
  readonly after: string;
  readonly lines: DiffLine[];
  /** The numbers of the next lines. */
  next: { before: number; after: number };
}

/** Splits a unified diff into its files. Lines before the first file are left out. */
export function parseDiff(diff: string): FileDiff[] {
  const files: Draft[] = [];
  const lines = diff.split("\n");
  lines.forEach((line, index) => {
    const next = lines[index + 1] ?? "";
    if (line.startsWith("--- ") && next.startsWith("+++ ")) {
      files.push({ before: parsePath(line), after: parsePath(next), lines: [], next: { before: 1, after: 1 } });
      return;
    }
    const isHeader = line.startsWith("+++ ") && (lines[index - 1] ?? "").startsWith("--- ");
    const file = files.at(-1);
    if (file === undefined || isHeader || line.startsWith("diff --git ") || line.startsWith("index ")) return;
    addLine(file, line);
  });
  return files.map(({ before, after, lines: changed }) => ({
    path: after === NOTHING ? before : after,
    change: before === NOTHING ? "created" : after === NOTHING ? "deleted" : "changed",
    lines: changed,
    added: changed.filter(({ kind }) => kind === "add").length,
    removed: changed.filter(({ kind }) => kind === "remove").length,
  }));
}

function addLine(file: Draft, line: string): void {
  if (line.startsWith("@@")) {
    const [, before, after] = HUNK.exec(line) ?? [];
    if (before !== undefined) file.next = { before: Number(before), after: Number(after) };
    file.lines.push({ kind: "gap", text: line });
    return;
  }
  const kind = KINDS[line.charAt(0)];
  if (kind === undefined) return;
  const { before, after } = file.next;
  file.lines.push({
    kind,
    text: line.slice(1),
    ...(kind === "add" ? {} : { before }),
    ...(kind === "remove" ? {} : { after }),
  });
  file.next = { before: before + (kind === "add" ? 0 : 1), after: after + (kind === "remove" ? 0 : 1) };
}

/** The path of a header line, without the prefix that Git adds and without a time. */
function parsePath(line: string): string {
  const path = line.slice(4).split("\t", 1)[0] ?? "";
  return path === NOTHING ? path : path.replace(/^[ab]\//, "");
}

/** The file's part of the diff, as `git apply` reads it. */
export const toPatch = ({ path, change, lines }: FileDiff): string =>
  [
    change === "created" ? "--- /dev/null" : `--- a/${path}`,
    change === "deleted" ? "+++ /dev/null" : `+++ b/${path}`,
    ...lines.map(({ kind, text }) => `${SIGNS[kind]}${text}`),
    "",
  ].join("\n");

const SIGNS: Readonly<Record<DiffLine["kind"], string>> = { add: "+", remove: "-", same: " ", gap: "" };

/** Unchanged lines around a change that are always shown, and how many more make a fold worth it. */
const CONTEXT = 3;
const MIN_FOLD = 4;

/** The lines by place, or a fold of unchanged lines. */
export type DiffPart = { readonly line: number } | { readonly from: number; readonly to: number };

/** Folds unchanged lines far from any change. `open` are the first lines of folds that the viewer has opened. */
export function foldContext(lines: readonly DiffLine[], open: ReadonlySet<number>): DiffPart[] {
  const parts: DiffPart[] = [];
  for (let index = 0; index < lines.length; ) {
    let end = index;
    while (lines[end]?.kind === "same") end++;
    if (end === index) {
      parts.push({ line: index++ });
      continue;
    }
    const from = isChange(lines[index - 1]) ? index + CONTEXT : index;
    const to = isChange(lines[end]) ? end - CONTEXT : end;
    const isFolded = to - from >= MIN_FOLD && end - index > 2 * CONTEXT && !open.has(from);
    for (; index < end; index++) {
      if (!isFolded || index < from || index >= to) parts.push({ line: index });
      else if (index === from) parts.push({ from, to });
    }
  }
  return parts;
}

const isChange = (line: DiffLine | undefined): boolean => line?.kind === "add" || line?.kind === "remove";

/** Lines that are not in the diff before a hunk; zero where the hunk follows at once. */
export function countSkipped(lines: readonly DiffLine[], place: number): number {
  const next = lines[place + 1];
  const last = lines.slice(0, place).findLast(({ kind }) => kind !== "gap");
  const number = next?.before ?? next?.after ?? 1;
  return Math.max(0, number - (last?.before ?? last?.after ?? 0) - 1);
}
