import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { Duration, RemovalPolicy, Stack } from "aws-cdk-lib";
import { Certificate } from "aws-cdk-lib/aws-certificatemanager";
import {
  AllowedMethods,
  type BehaviorOptions,
  CacheCookieBehavior,
  CacheHeaderBehavior,
  CachePolicy,
  CacheQueryStringBehavior,
  Distribution,
  Function as EdgeFunction,
  FunctionCode,
  FunctionEventType,
  FunctionRuntime,
  HeadersFrameOption,
  HeadersReferrerPolicy,
  HttpVersion,
  OriginRequestPolicy,
  PriceClass,
  ResponseHeadersPolicy,
  SecurityPolicyProtocol,
  ViewerProtocolPolicy,
} from "aws-cdk-lib/aws-cloudfront";
import { HttpOrigin, S3BucketOrigin } from "aws-cdk-lib/aws-cloudfront-origins";
import { LogGroup } from "aws-cdk-lib/aws-logs";
import type { IBucket } from "aws-cdk-lib/aws-s3";
import { BucketDeployment, CacheControl, Source } from "aws-cdk-lib/aws-s3-deployment";
import { Construct } from "constructs";
import * as v from "valibot";
import { logRetention, toPath } from "../names.ts";
import type { Settings } from "../settings.ts";
import { closedBucket } from "./closed-bucket.ts";
import type { EventStream } from "./event-stream.ts";
import { contentSecurityPolicy } from "./web-headers.ts";

/** Headers of requests to the function that streams events; shared/http/origin-endpoint.ts reads them. */
const SECRET_HEADER = "runyard-origin-secret";
const HOST_HEADER = "runyard-viewer-host";

/**
 * The errors that CloudFront caches for ten seconds by default, whatever the cache policy and `no-store` say. Callers that retry, or
 * that poll until a resource exists, would get the cached error.
 * @see https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/HTTPStatusCodes.html
 * @see https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/custom-error-pages-expiration.html
 */
const CACHED_ERRORS = [404, 405, 414, 500, 501, 502, 503, 504];

/** A copy of the app's page for addresses at which it has none. The build of the app writes it. */
const MISSING_PAGE = "/404.html";

export interface FrontDoorProps {
  /** Id of the HTTP API that serves /api/. */
  readonly apiId: string;
  /** Id of the HTTP API that serves the requests of harnesses. */
  readonly harnessApiId: string;
  /** Whether CloudFront adds the secret to requests to both APIs. @default false */
  readonly closedApi?: boolean;
  /** ARN of a web ACL that requests have to pass. @default none */
  readonly webAclArn?: string | undefined;
  /** The function that streams the events of runs. */
  readonly events: Pick<EventStream, "host" | "secret">;
  /** Directory of the web app that is served everywhere else. @default none, and those addresses return 403 */
  readonly webDir?: string | undefined;
  /** A custom domain name with its certificate. @default CloudFront's own */
  readonly domain?: Settings["domain"];
  /** Origin of the signed URLs of files, which the web app shows pictures from and uploads attachments to. */
  readonly filesOrigin: string;
}

/** One address for the API and the web app, with TLS, HTTP/3 and compression. */
export class FrontDoor extends Construct {
  /** `https://…`, without a slash at its end. */
  readonly url: string;
  /** CloudFront's own host name, the target of a custom domain's DNS record. */
  readonly domainName: string;
  readonly distributionId: string;

