import { closeSync, openSync, rmSync, writeSync } from "node:fs";
import type { OutputFile, ShownOutput } from "./output-capture.ts";

/** The bytes of all files of a run. With the file that is being written, they stay below 50 MiB. */
const MAX_BYTES = 40 * 1024 * 1024;

/**
 * Creates files for long outputs in the directory of the commands' scripts, which commands can read. The oldest ones are removed when all of
 * them become too large.
 * @param folder on the host
 * @param seen the same directory as commands see it
 */
export function createOutputFiles(folder: string, seen: string): ShownOutput {
  const files: { readonly path: string; bytes: number }[] = [];
  let count = 0;
  return {
    openFile(): OutputFile {
      let total = files.reduce((sum, { bytes }) => sum + bytes, 0);
      while (total > MAX_BYTES) {
        const oldest = files.shift();
        if (oldest === undefined) break;
        total -= oldest.bytes;
        rmSync(oldest.path, { force: true });
      }
      const name = `output-${++count}.txt`;
      const file = { path: `${folder}/${name}`, bytes: 0 };
      files.push(file);
      const descriptor = openSync(file.path, "wx", 0o444);
      return {
        path: `${seen}/${name}`,
        write: (text) => {
          file.bytes += writeSync(descriptor, text);
        },
        close: () => closeSync(descriptor),
      };
    },
  };
}
