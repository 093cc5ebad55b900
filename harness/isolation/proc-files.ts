import { readFileSync } from "node:fs";

/** Reads a file of /proc, whose names of programs may have any bytes. Empty where the process has ended. */
export function readProcFile(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return "";
  }
}
