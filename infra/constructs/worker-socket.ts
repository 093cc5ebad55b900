import { Duration, Stack } from "aws-cdk-lib";
import { CfnIntegration, CfnRoute, WebSocketApi, WebSocketStage } from "aws-cdk-lib/aws-apigatewayv2";
import { CfnPermission } from "aws-cdk-lib/aws-lambda";
import { Construct } from "constructs";
import type { Settings } from "#infra/settings.ts";
import { eventSources } from "../event-sources.ts";
import { toName } from "../names.ts";
import { BaseFunction, type BaseFunctionProps } from "./base-function.ts";
import type { WorkerSocketTarget } from "./grants.ts";

const STAGE = "workers";

export interface WorkerSocketProps {
  readonly settings: Settings;
}

/** The WebSocket API of self-hosted workers, still without routes. */
export class WorkerSocket extends Construct {
  /** The resources that rights on it are granted on. */
  readonly target: WorkerSocketTarget;
  /** The address that workers connect to; on an emulator, its path. */
  readonly url: string;
  readonly apiId: string;

  constructor(scope: Construct, id: string, { settings }: WorkerSocketProps) {
    super(scope, id);
    const api = new WebSocketApi(this, "Api", {
      apiName: toName(this, "workers"),
      description: "Connections of self-hosted workers",
      routeSelectionExpression: "$request.body.type",
    });
    const stage = new WebSocketStage(this, "Stage", {
      webSocketApi: api,
      stageName: STAGE,
      autoDeploy: true,
      throttle: { rateLimit: 200, burstLimit: 500 },
    });
    this.apiId = api.apiId;
    const path = `/_aws/execute-api/${api.apiId}/${STAGE}`;
    const isLocal = settings.stage === "local";
    this.url = isLocal ? path : stage.url;
    this.target = {
      endpoint: isLocal ? path : stage.callbackUrl,
      arns: ["POST", "DELETE"].map((method) =>
        Stack.of(this).formatArn({
          service: "execute-api",
          resource: api.apiId,
          resourceName: `${STAGE}/${method}/@connections/*`,
        }),
      ),
    };
  }

  /** Adds the functions that the events of connections invoke. */
  addRoutes(scope: Construct, common: Pick<BaseFunctionProps, "platform" | "targets" | "environment">): void {
    const routes = [
      { id: "ConnectWorker", routeKey: "$connect", source: eventSources.connectWorker },
      { id: "DisconnectWorker", routeKey: "$disconnect", source: eventSources.disconnectWorker },
      { id: "ReceiveFrame", routeKey: "$default", source: eventSources.receiveFrame },
    ] as const;
    for (const { id, routeKey, source } of routes) {
      const { lambda } = new BaseFunction(scope, id, { ...common, ...source });
      const { region, partition, account } = Stack.of(scope);
      const integration = new CfnIntegration(scope, `${id}Integration`, {
        apiId: this.apiId,
        integrationType: "AWS_PROXY",
        integrationMethod: "POST",
        integrationUri: `arn:${partition}:apigateway:${region}:lambda:path/2015-03-31/functions/${lambda.functionArn}/invocations`,
        timeoutInMillis: Duration.seconds(source.timeoutSeconds).toMilliseconds(),
      });
      new CfnRoute(scope, `${id}Route`, {
        apiId: this.apiId,
        routeKey,
        authorizationType: "NONE",
        target: `integrations/${integration.ref}`,
      });
      new CfnPermission(scope, `${id}Permission`, {
        action: "lambda:InvokeFunction",
        functionName: lambda.functionArn,
        principal: "apigateway.amazonaws.com",
        sourceArn: `arn:${partition}:execute-api:${region}:${account}:${this.apiId}/${STAGE}/${routeKey}`,
      });
    }
  }
}
