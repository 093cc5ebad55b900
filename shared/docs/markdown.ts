import { Marked } from "marked";
import { escapeHtml, type Html } from "./html.ts";

/** Escapes what Markdown would format in a sentence, except for its code in backticks. */
export const escapeMarkdown = (text: string): string =>
  text
    .split("`")
    .map((part, index) => (index % 2 === 1 ? part : part.replace(/[*[\]<>\\]/g, "\\$&")))
    .join("`");

/** Formats a table; without rows, nothing. */
export function formatTable(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return "";
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll("|", "\\|").replaceAll(/\s*\n\s*/g, " ")).join(" | ")} |`;
  return [line(heads), line(heads.map(() => "---")), ...rows.map(line)].join("\n");
}

/** Formats a fenced block, with a fence that its text does not contain. */
export function formatCode(language: string, text: string): string {
  const fence = "`".repeat(Math.max(3, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length + 1)));
  return `${fence}${language}\n${text}\n${fence}`;
}

/** The anchor of a heading, as GitHub makes it. */
export const toAnchor = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/\]\([^)]*\)/g, "")
    .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
    .replaceAll(" ", "-");

/** The headings of a text in order, without those in its fenced blocks. */
export const listHeadings = (text: string): readonly { readonly level: number; readonly text: string }[] =>
  new Marked({ gfm: true })
    .lexer(text)
    .flatMap((token) =>
      token.type === "heading" ? [{ level: Number(token["depth"]), text: token.raw.replace(/^#+ /, "").trim() }] : [],
    );

/** Links that a page may have; those of other schemes are shown as text. */
const LINK = /^(https?:\/\/|#|\/)/;

/**
 * Renders Markdown as HTML without scripts, styles and pictures. HTML in it is shown as text. `toUrl` returns the URL of a
 * link, or nothing if the link is to be shown as text.
 */
export function renderMarkdown(text: string, toUrl: (href: string) => string | undefined = (href) => href): Html {
  const marked = new Marked({ gfm: true });
  let tables = 0;
  marked.use({
    renderer: {
      html: ({ text: raw }) => escapeHtml(raw),
      image: ({ text: alternative }) => `<em>${escapeHtml(alternative)}</em>`,
      code: ({ text: code }) => `<pre tabindex="0"><code>${escapeHtml(code)}</code></pre>\n`,
      heading({ tokens, depth, text: heading }) {
        return `<h${depth} id="${escapeHtml(toAnchor(heading))}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
      },
      link({ href, tokens }) {
        const url = toUrl(href);
        const content = this.parser.parseInline(tokens);
        return url !== undefined && LINK.test(url) ? `<a href="${escapeHtml(url)}">${content}</a>` : content;
      },
      table({ header, rows }) {
        const heads = header.map(({ tokens }) => `<th scope="col">${this.parser.parseInline(tokens)}</th>`).join("");
        const body = rows.map(
          (row) => `<tr>${row.map(({ tokens }) => `<td>${this.parser.parseInline(tokens)}</td>`).join("")}</tr>\n`,
        );
        // A page has several tables with the same columns, and readers of screens list them by these names.
        const label = escapeHtml(`Table ${++tables}: ${header.map(({ text: head }) => head).join(", ")}`);
        return (
          `<div class="wide" role="region" tabindex="0" aria-label="${label}"><table>\n` +
          `<thead><tr>${heads}</tr></thead>\n<tbody>${body.join("")}</tbody></table></div>\n`
        );
      },
    },
  });
  return { html: marked.parse(text, { async: false }) };
}
