export interface DiffLine {
  readonly kind: "add" | "remove" | "same" | "gap";
  readonly text: string;
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

/** Splits a unified diff into its files. Lines before the first file are left out. */
export function parseDiff(diff: string): FileDiff[] {
  const files: { before: string; after: string; lines: DiffLine[] }[] = [];
  const lines = diff.split("\n");
  lines.forEach((line, index) => {
    const next = lines[index + 1] ?? "";
    if (line.startsWith("--- ") && next.startsWith("+++ ")) {
      files.push({ before: parsePath(line), after: parsePath(next), lines: [] });
      return;
    }
    const isHeader = line.startsWith("+++ ") && (lines[index - 1] ?? "").startsWith("--- ");
    const file = files.at(-1);
    if (file === undefined || isHeader || line.startsWith("diff --git ") || line.startsWith("index ")) return;
    if (line.startsWith("@@")) {
      if (file.lines.length > 0) file.lines.push({ kind: "gap", text: "" });
    } else {
      const kind = KINDS[line.charAt(0)];
      if (kind !== undefined) file.lines.push({ kind, text: line.slice(1) });
    }
  });
  return files.map(({ before, after, lines: changed }) => ({
    path: after === NOTHING ? before : after,
    change: before === NOTHING ? "created" : after === NOTHING ? "deleted" : "changed",
    lines: changed,
    added: changed.filter(({ kind }) => kind === "add").length,
    removed: changed.filter(({ kind }) => kind === "remove").length,
  }));
}

/** The path of a header line, without the prefix that Git adds and without a time. */
function parsePath(line: string): string {
  const path = line.slice(4).split("\t", 1)[0] ?? "";
  return path === NOTHING ? path : path.replace(/^[ab]\//, "");
}
