import { Stack } from "aws-cdk-lib";
import { CfnIntegration, CfnRoute } from "aws-cdk-lib/aws-apigatewayv2";
import { CfnPermission } from "aws-cdk-lib/aws-lambda";
import type { Construct } from "constructs";
import type { Route } from "../routes.ts";
import { BaseFunction, type BaseFunctionProps } from "./base-function.ts";

export interface EndpointProps extends Omit<BaseFunctionProps, "file" | "name" | "rights"> {
  /** Id of the HTTP API that the routes belong to. */
  readonly apiId: string;
  /** Id of another HTTP API that has the same routes. @default none */
  readonly otherApiId?: string;
  /** The lines of routes.ts that lead to this function: one, or several that name the same file. */
  readonly lines: readonly [Route, ...Route[]];
}

/** One function of the API with the routes that lead to it. */
export class Endpoint extends BaseFunction {
  constructor(scope: Construct, id: string, props: EndpointProps) {
    const [line] = props.lines;
    const reserved = props.platform.settings.concurrency.reserve(line.reserved);
    super(scope, id, {
      ...props,
      file: line.file,
      rights: line.rights,
      ...(line.name !== undefined && { name: line.name }),
      ...(line.timeoutSeconds !== undefined && { timeoutSeconds: line.timeoutSeconds }),
      ...(line.memoryMb !== undefined && { memoryMb: line.memoryMb }),
      ...(line.quiet !== undefined && { quiet: line.quiet }),
      ...(line.untraced !== undefined && { traced: false }),
      ...(reserved !== undefined && { reserved }),
      environment: {
        ...props.environment,
        PRINCIPALS: line.who === "public" ? "public" : line.who.join(","),
        SCOPE: line.scope,
      },
    });
    const integration = this.#addRoutes(props.apiId, props.lines);
    if (props.otherApiId !== undefined) this.#addRoutes(props.otherApiId, props.lines, "Other");
    const { settings } = props.platform;
    if (props.lines.some(({ method }) => method === "ANY") && settings.stage === "aws" && !settings.frontDoor) {
      // Otherwise the route of the web app would match paths that the API does not have.
      const routeKey = "GET /api/{path+}";
      new CfnRoute(this, "ApiRoute", { apiId: props.apiId, routeKey, target: `integrations/${integration.ref}` });
    }
  }

  /** Adds the routes to an API. */
  #addRoutes(apiId: string, lines: readonly Route[], prefix = ""): CfnIntegration {
    const integration = new CfnIntegration(this, `${prefix}Integration`, {
      apiId,
      integrationType: "AWS_PROXY",
      integrationUri: this.lambda.functionArn,
      payloadFormatVersion: "2.0",
    });
    const target = `integrations/${integration.ref}`;
    for (const [index, line] of lines.entries()) {
      const suffix = index === 0 ? "" : String(index + 1);
      new CfnRoute(this, `${prefix}Route${suffix}`, { apiId, routeKey: toRouteKey(line), target });
      new CfnPermission(this, `${prefix}Permission${suffix}`, {
        action: "lambda:InvokeFunction",
        functionName: this.lambda.functionArn,
        principal: "apigateway.amazonaws.com",
        sourceArn: Stack.of(this).formatArn({
          service: "execute-api",
          resource: apiId,
          resourceName: toRouteArn(line),
        }),
      });
    }
    return integration;
  }
}

const toRouteKey = ({ method, path }: Route): string => (method === "ANY" ? "$default" : `${method} /api/v1${path}`);

/** The default route has neither method nor path, so its permission has to cover the whole API. */
const toRouteArn = ({ method, path }: Route): string =>
  method === "ANY" ? "*/*" : `*/${method}/api/v1${path.replaceAll(/\{[^}]+\}/g, "*")}`;
