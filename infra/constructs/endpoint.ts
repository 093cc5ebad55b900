import { Stack } from "aws-cdk-lib";
import { CfnIntegration, CfnRoute } from "aws-cdk-lib/aws-apigatewayv2";
import { CfnPermission } from "aws-cdk-lib/aws-lambda";
import type { Construct } from "constructs";
import type { Route } from "../routes.ts";
import { BaseFunction, type BaseFunctionProps } from "./base-function.ts";

export interface EndpointProps extends Omit<BaseFunctionProps, "file" | "name" | "rights"> {
  /** Id of the HTTP API that the routes belong to. */
  readonly apiId: string;
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
    const integration = new CfnIntegration(this, "Integration", {
      apiId: props.apiId,
      integrationType: "AWS_PROXY",
      integrationUri: this.lambda.functionArn,
      payloadFormatVersion: "2.0",
    });
    const { settings } = props.platform;
    for (const [index, { method, path }] of props.lines.entries()) {
      const suffix = index === 0 ? "" : String(index + 1);
      if (method === "ANY" && settings.stage === "aws" && !settings.frontDoor) {
        // The route of the web app would otherwise match paths of the API that do not exist.
        new CfnRoute(this, "ApiRoute", {
          apiId: props.apiId,
          routeKey: "GET /api/{path+}",
          target: `integrations/${integration.ref}`,
        });
      }
      new CfnRoute(this, `Route${suffix}`, {
        apiId: props.apiId,
        routeKey: method === "ANY" ? "$default" : `${method} /api/v1${path}`,
        target: `integrations/${integration.ref}`,
      });
      new CfnPermission(this, `Permission${suffix}`, {
        action: "lambda:InvokeFunction",
        functionName: this.lambda.functionArn,
        principal: "apigateway.amazonaws.com",
        sourceArn: Stack.of(this).formatArn({
          service: "execute-api",
          resource: props.apiId,
          // The default route has neither method nor path, so nothing narrower than the whole API names it.
          resourceName: method === "ANY" ? "*/*" : `*/${method}/api/v1${path.replaceAll(/\{[^}]+\}/g, "*")}`,
        }),
      });
    }
  }
}
