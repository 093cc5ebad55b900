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

const STYLE = `:root{color-scheme:light dark;--line:light-dark(#dfe4e1,#2c3531);--soft:light-dark(#f2f5f3,#1a1f1d);--muted:light-dark(#56615b,#a3afa9);--link:light-dark(#17695a,#6fd3bd)}
*{box-sizing:border-box}
body{margin:0 auto;max-width:72rem;padding:0 1.25rem 4rem;font:1rem/1.6 Inter,system-ui,sans-serif;background:light-dark(#fff,#111412);color:light-dark(#1c211f,#e4e9e6)}
a{color:var(--link);text-underline-offset:2px}a:focus-visible,pre:focus-visible,.wide:focus-visible{outline:3px solid var(--link);outline-offset:2px}
.skip{position:absolute;left:-99rem}.skip:focus{position:static}
h1,h2,h3,h4{line-height:1.25;letter-spacing:-.01em;scroll-margin-top:4.5rem}h1{font-size:1.9rem;margin:1.5rem 0 1rem}h2{font-size:1.35rem;margin-top:2.75rem;padding-bottom:.35rem;border-bottom:1px solid var(--line)}h3{font-size:1.1rem;margin-top:2rem}
article{border-top:1px solid var(--line);padding-top:.25rem}
code,pre{font-family:ui-monospace,"JetBrains Mono",monospace;font-size:.9em}:not(pre)>code,h3{overflow-wrap:anywhere}:not(pre)>code{padding:.1em .3em;border-radius:.3em;background:var(--soft)}
pre{background:var(--soft);padding:.8rem 1rem;border:1px solid var(--line);border-radius:.5rem;overflow:auto;max-height:28rem;line-height:1.5}
.wide{overflow-x:auto}table{border-collapse:collapse;width:100%;font-size:.95em}
th,td{text-align:left;vertical-align:top;padding:.45rem .9rem .45rem 0;border-bottom:1px solid var(--line)}thead th{color:var(--muted);font-size:.85em;font-weight:600}th[scope=row]{font-weight:400;white-space:nowrap}td:first-child>code{white-space:nowrap}
li{margin:.15rem 0}li:target{outline:2px solid var(--link)}dt{font-weight:600}
.top{position:sticky;top:0;z-index:1;display:flex;flex-wrap:wrap;gap:.5rem 1.25rem;align-items:center;padding:.7rem 0;border-bottom:1px solid var(--line);background:inherit}body>.top{background:light-dark(#fff,#111412)}
.top nav{display:flex;flex-wrap:wrap;gap:.25rem 1.1rem}.top nav a{color:inherit;text-decoration:none}.top nav a:hover{text-decoration:underline}.top nav a:first-child{font-weight:700}
form{display:flex;gap:.5rem;flex:1 1 16rem}
input{flex:1;min-width:0}input,button{font:inherit;padding:.35rem .7rem;border:1px solid var(--line);border-radius:.45rem;background:var(--soft);color:inherit}
.doc{display:grid;grid-template-columns:minmax(0,1fr);gap:0 3rem}.contents{font-size:.9rem;margin-top:1rem}.contents summary{color:var(--muted);font-weight:600;cursor:pointer}.contents ul{margin:.5rem 0;padding:0;list-style:none}.contents a{display:block;padding:.2rem 0;color:var(--muted);text-decoration:none}.contents a:hover{color:var(--link)}
footer{margin-top:3rem;border-top:1px solid var(--line);color:var(--muted)}
@media(min-width:64rem){.doc:has(.contents){grid-template-columns:minmax(0,1fr) 14rem}.contents{grid-column:2;grid-row:1;position:sticky;top:4.5rem;align-self:start;max-height:calc(100vh - 6rem);overflow-y:auto}.contents details::details-content{content-visibility:visible;block-size:auto}.contents summary{list-style:none;cursor:default}.contents ul{border-left:1px solid var(--line);padding-left:.9rem}}
@media(max-width:40rem){.top{position:static}h1{font-size:1.6rem}}`;

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
