import * as v from "valibot";
import { referencePage } from "#shared/docs/operation-page.ts";
import { parsePageName, respondWithPage } from "#shared/docs/page.ts";
import { notFound } from "#shared/errors.ts";
import { type PublicPorts, publicEndpoint } from "#shared/http/endpoint.ts";
import { HTML } from "#shared/http/response.ts";
import methods from "../../clients/methods.json" with { type: "json" };
import commands from "../../docs/cli-operations.json" with { type: "json" };
import document from "../../docs/openapi.json" with { type: "json" };

/**
 * GET /docs/reference/{name}: returns the HTML page of an operation or a schema. The name is an operation id or the name
 * of a schema in the OpenAPI document. With `.md` at its end, the response is Markdown.
 */
export const getReferencePage = publicEndpoint({
  request: { path: v.object({ name: v.pipe(v.string(), v.maxLength(100)) }) },
  reply: { 200: HTML },
  async run({ path }, { baseUrl }: PublicPorts) {
    const { name, isMarkdown } = parsePageName(path.name);
    const page = referencePage(name, { document, methods, commands }, baseUrl);
    if (page === undefined) throw notFound("operation or schema");
    return respondWithPage(page, { baseUrl, isMarkdown });
  },
});
