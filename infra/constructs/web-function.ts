import { RemovalPolicy, Stack } from "aws-cdk-lib";
import { CfnIntegration, CfnRoute } from "aws-cdk-lib/aws-apigatewayv2";
import { PolicyDocument, Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import {
  Architecture,
  CfnPermission,
  Code,
  Function as LambdaFunction,
  LayerVersion,
  LoggingFormat,
  Runtime,
  Tracing,
} from "aws-cdk-lib/aws-lambda";
import { LogGroup } from "aws-cdk-lib/aws-logs";
import { Construct } from "constructs";
import { logRetention, toName, toPath } from "../names.ts";
import { ownLog } from "./own-log.ts";
import { contentSecurityPolicy, WEB_HEADERS } from "./web-headers.ts";

export interface WebFunctionProps {
  /** Id of the HTTP API that the web app is served by. */
  readonly apiId: string;
  /** Directory of the web app. */
  readonly webDir: string;
  /** Origin of the signed URLs of files. */
  readonly filesOrigin: string;
}

/** Routes of the web app. Paths below /api have more specific routes. */
const ROUTES = ["GET /", "GET /{path+}"];

/** Serves the web app from the HTTP API itself, for deployments without CloudFront. */
export class WebFunction extends Construct {
  constructor(scope: Construct, id: string, { apiId, webDir, filesOrigin }: WebFunctionProps) {
    super(scope, id);
    const web = this.#webFunction(webDir, filesOrigin);
    const integration = new CfnIntegration(this, "Integration", {
      apiId,
      integrationType: "AWS_PROXY",
      integrationUri: web.functionArn,
      payloadFormatVersion: "2.0",
    });
    for (const [index, routeKey] of ROUTES.entries()) {
      const target = `integrations/${integration.ref}`;
      new CfnRoute(this, `Route${index === 0 ? "" : index + 1}`, { apiId, routeKey, target });
    }
    new CfnPermission(this, "Permission", {
      action: "lambda:InvokeFunction",
      functionName: web.functionArn,
      principal: "apigateway.amazonaws.com",
      sourceArn: Stack.of(this).formatArn({ service: "execute-api", resource: apiId, resourceName: "*/GET/*" }),
    });
  }

  #webFunction(webDir: string, filesOrigin: string): LambdaFunction {
    const log = new LogGroup(this, "Log", {
      logGroupName: toPath(this, "functions/web"),
      retention: logRetention(this),
      removalPolicy: RemovalPolicy.DESTROY,
    });
    const role = new Role(this, "Role", {
      assumedBy: new ServicePrincipal("lambda.amazonaws.com"),
      description: toName(this, "web"),
      inlinePolicies: { rights: new PolicyDocument({ statements: [ownLog(log)] }) },
    });
    const files: unknown = new LayerVersion(this, "Files", {
      description: "The files of Runyard's web app.",
      code: Code.fromAsset(webDir),
    });
    if (!isLayer(files)) throw new Error("aws-cdk-lib is there twice");
    return new LambdaFunction(this, "Function", {
      functionName: toName(this, "web"),
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      handler: "index.handler",
      code: Code.fromInline(WEB_HANDLER),
      layers: [files],
      role: role.withoutPolicyUpdates(),
      logGroup: log,
      loggingFormat: LoggingFormat.JSON,
      tracing: Tracing.DISABLED,
      memorySize: 256,
      environment: { CONTENT_SECURITY_POLICY: contentSecurityPolicy(filesOrigin) },
    });
  }
}

const isLayer = (layer: unknown): layer is LayerVersion => layer instanceof LayerVersion;

/**
 * Responds with a file of the layer, or with the app's page for every path that names no file; with the status 404 if the app has no
 * page there by its paths.json.
 */
export const WEB_HANDLER = `const { readdirSync, readFileSync } = require("node:fs");
const types = { css: "text/css", html: "text/html", js: "text/javascript", svg: "image/svg+xml", json: "application/json" };
let files;
const load = (folder) => readdirSync("/opt" + folder, { withFileTypes: true }).flatMap((entry) => {
  const path = folder + "/" + entry.name;
  if (entry.isDirectory()) return load(path);
  const type = types[path.split(".").pop()];
  return [[path, { type: type ? type + "; charset=utf-8" : "application/octet-stream", body: readFileSync("/opt" + path).toString("base64") }]];
});
const isKnown = (wanted) => {
  const paths = files.get("/paths.json");
  const segments = (wanted === "/" || !wanted.endsWith("/") ? wanted : wanted.slice(0, -1)).split("/");
  return !paths || JSON.parse(Buffer.from(paths.body, "base64").toString()).some((path) => {
    const parts = path.split("/");
    return parts.length === segments.length && parts.every((part, at) => part[0] === "$" || part === segments[at]);
  });
};
exports.handler = async ({ rawPath }) => {
  files ??= new Map(load(""));
  const isPage = !rawPath.split("/").pop().includes(".");
  const file = files.get(isPage ? "/index.html" : rawPath);
  const headers = {
    ...${JSON.stringify(WEB_HEADERS)},
    "content-security-policy": process.env.CONTENT_SECURITY_POLICY,
    "cache-control": rawPath.startsWith("/assets/") && file ? "public, max-age=31536000, immutable" : "no-cache",
  };
  if (file === undefined) return { statusCode: 404, headers, body: "" };
  return { statusCode: isPage && !isKnown(rawPath) ? 404 : 200, headers: { ...headers, "content-type": file.type }, body: file.body, isBase64Encoded: true };
};
`;
