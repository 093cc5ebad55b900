import type { APIGatewayProxyEventV2 } from "aws-lambda";
import { headerReader } from "./caller.ts";
import { type Origins, refuseForeignPage } from "./session-cookie.ts";

/**
 * Admits requests with an API key only: the cookies of the request are ignored, and pages of other origins are refused, such as those
 * whose name resolves to this machine (DNS rebinding).
 */
export function admitKeysOnly(event: APIGatewayProxyEventV2, origins: Origins): APIGatewayProxyEventV2 {
  refuseForeignPage(headerReader(event), origins);
  return { ...event, cookies: [] };
}
