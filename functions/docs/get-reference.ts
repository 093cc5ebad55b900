import type { GuidePorts } from "#shared/docs/guides.ts";
import { homePage } from "#shared/docs/home-page.ts";
import { pageHeaders } from "#shared/docs/html.ts";
import { type PublicPorts, publicEndpoint } from "#shared/http/endpoint.ts";
import { one } from "#shared/http/request.ts";
import { HTML } from "#shared/http/response.ts";
import { textOfBytes } from "#shared/wire/primitives.ts";
import document from "../../docs/openapi.json" with { type: "json" };

/** GET /docs: returns the first page of the documentation, or search results. The response is HTML. */
export const getReference = publicEndpoint({
  request: {
    query: {
      /** Words to search for in the documentation. The page then has the results. */
      q: one(textOfBytes(400)),
    },
  },
  reply: { 200: HTML },
  async run({ query }, { baseUrl, guides }: PublicPorts & GuidePorts) {
    return { status: 200, html: homePage(document, guides(), baseUrl, query.q ?? ""), headers: pageHeaders() };
  },
});
