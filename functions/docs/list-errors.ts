import { errorIndex } from "#shared/docs/error-pages.ts";
import { pageHeaders } from "#shared/docs/html.ts";
import { type PublicPorts, publicEndpoint } from "#shared/http/endpoint.ts";
import { HTML } from "#shared/http/response.ts";

/** GET /docs/errors: returns an HTML page with all error codes. */
export const listErrors = publicEndpoint({
  request: {},
  reply: { 200: HTML },
  async run(_call, { baseUrl }: PublicPorts) {
    return { status: 200, html: errorIndex(baseUrl), headers: pageHeaders() };
  },
});
