import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { LAB } from "../../lab/main.ts";
import { AWS } from "../../operate/main.ts";

export interface Repository {
  readonly root: string;
  /** Names of the scripts of package.json. */
  readonly scripts: readonly string[];
}

const VERBS: Readonly<Record<string, readonly string[]>> = {
  aws: Object.keys(AWS.verbs),
  lab: Object.keys(LAB.verbs),
};
/** Characters of placeholders: such a path names no file. */
const PLACEHOLDER = /[…‹›<>$]/;

/** What a page refers to and the repository does not have: relative links, paths in backticks, and commands of npm. */
export function findBrokenReferences(page: string, text: string, repository: Repository): string[] {
  const prose = text.replaceAll(/^(`{3,})[\s\S]*?^\1 *$/gm, "");
  const links = [...prose.replaceAll(/`[^`\n]+`/g, "").matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = ""]) => target);
  const spans = [...prose.matchAll(/`([^`\n]+)`/g)].map(([, span = ""]) => span);
  return [
    ...links.filter((target) => !isLink(page, target, repository.root)),
    ...spans.filter((span) => !isPath(span, repository.root)),
    ...findUnknownCommands(text, repository.scripts),
  ];
}

function isLink(page: string, target: string, root: string): boolean {
  if (/^[a-z]+:/.test(target)) return true;
  const [file = "", anchor] = target.split("#");
  const linked = path.join(root, file === "" ? page : path.join(path.dirname(page), file));
  if (!exists(linked)) return false;
  return anchor === undefined || !linked.endsWith(".md") || listAnchors(readFileSync(linked, "utf8")).includes(anchor);
}

/** The anchors of a page's headings, as GitHub makes them. */
function listAnchors(text: string): string[] {
  return [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replaceAll(/\]\([^)]*\)/g, "")
      .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  );
}

/** True for what is no path: one begins with a folder at the root of the repository. A path may have patterns. */
function isPath(span: string, root: string): boolean {
  const [, first = ""] = /^([\w.-]+)\/[^\s:,;()"'`=&|]*$/.exec(span) ?? [];
  if (first === "" || PLACEHOLDER.test(span) || !FOLDERS.has(first)) return true;
  return globSync(span.replace(/\/$/, ""), { cwd: root }).length > 0;
}

/** Folders at the root whose files pages refer to. */
const FOLDERS = new Set(
  (
    "action cli clients design docs emulator events examples functions harness image infra lab operate packages scripts server " +
    "shared test web"
  ).split(" "),
);

function findUnknownCommands(text: string, scripts: readonly string[]): string[] {
  return [...text.matchAll(/\bnpm run (?:-s |--silent )?([a-z][\w:-]*)(?:\s+--\s+([a-z][\w-]*))?/g)].flatMap(
    ([command, name = "", verb]) => {
      const isKnown = scripts.includes(name) && (verb === undefined || (VERBS[name]?.includes(verb) ?? true));
      return isKnown ? [] : [command];
    },
  );
}

const exists = (file: string): boolean => globSync(file).length > 0;
