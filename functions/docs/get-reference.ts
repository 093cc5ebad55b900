import { pageHeaders } from "#shared/docs/html.ts";
import { referencePage } from "#shared/docs/reference-page.ts";
import { type PublicPorts, publicEndpoint } from "#shared/http/endpoint.ts";
import { HTML } from "#shared/http/response.ts";
import document from "../../docs/openapi.json" with { type: "json" };

/** GET /docs: returns the API reference as an HTML page. */
export const getReference = publicEndpoint({
  request: {},
  reply: { 200: HTML },
  async run(_call, { baseUrl }: PublicPorts) {
    return { status: 200, html: referencePage(document, baseUrl), headers: pageHeaders() };
  },
});
