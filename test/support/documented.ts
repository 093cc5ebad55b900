import type { Route } from "#infra/routes.ts";
import type { Definition } from "../../scripts/openapi/endpoints.ts";
import { listErrors } from "../../scripts/openapi/problems.ts";
import type { ResponseBody } from "./control-plane.ts";

/** Throws if the OpenAPI document does not have the response's status or error code for its route. */
export function expectDocumented(route: Route, definition: Definition, { status, body }: ResponseBody): void {
  if (definition.reply[status] !== undefined) return;
  const codes = listErrors({ route, definition }).get(status);
  if (codes?.some((code) => code === body.error_code)) return;
  throw new Error(
    `${route.method} ${route.path} returned ${status} ${body.error_code} (${body.detail}), which is not documented: ` +
      `add it to \`errors\` in functions/${route.file}.ts`,
  );
}
