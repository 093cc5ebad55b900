import { type Guides, guideLinks, readContents } from "./guides.ts";
import { type JsonObject, listTags, toObject, toText } from "./openapi.ts";
import { toReferenceUrl } from "./operation-page.ts";

/** Returns the list of all pages as Markdown, in the format of https://llmstxt.org. */
export function llmsText(document: JsonObject, guides: Guides, baseUrl: string): string {
  const toUrl = guideLinks(baseUrl, ".md");
  const contents = readContents(guides)
    .replace(/^[\s\S]*?(?=^## )/m, "")
    .replaceAll(/\]\(([^)]*)\)/g, (_, href: string) => `](${toUrl(href) ?? href})`);
  const sections = listTags(document).map(({ name, operations }) => {
    const lines = operations.map(
      ({ id, method, path, data }) =>
        `- [${method} ${path}](${toReferenceUrl(id, baseUrl)}.md): ${toText(data["summary"])}`,
    );
    return `## API: ${name}\n\n${lines.join("\n")}`;
  });
  return [
    `# ${toText(toObject(document["info"])["title"])}`,
    "> An HTTP API that runs cloud agents: create a run from a prompt, follow it, steer it, and read its results.",
    `Append \`.md\` to the address of a page to get it as Markdown. Search: \`${baseUrl}/docs?q=WORDS\`.`,
    contents.trim(),
    ...sections,
    "## Optional",
    `- [OpenAPI document](${baseUrl}/openapi.json)`,
  ]
    .join("\n\n")
    .concat("\n");
}
