import { runInNewContext } from "node:vm";
import { beforeAll, describe, expect, it } from "vitest";
import { type Synthesized, synthesize } from "./synthesize.ts";

interface LambdaFunction {
  readonly FunctionName: string;
  readonly Timeout: number;
  readonly Environment: { Variables: Record<string, unknown> };
}
interface Origin {
  readonly Id: string;
  readonly OriginCustomHeaders?: { HeaderName: string; HeaderValue: unknown }[];
  readonly CustomOriginConfig?: { OriginReadTimeout?: number };
}
interface Behavior {
  readonly PathPattern: string;
  readonly TargetOriginId: string;
  readonly Compress: boolean;
  readonly ViewerProtocolPolicy: string;
}
interface Distribution {
  readonly DistributionConfig: { Origins: Origin[]; CacheBehaviors: Behavior[] };
}

describe("the event stream", () => {
  let aws: Synthesized;
  beforeAll(() => {
    aws = synthesize();
  });

  const streamFunction = () =>
    aws
      .all<LambdaFunction>("AWS::Lambda::Function")
      .find(({ Properties }) => Properties.FunctionName === "runyard-stream-events")?.Properties;

  it("is served by CloudFront from a function URL whose secret only CloudFront knows", () => {
    const [distribution] = aws.all<Distribution>("AWS::CloudFront::Distribution");
    const { Origins = [], CacheBehaviors = [] } = distribution?.Properties.DistributionConfig ?? {};
    // CloudFront takes the first pattern that matches.
    expect(CacheBehaviors.map(({ PathPattern }) => PathPattern)).toEqual([
      "/api/v1/agent/runs/*/events",
      "/api/v1/harness-support/*",
      "/api/*",
    ]);
    const [behavior] = CacheBehaviors;
    expect(behavior).toMatchObject({ Compress: false, ViewerProtocolPolicy: "https-only" });
    const origin = Origins.find(({ Id }) => Id === behavior?.TargetOriginId);
    expect(JSON.stringify(origin)).toMatch(/EventStreamUrl.*FunctionUrl/);
    expect(origin?.CustomOriginConfig?.OriginReadTimeout).toBe(60);
    const [header, ...others] = origin?.OriginCustomHeaders ?? [];
    expect(others).toEqual([]);
    expect(header?.HeaderName).toBe("runyard-origin-secret");
    expect(header?.HeaderValue).toEqual(streamFunction()?.Environment.Variables["ORIGIN_SECRET"]);
    expect(JSON.stringify(header?.HeaderValue)).toContain("AWS::StackId");
  });

  it("may take Lambda's maximum time, which exceeds a stream's", () => {
    expect(streamFunction()?.Timeout).toBe(900);
    const urls = aws.all<{ AuthType: string; InvokeMode: string }>("AWS::Lambda::Url");
    expect(urls).toHaveLength(2);
    for (const { Properties } of urls)
      expect(Properties).toMatchObject({ AuthType: "NONE", InvokeMode: "RESPONSE_STREAM" });
  });

  it("is readable for a web app of another origin, with the API's lists of headers, and for no other page", () => {
    interface Cors {
      readonly AllowMethods: string[];
      readonly AllowHeaders: string[];
      readonly ExposeHeaders: string[];
      readonly MaxAge: number;
    }
    const corsOf = (of: Synthesized) =>
      of
        .all<{ Cors?: Cors }>("AWS::Lambda::Url")
        .flatMap(({ id, Properties }) => (Properties.Cors ? [[id, Properties.Cors]] : []));
    expect(corsOf(aws)).toEqual([]);
    const other = synthesize({ webUrl: "https://runs.example/" });
    const [api] = other.all<{ CorsConfiguration?: Cors }>("AWS::ApiGatewayV2::Api");
    const { AllowHeaders, ExposeHeaders, MaxAge } = api?.Properties.CorsConfiguration ?? {};
    const expected = {
      AllowOrigins: ["https://runs.example"],
      AllowMethods: ["GET"],
      AllowHeaders,
      ExposeHeaders,
      MaxAge,
    };
    expect(corsOf(other)).toEqual([[expect.stringMatching(/^EventStreamUrl/), expected]]);
    expect(AllowHeaders).toEqual(expect.arrayContaining(["authorization", "last-event-id", "x-team-uid"]));
  });

  it("forwards the headers of a preflight request to the function URL, which answers it", () => {
    const [distribution] = aws.all<Distribution>("AWS::CloudFront::Distribution");
    expect(distribution?.Properties.DistributionConfig.CacheBehaviors[0]).toMatchObject({
      AllowedMethods: expect.arrayContaining(["OPTIONS"]),
      // AllViewerExceptHostHeader
      OriginRequestPolicyId: "b689b0a8-53d0-40ab-baf2-68738e2966ac",
    });
  });

  it("passes the caller's host name to the function", () => {
    const codes = aws.all<{ FunctionCode: string }>("AWS::CloudFront::Function");
    const code = codes.find(({ Properties }) => Properties.FunctionCode.includes("runyard-viewer-host"));
    const headers = runInNewContext(
      `${code?.Properties.FunctionCode}; handler({ request: { headers: { host: { value: "a.example" } } } }).headers`,
    );
    expect(headers["runyard-viewer-host"]).toEqual({ value: "a.example" });
  });

  it("keeps live output in a table without backups and streams, with expiring items", () => {
    const table = aws
      .all<Record<string, unknown>>("AWS::DynamoDB::GlobalTable")
      .concat(aws.all<Record<string, unknown>>("AWS::DynamoDB::Table"))
      .find(({ Properties }) => String(Properties["TableName"]).endsWith("-live"))?.Properties;
    expect(table).toMatchObject({ TimeToLiveSpecification: { AttributeName: "expires_at", Enabled: true } });
    for (const member of ["StreamSpecification", "PointInTimeRecoverySpecification", "GlobalSecondaryIndexes"])
      expect(table?.[member], member).toBeUndefined();
  });
});
