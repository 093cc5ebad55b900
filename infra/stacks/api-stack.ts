import { CfnOutput, Duration, RemovalPolicy, Stack, type StackProps } from "aws-cdk-lib";
import { AccessLogFormat } from "aws-cdk-lib/aws-apigateway";
import {
  CorsHttpMethod,
  HttpApi,
  HttpStage,
  type HttpStageProps,
  LogGroupLogDestination,
} from "aws-cdk-lib/aws-apigatewayv2";
import { type Metric, Stats } from "aws-cdk-lib/aws-cloudwatch";
import { PolicyStatement, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { FilterPattern, type ILogGroup, LogGroup, MetricFilter } from "aws-cdk-lib/aws-logs";
import { Topic } from "aws-cdk-lib/aws-sns";
import { EmailSubscription } from "aws-cdk-lib/aws-sns-subscriptions";
import type { Construct } from "constructs";
import { Alarm } from "../constructs/alarm.ts";
import { createDetailedApiAlarms } from "../constructs/detailed-alarms.ts";
import { EventStream } from "../constructs/event-stream.ts";
import { FrontDoor } from "../constructs/front-door.ts";
import { webCors } from "../constructs/web-cors.ts";
import { WebFunction } from "../constructs/web-function.ts";
import { logRetention, toName, toNamespace, toPath } from "../names.ts";
import type { Addresses, Platform } from "../platform.ts";
import type { Settings } from "../settings.ts";
import type { DataStack } from "./data-stack.ts";

/** The methods that pages of another origin may use. */
const METHODS = [CorsHttpMethod.GET, CorsHttpMethod.POST, CorsHttpMethod.PUT, CorsHttpMethod.DELETE];

export interface ApiStackProps extends StackProps {
  readonly platform: Platform;
  readonly data: DataStack;
}

/** The HTTP API without its routes, CloudFront in front of it, and the alarm topic. */
export class ApiStack extends Stack {
  readonly apiId: string;
  /**
   * Another API with the routes of harnesses alone, to which CloudFront sends their requests, so that callers cannot use up its throttle.
   * It is there without CloudFront too: a stack cannot drop an export while another stack still imports it. An emulator has none.
   */
  readonly harnessApiId: string | undefined;
  /** The accepted secrets, separated by commas; undefined if requests need no secret. */
  readonly originSecrets: string | undefined;
  readonly addresses: Addresses;
  /** The topic that alarms notify; the setting `alarmEmail` subscribes an address to it. The emulator has none. */
  readonly alarmTopic: Topic | undefined;

  constructor(scope: Construct, id: string, { platform, data, ...props }: ApiStackProps) {
    super(scope, id, props);
    const { settings, webDir } = platform;
    const onAws = settings.stage === "aws";
    this.alarmTopic = onAws ? this.topic(settings.alarmEmail) : undefined;

    const api = new HttpApi(this, "Api", {
      apiName: toName(this),
      createDefaultStage: false,
      // Behind CloudFront the web app and the API have one origin; only a web app elsewhere needs to be named.
      // The emulator gets CORS wrong, and the local cloud has a proxy.
      ...(settings.webUrl !== undefined &&
        onAws && { corsPreflight: { ...webCors(settings.webUrl), allowMethods: METHODS } }),
    });
    const accessLog = this.accessLog();
    const accessLogSettings = {
      destination: new LogGroupLogDestination(accessLog),
      format: accessLogFormat(),
    };
    const stage = { stageName: "$default", autoDeploy: true, accessLogSettings };
    new HttpStage(this, "Stage", {
      ...stage,
      httpApi: api,
      throttle: { rateLimit: settings.requestsPerSecond ?? 500, burstLimit: settings.requestBurst ?? 1_000 },
    });
    this.apiId = api.apiId;
    const hasDoor = onAws && settings.frontDoor;
    this.harnessApiId = onAws ? this.createHarnessApi(settings, stage).apiId : undefined;

    const { door, originSecrets, streams } = hasDoor
      ? this.frontDoor(platform, data)
      : { door: undefined, originSecrets: undefined, streams: undefined };
    this.originSecrets = originSecrets;
    const servesWeb = onAws && door === undefined && webDir !== undefined;
    if (servesWeb) new WebFunction(this, "Web", { apiId: api.apiId, webDir, filesOrigin: toOrigin(data) });
    // Without a web app there is no address to send people to.
    const ownWebUrl = servesWeb ? api.apiEndpoint : door?.url;
    const webUrl = settings.webUrl ?? (webDir === undefined ? undefined : ownWebUrl);
    // Exported even if the settings name other addresses: a stack cannot drop an export while another stack still imports it.
    if (onAws) this.exportValue(api.apiEndpoint);
    if (door !== undefined) this.exportValue(door.domainName);
    const baseUrl = settings.baseUrl ?? `${door?.url ?? api.apiEndpoint}/api/v1`;
    this.addresses = { baseUrl, ...(webUrl !== undefined && { webUrl }) };

    new Alarm(this, "ApiErrors", {
      name: "api-errors",
      impact: "Callers get 5xx responses.",
      // Counts both APIs; a metric of API Gateway covers only one.
      metric: countResponses(this, "ApiErrors", accessLog, "5*"),
      threshold: 5,
      topic: this.alarmTopic,
    });

    const refusals = countResponses(this, "RefusedRequests", accessLog, "429");
    if (settings.detailedAlarms && onAws) {
      const ofDoor = door === undefined ? undefined : { streams, distributionId: door.distributionId };
      createDetailedApiAlarms(this, { refusals, door: ofDoor, topic: this.alarmTopic });
    }

    new CfnOutput(this, "ApiId", { value: api.apiId });
    new CfnOutput(this, "ApiEndpoint", { value: api.apiEndpoint });
    new CfnOutput(this, "BaseUrl", { value: baseUrl });
    if (webUrl !== undefined) new CfnOutput(this, "WebUrl", { value: webUrl });
    if (door !== undefined) new CfnOutput(this, "CloudFrontDomainName", { value: door.domainName });
  }

  private createHarnessApi(
    { harnessRequestsPerSecond: rateLimit = 1_000, harnessRequestBurst: burstLimit = 2_000 }: Settings,
    stage: Omit<HttpStageProps, "httpApi">,
  ): HttpApi {
    const api = new HttpApi(this, "HarnessApi", { apiName: toName(this, "harness"), createDefaultStage: false });
    new HttpStage(this, "HarnessStage", { ...stage, httpApi: api, throttle: { rateLimit, burstLimit } });
    return api;
  }

  private frontDoor(platform: Platform, { table, bucket, live }: DataStack) {
    const events = new EventStream(this, "EventStream", { platform, targets: { table, bucket, live } });
    const { webDir, settings } = platform;
    const door = new FrontDoor(this, "FrontDoor", {
      apiId: this.apiId,
      harnessApiId: this.harnessApiId ?? this.apiId,
      closedApi: settings.closedApi,
      webAclArn: settings.webAclArn,
      events,
      webDir,
      ...(settings.domain && { domain: settings.domain }),
      filesOrigin: toOrigin({ bucket }),
    });
    const originSecrets = settings.closedApi ? events.acceptedSecrets : undefined;
    return { door, originSecrets, streams: events.lambda.functionName };
  }

  private topic(email: string | undefined): Topic {
    const topic = new Topic(this, "Alarms", { topicName: toName(this, "alarms"), enforceSSL: true });
    // The policy that `enforceSSL` creates replaces the default one, by which the account's alarms may publish.
    topic.addToResourcePolicy(
      new PolicyStatement({
        actions: ["sns:Publish"],
        resources: [topic.topicArn],
        principals: [new ServicePrincipal("cloudwatch.amazonaws.com")],
        conditions: { StringEquals: { "aws:SourceAccount": this.account } },
      }),
    );
    if (email !== undefined) topic.addSubscription(new EmailSubscription(email));
    this.exportValue(topic.topicArn);
    return topic;
  }

  private accessLog(): LogGroup {
    return new LogGroup(this, "AccessLog", {
      // Log groups with this prefix do not count against the size limit of the account's log resource policy.
      logGroupName: `/aws/vendedlogs${toPath(this, "api")}`,
      retention: logRetention(this),
      removalPolicy: RemovalPolicy.DESTROY,
    });
  }
}

/**
 * Who requested what, when, and how it ended; no path, query string or header, which may hold secrets: an invitation's token is
 * in its path.
 */
function accessLogFormat(): AccessLogFormat {
  return AccessLogFormat.custom(
    JSON.stringify({
      requestId: "$context.requestId",
      ip: "$context.identity.sourceIp",
      time: "$context.requestTime",
      routeKey: "$context.routeKey",
      status: "$context.status",
      protocol: "$context.protocol",
      responseLength: "$context.responseLength",
      latencyMs: "$context.responseLatency",
      integrationError: "$context.integrationErrorMessage",
    }),
  );
}

/** Counts the responses of both APIs whose status matches, by the access log. */
const countResponses = (scope: Construct, metricName: string, logGroup: ILogGroup, status: string): Metric =>
  new MetricFilter(scope, `${metricName}Count`, {
    logGroup,
    filterPattern: FilterPattern.stringValue("$.status", "=", status),
    metricNamespace: toNamespace(scope),
    metricName,
  }).metric({ period: Duration.minutes(5), statistic: Stats.SUM });

/** Origin of the signed URLs of files. */
const toOrigin = ({ bucket }: Pick<DataStack, "bucket">): string => `https://${bucket.bucketRegionalDomainName}`;