  constructor(scope: Construct, id: string, props: FrontDoorProps) {
    super(scope, id);
    // It only contains files that the next deployment can upload again.
    const web = closedBucket(this, "Web", { removalPolicy: RemovalPolicy.DESTROY, autoDeleteObjects: true });
    const { region, urlSuffix } = Stack.of(this);
    const toApi = (apiId: string): BehaviorOptions => ({
      origin: new HttpOrigin(`${apiId}.execute-api.${region}.${urlSuffix}`, {
        // Longer than the API's own 30 seconds, so that a waiting reader gets the API's response.
        readTimeout: Duration.seconds(35),
        ...(props.closedApi === true && { customHeaders: { [SECRET_HEADER]: props.events.secret } }),
      }),
      allowedMethods: AllowedMethods.ALLOW_ALL,
      // A key must never be sent over plain HTTP, not even to be redirected.
      viewerProtocolPolicy: ViewerProtocolPolicy.HTTPS_ONLY,
      cachePolicy: apiCache,
      originRequestPolicy: OriginRequestPolicy.ALL_VIEWER_EXCEPT_HOST_HEADER,
      compress: true,
    });
    const apiCache = this.apiCache();
    const pageOfPath = this.pageOfPath(props.webDir);
    const distribution = new Distribution(this, "Distribution", {
      comment: "Runyard",
      httpVersion: HttpVersion.HTTP2_AND_3,
      priceClass: PriceClass.PRICE_CLASS_100,
      ...(props.webAclArn !== undefined && { webAclId: props.webAclArn }),
      ...(props.domain && {
        domainNames: [props.domain.name],
        certificate: Certificate.fromCertificateArn(this, "Certificate", props.domain.certificateArn),
        minimumProtocolVersion: SecurityPolicyProtocol.TLS_V1_2_2021,
      }),
      defaultRootObject: "index.html",
      errorResponses: CACHED_ERRORS.map((httpStatus) => ({ httpStatus, ttl: Duration.seconds(0) })),
      defaultBehavior: {
        origin: S3BucketOrigin.withOriginAccessControl(web),
        viewerProtocolPolicy: ViewerProtocolPolicy.REDIRECT_TO_HTTPS,
        responseHeadersPolicy: this.webHeaders(props.filesOrigin),
        functionAssociations: [
          { eventType: FunctionEventType.VIEWER_REQUEST, function: pageOfPath },
          { eventType: FunctionEventType.VIEWER_RESPONSE, function: pageOfPath },
        ],
        compress: true,
      },
      additionalBehaviors: {
        "/api/v1/agent/runs/*/events": {
          origin: new HttpOrigin(props.events.host, {
            customHeaders: { [SECRET_HEADER]: props.events.secret },
            // A stream sends something every 15 seconds, and a waiting reader gets its response after 25.
            readTimeout: Duration.seconds(60),
          }),
          allowedMethods: AllowedMethods.ALLOW_ALL,
          viewerProtocolPolicy: ViewerProtocolPolicy.HTTPS_ONLY,
          cachePolicy: CachePolicy.CACHING_DISABLED,
          originRequestPolicy: OriginRequestPolicy.ALL_VIEWER_EXCEPT_HOST_HEADER,
          functionAssociations: [{ eventType: FunctionEventType.VIEWER_REQUEST, function: this.viewerHost() }],
          // Compression would delay events.
          compress: false,
        },
        "/api/v1/harness-support/*": toApi(props.harnessApiId),
        "/api/*": toApi(props.apiId),
      },
    });
    if (props.webDir !== undefined) {
      this.deployWeb(props.webDir, web, distribution);
    }
    this.distributionId = distribution.distributionId;
    this.domainName = distribution.distributionDomainName;
    this.url = `https://${props.domain?.name ?? this.domainName}`;
  }

  /**
   * The API's responses have `no-store` and are not cached. CloudFront compresses only if the cache policy allows caching, hence a
   * maximum of one second. The credentials are part of the cache key, so that even a response without `no-store` stays private.
   */
  private apiCache(): CachePolicy {
    return new CachePolicy(this, "ApiCache", {
      minTtl: Duration.seconds(0),
      defaultTtl: Duration.seconds(0),
      maxTtl: Duration.seconds(1),
      headerBehavior: CacheHeaderBehavior.allowList("Authorization"),
      cookieBehavior: CacheCookieBehavior.allowList("__Host-runyard"),
      queryStringBehavior: CacheQueryStringBehavior.all(),
      enableAcceptEncodingGzip: true,
      enableAcceptEncodingBrotli: true,
    });
  }

  /** Passes the host that the caller named to the function, since a function URL needs its own. */
  private viewerHost(): EdgeFunction {
    return new EdgeFunction(this, "ViewerHost", {
      runtime: FunctionRuntime.JS_2_0,
      code: FunctionCode.fromInline(
        [
          "function handler(event) {",
          "  var request = event.request;",
          `  request.headers["${HOST_HEADER}"] = { value: request.headers.host.value };`,
          "  return request;",
          "}",
        ].join("\n"),
      ),
    });
  }

