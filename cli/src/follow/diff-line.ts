import type { Style } from "../style.ts";

/** A line of a unified diff in the colours that people know. */
export function paintDiffLine(line: string, style: Style): string {
  if (line.startsWith("@@") || /^(---|\+\+\+|diff|index) /.test(line)) return style.dim(line);
  if (line.startsWith("+")) return style.green(line);
  return line.startsWith("-") ? style.red(line) : line;
}
