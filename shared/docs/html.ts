import { createHash } from "node:crypto";
import { PUBLIC_HEADERS } from "#shared/http/public-headers.ts";

/** Text that is HTML already; all other text is escaped when a page is built. */
export interface Html {
  readonly html: string;
}

/** Builds HTML from a template; values are escaped unless they are HTML themselves. */
export function html(
  parts: TemplateStringsArray,
  ...values: readonly (string | number | Html | readonly Html[])[]
): Html {
  const filled = parts.map((part, index) => {
    const value = values[index];
    if (value === undefined) return part;
    if (typeof value === "string" || typeof value === "number") return part + escapeHtml(String(value));
    return part + ("html" in value ? value.html : value.map((piece) => piece.html).join(""));
  });
  return { html: filled.join("") };
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};
/** Escapes text for content and quoted attributes. */
export const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (sign) => ENTITIES[sign] ?? sign);

/** Formats a sentence with `code` in backticks. */
export function prose(text: string): Html {
  const parts = text.split("`");
  return {
    html: parts
      .map((part, index) => (index % 2 === 1 ? `<code>${escapeHtml(part)}</code>` : escapeHtml(part)))
      .join(""),
  };
}

/** A table with a caption that only screen readers need, since a heading stands above it. */
export function table(caption: string, heads: readonly string[], rows: readonly (readonly Html[])[]): Html {
  if (rows.length === 0) return html``;
  const cells = (row: readonly Html[]) =>
    row.map((cell, index) => (index === 0 ? html`<th scope="row">${cell}</th>` : html`<td>${cell}</td>`));
  return html`<div class="wide" role="region" tabindex="0" aria-label="${caption}"><table>
<thead><tr>${heads.map((head) => html`<th scope="col">${head}</th>`)}</tr></thead>
<tbody>${rows.map((row) => html`<tr>${cells(row)}</tr>\n`)}</tbody></table></div>`;
}

export const json = (value: unknown): Html =>
  html`<pre tabindex="0"><code>${JSON.stringify(value, null, 2)}</code></pre>`;

const STYLE = `:root{color-scheme:light dark;--line:#8884;--soft:#8881;--link:light-dark(#0b57a4,#8fc1ff)}
body{margin:0 auto;max-width:70rem;padding:1rem 1.25rem 4rem;font:1rem/1.55 system-ui,sans-serif;background:light-dark(#fff,#16181c);color:light-dark(#1c1e21,#e6e7e9)}
a{color:var(--link)}a:focus-visible,pre:focus-visible,.wide:focus-visible{outline:3px solid var(--link);outline-offset:2px}
.skip{position:absolute;left:-99rem}.skip:focus{position:static}
h1,h2,h3,h4{line-height:1.25}h2{margin-top:3rem;border-bottom:1px solid var(--line)}h3{margin-top:2.25rem}
article{border-top:1px solid var(--line);padding-top:.25rem}
code,pre{font-family:ui-monospace,monospace;font-size:.9em}:not(pre)>code,h3{overflow-wrap:anywhere}
pre{background:var(--soft);padding:.75rem;overflow:auto;max-height:28rem}
.wide{overflow-x:auto}table{border-collapse:collapse;width:100%}
th,td{text-align:left;vertical-align:top;padding:.35rem .75rem .35rem 0;border-bottom:1px solid var(--line)}th[scope=row]{font-weight:400;white-space:nowrap}td:first-child>code{white-space:nowrap}
nav h3{margin:1rem 0 0;font-size:1rem}nav ul{margin:.25rem 0;padding-left:1rem}li:target{outline:2px solid var(--link)}dt{font-weight:600}
.top{display:flex;flex-wrap:wrap;gap:.5rem 1rem;align-items:baseline}form{display:flex;gap:.5rem;flex:1 1 16rem}
input{flex:1;min-width:0}input,button{font:inherit;padding:.25rem .5rem;border:1px solid var(--line);border-radius:.25rem;background:var(--soft);color:inherit}`;

/** No script may run and nothing may be loaded; the one style is allowed by its digest. */
const policy = (): string =>
  `default-src 'none'; style-src 'sha256-${createHash("sha256").update(STYLE).digest("base64")}'; base-uri 'none'; ` +
  "form-action 'self'; frame-ancestors 'none'";

/** Builds a whole page. */
export function page(title: string, body: Html): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${{ html: STYLE }}</style>
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
${body}
</body>
</html>
`.html;
}

export const pageHeaders = (): Readonly<Record<string, string>> => ({
  ...PUBLIC_HEADERS,
  "content-security-policy": policy(),
  "referrer-policy": "no-referrer",
});
