import type { PublicPorts } from "#shared/http/endpoint.ts";
import { setting } from "#shared/settings.ts";

/** What pages need: to know where they are. */
export const liveDocs = (): PublicPorts => ({ baseUrl: setting("BASE_URL") });
