import { html, page, pageHeaders } from "./html.ts";
import { renderMarkdown } from "./markdown.ts";

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
<main id="main">
${renderMarkdown(doc.markdown, toUrl)}
</main>
<footer><p><a href="${doc.url}${MARKDOWN}">This page as Markdown</a></p></footer>`;
  return { status: 200, html: page(`${doc.title} · Runyard`, body), headers } as const;
}

/** The links and the search at the top of each page. It works without a script. */
export const renderTop = (baseUrl: string, query = "") => html`<header class="top">
<nav aria-label="Documentation"><a href="${baseUrl}/docs">Documentation</a> · <a href="${baseUrl}/docs/errors">Errors</a> ·
<a href="${baseUrl}/openapi.json">OpenAPI document</a></nav>
<form role="search" action="${baseUrl}/docs"><input type="search" name="q" value="${query}" aria-label="Search the documentation" placeholder="Search, such as: cancel from CI"
maxlength="200"><button>Search</button></form>
</header>`;
