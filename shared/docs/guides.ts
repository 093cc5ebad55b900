import { toAnchor } from "./markdown.ts";
import type { Page } from "./page.ts";
import type { SearchEntry } from "./search.ts";

/** The pages of docs/, by their names without `.md`, in alphabetical order. */
export type Guides = ReadonlyMap<string, string>;

/** What endpoints that serve guides need. */
export interface GuidePorts {
  readonly guides: () => Guides;
}

/** The page with the table of contents. */
const CONTENTS = "README";
const DOCUMENT = "openapi.json";

const toGuideUrl = (name: string, baseUrl: string): string => `${baseUrl}/docs/guides/${name}`;

/** Returns a guide, or nothing if there is none of this name. */
export function guidePage(name: string, guides: Guides, baseUrl: string): Page | undefined {
  const text = guides.get(name);
  if (text === undefined) return undefined;
  return { title: readTitle(text), markdown: withoutRepository(text), url: toGuideUrl(name, baseUrl) };
}

/** The table of contents: its sections, without its title. */
export const readContents = (guides: Guides): string =>
  withoutRepository(guides.get(CONTENTS) ?? "").replace(/^# .*\n/, "");

/** Returns the function that makes URLs of the links between pages of docs/. */
export const guideLinks =
  (baseUrl: string, suffix = "") =>
  (href: string): string | undefined => {
    if (href === DOCUMENT) return `${baseUrl}/${DOCUMENT}`;
    const [, name = "", anchor = ""] = /^([\w-]+)\.md(#.*)?$/.exec(href) ?? [];
    if (name === CONTENTS) return `${baseUrl}/docs`;
    if (name !== "") return `${toGuideUrl(name, baseUrl)}${suffix}${anchor}`;
    return /^(https?:\/\/|#)/.test(href) ? href : undefined;
  };

/** The sections of all guides. */
export function listGuideEntries(guides: Guides, baseUrl: string): readonly SearchEntry[] {
  return [...guides].flatMap(([name, text]) => {
    if (name === CONTENTS) return [];
    const title = readTitle(text);
    const whole = withoutRepository(text);
    return splitSections(whole).map(({ heading, content }, index) => ({
      title: heading === title ? title : `${title}: ${heading}`,
      url: `${toGuideUrl(name, baseUrl)}#${toAnchor(heading)}`,
      summary: readSummary(content),
      // Words of a question may be in several sections, and then the page answers it.
      text: index === 0 ? whole : content,
    }));
  });
}

/** Splits a page at its headings, except those in fenced blocks. */
function splitSections(text: string): readonly { heading: string; content: string }[] {
  const sections: { heading: string; content: string }[] = [];
  let fence = "";
  for (const line of text.split("\n")) {
    const [ticks = ""] = /^`{3,}/.exec(line) ?? [];
    if (ticks !== "") fence = fence === "" ? ticks : ticks === fence ? "" : fence;
    const [, heading] = fence === "" ? (/^#{1,3} (.*)$/.exec(line) ?? []) : [];
    const last = sections.at(-1);
    if (heading !== undefined) sections.push({ heading, content: "" });
    else if (last !== undefined) last.content += `${line}\n`;
  }
  return sections;
}

const readTitle = (text: string): string => /^# (.*)$/m.exec(text)?.[1] ?? "";

/** Characters of a summary. */
const MAX_SUMMARY = 200;

/** The first paragraph, or what a command says about itself, without links and emphasis, up to the end of a word. */
function readSummary(content: string): string {
  const [, help = ""] = /^`{3}text\n(?:Usage: .*\n\s*)?([A-Z].*)$/m.exec(content) ?? [];
  const [prose = help] = content
    .split(/^`{3}.*\n[\s\S]*?^`{3}/m)
    .flatMap((part) => part.split(/\n\s*\n/).filter(isProse));
  const text = prose
    .trim()
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replaceAll(/\*\*|\n/g, (mark) => (mark === "\n" ? " " : ""));
  return text.length <= MAX_SUMMARY ? text : `${text.slice(0, MAX_SUMMARY).replace(/\s+\S*$/, "")} …`;
}

const isProse = (paragraph: string): boolean => /^[A-Z`]/.test(paragraph.trim());

/** Removes what only a checkout has: links to its other files, and why a test does not run a block. */
const withoutRepository = (text: string): string =>
  text.replaceAll(/(?<!!)\[([^\]]*)\]\(\.\.\/[^)]*\)/g, "$1").replaceAll(/^(`{3,}\w+) [^\n`]*$/gm, "$1");
