import { join } from "node:path";
import * as v from "valibot";
import { guideFiles } from "#shared/docs/guide-files.ts";
import type { GuidePorts } from "#shared/docs/guides.ts";
import type { PublicPorts } from "#shared/http/endpoint.ts";
import { type RoutePorts, RouteTable } from "#shared/http/route-not-found.ts";
import { type OwnIssuer, toIssuerUrl } from "#shared/run-identity/own-issuer.ts";
import { setting } from "#shared/settings.ts";

/** The ports of documentation pages. */
export const createDocsPorts = (): PublicPorts => ({ baseUrl: setting("BASE_URL") });

/** The ports of the functions that serve guides: infra/bundle.ts puts the pages next to their module. */
export const createGuidePorts = (): PublicPorts & GuidePorts => ({
  baseUrl: setting("BASE_URL"),
  guides: guideFiles(join(import.meta.dirname, "guides")),
});

/** The ports of the metadata of the issuer of identity tokens. */
export function createMetadataPorts(): PublicPorts & OwnIssuer {
  const baseUrl = setting("BASE_URL");
  return { baseUrl, issuerUrl: toIssuerUrl(baseUrl) };
}

/** The ports of the fallback for requests that no route takes. */
export const createFallbackPorts = (): RoutePorts => ({
  baseUrl: setting("BASE_URL"),
  routes: v.parse(RouteTable, setting("ROUTES")),
});
