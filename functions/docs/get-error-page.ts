import * as v from "valibot";
import { CODES, errorPage } from "#shared/docs/error-pages.ts";
import { pageHeaders } from "#shared/docs/html.ts";
import { notFound } from "#shared/errors.ts";
import { type PublicPorts, publicEndpoint } from "#shared/http/endpoint.ts";
import { HTML } from "#shared/http/response.ts";

/**
 * GET /docs/errors/{code}: returns the HTML page of one error code. The `type` of an error response is the URL of this
 * page.
 */
export const getErrorPage = publicEndpoint({
  request: { path: v.object({ code: v.picklist([...CODES.keys()]) }) },
  reply: { 200: HTML },
  async run({ path }, { baseUrl }: PublicPorts) {
    const code = CODES.get(path.code);
    if (code === undefined) throw notFound("code");
    return { status: 200, html: errorPage(code, baseUrl), headers: pageHeaders() };
  },
});
