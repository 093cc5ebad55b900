import { readdirSync, readFileSync } from "node:fs";

/** Reads a file of /proc, whose names of programs may have any bytes. Empty where the process has ended. */
export function readProcFile(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return "";
  }
}

/** Lists a directory of /proc. Empty where the process has ended, or belongs to somebody else. */
export function listProcEntries(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}
