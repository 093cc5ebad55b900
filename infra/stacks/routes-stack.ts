import { Stack, type StackProps } from "aws-cdk-lib";
import type { Construct } from "constructs";
import { verbNoun } from "#infra/constructs/base-function.ts";
import { Endpoint } from "../constructs/endpoint.ts";
import { pascal } from "../names.ts";
import type { Platform } from "../platform.ts";
import { packedRoutes, type Route, routes } from "../routes.ts";
import type { Settings } from "../settings.ts";
import type { ApiStack } from "./api-stack.ts";
import { deploymentVariables, type ExecutionStack } from "./execution-stack.ts";

export interface RoutesStackProps extends StackProps {
  readonly platform: Platform;
  readonly api: ApiStack;
  readonly execution: ExecutionStack;
  /** Resource of this stack: the folder of functions/ that its files are in. */
  readonly resource: string;
}

/** The endpoints of one resource. A stack holds 500 resources at most, and an endpoint is six of them. */
export class RoutesStack extends Stack {
  constructor(scope: Construct, id: string, { platform, api, execution, resource, ...props }: RoutesStackProps) {
    super(scope, id, props);
    for (const lines of groupByFile(resource)) {
      const [line] = lines;
      new Endpoint(this, pascal(verbNoun(line.file)), {
        platform,
        apiId: api.apiId,
        ...((resource === "harness" || line.path === "*") &&
          api.harnessApiId !== undefined && { otherApiId: api.harnessApiId }),
        lines,
        targets: execution.targets,
        environment: {
          ...deploymentVariables(api, platform.settings),
          ...(api.originSecrets !== undefined && { ORIGIN_SECRET: api.originSecrets }),
          // Only the fallback needs the list of all routes.
          ...(line.path === "*" && { ROUTES: packedRoutes() }),
          ...(line.file.startsWith("web-sessions/") && oidcVariables(platform.settings)),
          ...([
            "webhooks/create-webhook",
            "runs/create-run",
            "triggers/create-trigger",
            "triggers/update-trigger",
          ].includes(line.file) &&
            !execution.sendsWebhooks && { WEBHOOKS: "unavailable" }),
          ...(line.file === "workers/list-workers" && { WORKER_SOCKET_URL: execution.workerSocket.url }),
        },
      });
    }
  }
}

/** The OIDC issuer by which people sign in. */
const oidcVariables = ({ oidc }: Settings): Record<string, string> =>
  oidc === undefined ? {} : { OIDC_ISSUER: oidc.issuer, OIDC_CLIENT_ID: oidc.clientId };

/** The resources that have routes, in the order of routes.ts. */
export const resources: readonly string[] = [...new Set(routes.map((route) => toResource(route)))];

function toResource(route: Route): string {
  return route.file.slice(0, route.file.indexOf("/"));
}

function groupByFile(resource: string): [Route, ...Route[]][] {
  const byFile = new Map<string, [Route, ...Route[]]>();
  for (const route of routes.filter((route) => toResource(route) === resource)) {
    const lines = byFile.get(route.file);
    if (lines) lines.push(route);
    else byFile.set(route.file, [route]);
  }
  return [...byFile.values()];
}
