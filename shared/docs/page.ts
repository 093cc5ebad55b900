import { type Html, html, page, pageHeaders } from "./html.ts";
import { listHeadings, renderMarkdown, toAnchor } from "./markdown.ts";

/** A page of the documentation, which is served as HTML and as Markdown. */
export interface Page {
  readonly title: string;
  readonly markdown: string;
  /** The address of the page as HTML. */
  readonly url: string;
}

/** The end of the name of a page that is to be served as Markdown. */
const MARKDOWN = ".md";

/** Whether a name asks for the page as Markdown, and the name of the page. */
export function parsePageName(name: string): { readonly name: string; readonly isMarkdown: boolean } {
  const isMarkdown = name.endsWith(MARKDOWN);
  return { name: isMarkdown ? name.slice(0, -MARKDOWN.length) : name, isMarkdown };
}

/** The response of an endpoint with a page. */
export function respondWithPage(
  doc: Page,
  {
    baseUrl,
    isMarkdown,
    toUrl,
  }: { baseUrl: string; isMarkdown: boolean; toUrl?: (href: string) => string | undefined },
) {
  const headers = pageHeaders();
  if (isMarkdown) {
    return {
      status: 200,
      html: doc.markdown,
      headers: { ...headers, "content-type": "text/markdown; charset=utf-8" },
    } as const;
  }
  const body = html`${renderTop(baseUrl)}
<div class="doc">
${renderContents(doc.markdown)}
<main id="main">
${renderMarkdown(doc.markdown, toUrl)}
</main>
</div>
<footer><p><a href="${doc.url}${MARKDOWN}">This page as Markdown</a></p></footer>`;
  return { status: 200, html: page(`${doc.title} · Runyard`, body), headers } as const;
}

/** Pages of fewer sections show them on one screen. */
const MIN_SECTIONS = 3;

/** Links to the sections of a page: open next to it, or folded above it where the window is narrow. */
function renderContents(markdown: string): Html {
  const sections = listHeadings(markdown).filter(({ level }) => level === 2);
  if (sections.length < MIN_SECTIONS) return html``;
  const items = sections.map(
    ({ text }) =>
      html`<li><a href="#${toAnchor(text)}">${text.replaceAll(/[`*]|\[([^\]]*)\]\([^)]*\)/g, "$1")}</a></li>\n`,
  );
  return html`<nav class="contents" aria-label="On this page"><details><summary>On this page</summary>
<ul>${items}</ul></details></nav>`;
}

/** The links and the search at the top of each page. It works without a script. */
export const renderTop = (baseUrl: string, query = "") => html`<header class="top">
<nav aria-label="Documentation"><a href="${baseUrl}/docs">Runyard docs</a> <a href="${baseUrl}/docs#api-reference">API reference</a>
<a href="${baseUrl}/docs/errors">Errors</a> <a href="${baseUrl}/openapi.json">OpenAPI</a></nav>
<form role="search" action="${baseUrl}/docs"><input type="search" name="q" value="${query}" aria-label="Search the documentation" placeholder="Search, such as: cancel from CI"
maxlength="200"><button>Search</button></form>
</header>`;
