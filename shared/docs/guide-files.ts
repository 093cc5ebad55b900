import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Guides } from "./guides.ts";

/** Reads the pages of a directory when they are first needed. */
export function guideFiles(directory: string): () => Guides {
  let guides: Guides | undefined;
  return () => {
    guides ??= new Map(
      readdirSync(directory)
        .filter((file) => file.endsWith(".md"))
        .toSorted()
        .map((file) => [file.slice(0, -".md".length), readFileSync(join(directory, file), "utf8")]),
    );
    return guides;
  };
}
