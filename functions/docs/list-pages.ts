import type { GuidePorts } from "#shared/docs/guides.ts";
import { llmsText } from "#shared/docs/llms-text.ts";
import { type PublicPorts, publicEndpoint } from "#shared/http/endpoint.ts";
import { PUBLIC_HEADERS } from "#shared/http/public-headers.ts";
import { HTML } from "#shared/http/response.ts";
import document from "../../docs/openapi.json" with { type: "json" };

/** GET /llms.txt: returns links to all pages of the documentation as Markdown, for agents. */
export const listPages = publicEndpoint({
  request: {},
  reply: { 200: HTML },
  async run(_call, { baseUrl, guides }: PublicPorts & GuidePorts) {
    const headers = { ...PUBLIC_HEADERS, "content-type": "text/plain; charset=utf-8" };
    return { status: 200, html: llmsText(document, guides(), baseUrl), headers };
  },
});
