import { listErrorEntries } from "./error-pages.ts";
import { type Guides, guideLinks, listGuideEntries, readContents } from "./guides.ts";
import { type Html, html, page, prose } from "./html.ts";
import { formatCode, renderMarkdown } from "./markdown.ts";
import { type JsonObject, listSchemas, listTags, type Tag, toObject, toText } from "./openapi.ts";
import { toReferenceUrl } from "./operation-page.ts";
import { renderTop } from "./page.ts";
import { listReferenceEntries, type SearchEntry, search } from "./search.ts";

/**
 * Renders the first page of the documentation, or the results of a search. Its entries have the anchors that operations and schemas had
 * when the reference was one page.
 */
export function homePage(document: JsonObject, guides: Guides, baseUrl: string, query: string): string {
  const title = `${toText(toObject(document["info"])["title"])} documentation`;
  const content =
    query.trim() === ""
      ? renderHome(document, guides, baseUrl)
      : renderResults(
          query,
          search(
            [
              ...listGuideEntries(guides, baseUrl),
              ...listReferenceEntries(document, baseUrl),
              ...listErrorEntries(baseUrl),
            ],
            query,
          ),
        );
  const body = html`${renderTop(baseUrl, query)}
<main id="main">
<h1>${title}</h1>
${content}
</main>`;
  return page(title, body);
}

function renderHome(document: JsonObject, guides: Guides, baseUrl: string): Html {
  const info = toObject(document["info"]);
  const schemas = listSchemas(document).map(([name]) => renderItem(name, html`${name}`, "", baseUrl));
  return html`<p>Version ${toText(info["version"])} · base URL <code>${baseUrl}</code></p>
${renderMarkdown(readContents(guides), guideLinks(baseUrl))}
<section><h2>First calls</h2>
${renderMarkdown(toText(info["description"]).replaceAll(/^## /gm, "### "))}
${renderMarkdown(formatCode("sh", firstCall(baseUrl)))}</section>
<section id="api-reference"><h2>API reference</h2>
${listTags(document).map((tag) => renderTag(tag, baseUrl))}
<h3>Schemas</h3><ul class="names">${schemas}</ul></section>`;
}

const firstCall = (baseUrl: string): string =>
  `curl ${baseUrl}/agent/runs \\\n  -H "Authorization: Bearer $RUNYARD_API_KEY" -H "Content-Type: application/json" \\\n` +
  `  -H "Idempotency-Key: my-first-run" \\\n  -d '{"prompt": "Say hello.\\n\\n\`\`\`sh\\necho hello\\n\`\`\`"}'`;

function renderTag({ name, description, operations }: Tag, baseUrl: string): Html {
  const items = operations.map(({ id, method, path, data }) =>
    renderItem(id, html`<code>${method} ${path}</code>`, toText(data["summary"]), baseUrl),
  );
  return html`<h3>${name}</h3><p>${prose(description)}</p><ul>${items}</ul>`;
}

const renderItem = (id: string, label: Html, summary: string, baseUrl: string): Html =>
  html`<li id="${id}"><a href="${toReferenceUrl(id, baseUrl)}">${label}</a> ${prose(summary)}</li>\n`;

function renderResults(query: string, results: readonly SearchEntry[]): Html {
  if (results.length === 0) return html`<p>No results for “${query}”. Use fewer or other words.</p>`;
  const items = results.map(
    ({ url, title, summary }) => html`<li><a href="${url}">${title}</a><br>${prose(summary)}</li>\n`,
  );
  return html`<h2>Results for “${query}”</h2><ol>${items}</ol>`;
}
