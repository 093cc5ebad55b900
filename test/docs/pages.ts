import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { root } from "../../scripts/run-command.ts";

/** A fenced block of a page. */
export interface Block {
  /** Path of the page in the repository. */
  readonly page: string;
  readonly line: number;
  /** The first word of the info string. */
  readonly language: string;
  /** Why its commands are not run, by `skip=` in the info string. */
  readonly skip: string | undefined;
  /** The states in which runs of the block end, by `ends=` in the info string, if they do not succeed. */
  readonly ends: readonly string[];
  readonly text: string;
}

/** Its examples are those of the commands' help, which test/cli/calls.test.ts gives to the command line. */
const GENERATED = "docs/cli.md";

/** The pages that show commands. */
export const PAGES: readonly string[] = [
  ...["README.md", "CONTRIBUTING.md", "cli/README.md", "clients/python/README.md", "clients/typescript/README.md"],
  ...globSync("{docs,design,lab}/*.md", { cwd: root }).sort(),
].filter((page) => page !== GENERATED);

/** A fence of at least three backticks, up to one of as many. */
const FENCE = /^(`{3,})([^\n`]*)\n([\s\S]*?)^\1 *$/gm;

export function readBlocks(page: string): Block[] {
  const text = readFileSync(path.join(root, page), "utf8");
  return [...text.matchAll(FENCE)].map(({ index, 2: info = "", 3: content = "" }) => {
    const [language = "", ...attributes] = info.trim().split(/\s+/);
    const skip = attributes.find((attribute) => attribute.startsWith("skip="))?.slice("skip=".length);
    const ends =
      attributes
        .find((attribute) => attribute.startsWith("ends="))
        ?.slice("ends=".length)
        .split(",") ?? [];
    return { page, ends, line: text.slice(0, index).split("\n").length, language, skip, text: content };
  });
}
