import * as v from "valibot";
import { type PublicPorts, publicEndpoint } from "#shared/http/endpoint.ts";
import { PUBLIC_HEADERS } from "#shared/http/public-headers.ts";
import document from "../../docs/openapi.json" with { type: "json" };

/** GET /openapi.json: returns this OpenAPI document. The server URL is the address of the deployment. */
export const getOpenapi = publicEndpoint({
  request: {},
  reply: {
    200: v.looseObject({
      /** The version of the OpenAPI specification. */
      openapi: v.string(),
    }),
  },
  async run(_call, { baseUrl }: PublicPorts) {
    const body = { ...document, servers: [{ url: baseUrl }] };
    // Tools that show the document run in browsers, on other origins.
    return { status: 200, body, headers: { ...PUBLIC_HEADERS, "access-control-allow-origin": "*" } };
  },
});