  /** Puts the web app into its bucket. Files under assets/ have a hash of their content in their names. */
  private deployWeb(webDir: string, destinationBucket: IBucket, distribution: Distribution): void {
    const logGroup = new LogGroup(this, "WebFilesLog", {
      logGroupName: toPath(this, "deploy-web"),
      retention: logRetention(this),
      removalPolicy: RemovalPolicy.DESTROY,
    });
    const shared = { sources: [Source.asset(webDir)], destinationBucket, logGroup };
    const assets = new BucketDeployment(this, "WebAssets", {
      ...shared,
      exclude: ["*"],
      include: ["assets/*"],
      // Pages that were opened before a deployment still load the previous files.
      prune: false,
      cacheControl: [CacheControl.setPublic(), CacheControl.maxAge(Duration.days(365)), CacheControl.immutable()],
    });
    const files = new BucketDeployment(this, "WebFiles", {
      ...shared,
      exclude: ["assets/*"],
      distribution,
      distributionPaths: ["/*"],
      // Browsers revalidate their copy each time; the response is small.
      cacheControl: [CacheControl.noCache()],
    });
    // The page refers to the assets, so they have to be uploaded first.
    files.node.addDependency(assets);
  }

  /**
   * The web app handles its own paths: every path that is not a file returns its page. Where the app has no page, it is a copy under
   * another name, which gets the status 404 on its way to the viewer. An error page of CloudFront would also replace errors of the
   * API.
   */
  private pageOfPath(webDir: string | undefined): EdgeFunction {
    return new EdgeFunction(this, "PageOfPath", {
      runtime: FunctionRuntime.JS_2_0,
      code: FunctionCode.fromInline(
        [
          `var paths = ${JSON.stringify(readPaths(webDir))};`,
          "function isKnown(uri) {",
          '  var segments = (uri === "/" || !uri.endsWith("/") ? uri : uri.slice(0, -1)).split("/");',
          "  return paths.length === 0 || paths.some(function (path) {",
          '    var parts = path.split("/");',
          "    return parts.length === segments.length && parts.every(function (part, at) {",
          '      return part[0] === "$" || part === segments[at];',
          "    });",
          "  });",
          "}",
          "function handler(event) {",
          "  var request = event.request;",
          '  var isPage = !request.uri.split("/").pop().includes(".");',
          "  if (event.response) {",
          `    var isMissing = request.uri === "${MISSING_PAGE}" || (isPage && !isKnown(request.uri));`,
          "    if (isMissing && event.response.statusCode === 200) {",
          "      event.response.statusCode = 404;",
          '      event.response.statusDescription = "Not Found";',
          "    }",
          "    return event.response;",
          "  }",
          `  if (isPage) request.uri = isKnown(request.uri) ? "/index.html" : "${MISSING_PAGE}";`,
          "  return request;",
          "}",
        ].join("\n"),
      ),
    });
  }

  private webHeaders(filesOrigin: string): ResponseHeadersPolicy {
    return new ResponseHeadersPolicy(this, "WebHeaders", {
      securityHeadersBehavior: {
        contentSecurityPolicy: {
          contentSecurityPolicy: contentSecurityPolicy(filesOrigin),
          override: true,
        },
        contentTypeOptions: { override: true },
        frameOptions: { frameOption: HeadersFrameOption.DENY, override: true },
        referrerPolicy: { referrerPolicy: HeadersReferrerPolicy.NO_REFERRER, override: true },
        // Exclude subdomains: a custom domain may have some that Runyard does not serve.
        strictTransportSecurity: { accessControlMaxAge: Duration.days(365), includeSubdomains: false, override: true },
      },
      // Pages that open this page, or that it opens, get no reference to its window.
      customHeadersBehavior: {
        customHeaders: [{ header: "Cross-Origin-Opener-Policy", value: "same-origin", override: true }],
      },
    });
  }
}

const Paths = v.pipe(v.string(), v.parseJson(), v.array(v.string()));

/** The paths of the app's pages, in which names with `$` match one segment. None of an app that does not list them: it has all paths. */
function readPaths(webDir = ""): string[] {
  const isListed = ["paths.json", MISSING_PAGE].every((name) => existsSync(path.join(webDir, name)));
  return isListed ? v.parse(Paths, readFileSync(path.join(webDir, "paths.json"), "utf8")) : [];
}
