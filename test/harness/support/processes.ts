import { execFileSync } from "node:child_process";

/** How many processes `sleep` for so long; a test marks its own by an unlikely number. */
export function sleepers(mark: string): number {
  const lines = execFileSync("ps", ["-eo", "stat,args"], { encoding: "utf8" }).split("\n");
  return lines.filter((line) => /^[^Z]\S*\s+sleep (\d+)$/.exec(line)?.[1] === mark).length;
}

let marks = 0;

/** An unlikely number of seconds. */
export const newMark = (): string => `${process.pid}${Date.now() % 1_000_000}${++marks}`;
