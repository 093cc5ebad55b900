import { describe, expect, it } from "vitest";
import { EVERY_SETTING, type Synthesized, synthesize } from "./synthesize.ts";

interface Stage {
  readonly ApiId: { Ref: string };
  readonly DefaultRouteSettings: { ThrottlingRateLimit: number; ThrottlingBurstLimit: number };
  readonly AccessLogSettings?: object;
}
interface Distribution {
  readonly DistributionConfig: {
    readonly WebACLId?: string;
    readonly CacheBehaviors: { PathPattern: string; TargetOriginId: string }[];
    readonly Origins: {
      Id: string;
      DomainName: unknown;
      OriginCustomHeaders?: { HeaderName: string; HeaderValue: unknown }[];
    }[];
  };
}
interface Route {
  readonly ApiId: unknown;
  readonly RouteKey: string;
}

const listStages = (of: Synthesized) =>
  of
    .all<Stage>("AWS::ApiGatewayV2::Stage")
    .filter(({ stack }) => stack === "Runyard-Api")
    .map(({ Properties: { ApiId, DefaultRouteSettings: throttle } }) => [
      ApiId.Ref.replace(/[0-9A-F]{8}$/, ""),
      throttle.ThrottlingRateLimit,
      throttle.ThrottlingBurstLimit,
    ]);
const readDoor = (of: Synthesized) =>
  of.all<Distribution>("AWS::CloudFront::Distribution")[0]?.Properties.DistributionConfig;
/** The headers that CloudFront adds to requests of a path. */
function readOrigin(of: Synthesized, path: string) {
  const door = readDoor(of);
  const id = door?.CacheBehaviors.find(({ PathPattern }) => PathPattern === path)?.TargetOriginId;
  return door?.Origins.find(({ Id }) => Id === id);
}
/** The variables of functions that have an origin secret. */
const listSecrets = (of: Synthesized) =>
  of
    .all<{ FunctionName: string; Environment?: { Variables: Record<string, unknown> } }>("AWS::Lambda::Function")
    .flatMap(({ Properties: { FunctionName, Environment } }) => {
      const secret = Environment?.Variables["ORIGIN_SECRET"];
      return secret === undefined ? [] : [{ name: FunctionName, secret: JSON.stringify(secret) }];
    });

describe("requests of harnesses", () => {
  it("have a throttle of their own, which requests of callers cannot use up", () => {
    expect(listStages(synthesize())).toEqual([
      ["Api", 500, 1_000],
      ["HarnessApi", 1_000, 2_000],
    ]);
    expect(listStages(synthesize(EVERY_SETTING))).toEqual([
      ["Api", 333, 777],
      ["HarnessApi", 222, 555],
    ]);
  });

  it("are all served by their API, and unknown paths of it by the function for those", () => {
    const aws = synthesize();
    const routes = aws.all<Route>("AWS::ApiGatewayV2::Route").map(({ Properties }) => Properties);
    const isOfHarness = ({ ApiId }: Route) => JSON.stringify(ApiId).includes("HarnessApi");
    const keys = routes.filter(isOfHarness).map(({ RouteKey }) => RouteKey);
    expect(keys.filter((key) => !key.includes("/api/v1/harness-support/"))).toEqual(["$default"]);
    expect(keys.length).toBeGreaterThan(10);
    const others = routes.filter((route) => route.RouteKey.includes("/harness-support/") && !isOfHarness(route));
    // An address other than that of CloudFront leads to the API of callers.
    expect(others.map(({ RouteKey }) => RouteKey).toSorted()).toEqual(
      keys.filter((key) => key !== "$default").toSorted(),
    );
    expect(JSON.stringify(readOrigin(aws, "/api/v1/harness-support/*")?.DomainName)).toContain("HarnessApi");
    expect(JSON.stringify(readOrigin(aws, "/api/*")?.DomainName)).not.toContain("HarnessApi");
  });

  it("are sent to the API of callers without CloudFront, which has their routes", () => {
    const without = synthesize({ frontDoor: "false" });
    const base = without
      .all<{ FunctionName: string; Environment: { Variables: Record<string, unknown> } }>("AWS::Lambda::Function")
      .find(({ Properties }) => Properties.FunctionName === "runyard-dispatch-run")?.Properties.Environment.Variables;
    expect(JSON.stringify(base?.["BASE_URL"])).toMatch(/ExportsOutputFnGetAttApi[0-9A-F]{8}ApiEndpoint/);
  });
});

describe("a closed API", () => {
  it("gets the secret from CloudFront, and every function of a route requires it", () => {
    const closed = synthesize({ closedApi: "true" });
    const secrets = listSecrets(closed);
    const routed = new Set(
      closed
        .all<Route>("AWS::ApiGatewayV2::Integration")
        .filter(({ id }) => !id.includes("OtherIntegration"))
        .map(({ id, stack }) => `${stack} ${id}`),
    );
    expect(secrets.length).toBeGreaterThan(100);
    expect(secrets.length).toBeGreaterThanOrEqual(routed.size - 5);
    for (const path of ["/api/*", "/api/v1/harness-support/*"]) {
      expect(readOrigin(closed, path)?.OriginCustomHeaders?.map(({ HeaderName }) => HeaderName)).toEqual([
        "runyard-origin-secret",
      ]);
    }
  });

  it("is not the default: only the function that streams events requires the secret", () => {
    const aws = synthesize();
    expect(listSecrets(aws).map(({ name }) => name)).toEqual(["runyard-stream-events"]);
    expect(readOrigin(aws, "/api/*")?.OriginCustomHeaders).toBeUndefined();
  });

  it("accepts the former secret too while CloudFront changes to another one", () => {
    const rotated = synthesize({ originSecretSalts: "second1,initial" });
    const sent = JSON.stringify(readOrigin(rotated, "/api/v1/agent/runs/*/events")?.OriginCustomHeaders);
    const [{ secret } = { secret: "" }] = listSecrets(rotated);
    expect(sent).toContain("-second1");
    expect(secret).toContain("-second1,");
    expect(JSON.stringify(readOrigin(synthesize(), "/api/v1/agent/runs/*/events"))).not.toContain("-second1");
  });
});

describe("settings of what is in front of the API", () => {
  it("include a web ACL, which CloudFront applies", () => {
    expect(readDoor(synthesize())?.WebACLId).toBeUndefined();
    expect(readDoor(synthesize(EVERY_SETTING))?.WebACLId).toBe(EVERY_SETTING["webAclArn"]);
    expect(() => synthesize({ webAclArn: "arn:aws:wafv2:eu-west-1:111122223333:regional/webacl/a/b" })).toThrow(
      /context "webAclArn" must be the ARN of a web ACL with the scope CLOUDFRONT/,
    );
  });

  it("include what the streaming function reserves, within the account's quota", () => {
    const reserved = (context: Record<string, string>) =>
      synthesize(context)
        .all<{ FunctionName: string; ReservedConcurrentExecutions?: number }>("AWS::Lambda::Function")
        .find(({ Properties }) => Properties.FunctionName === "runyard-stream-events")?.Properties
        .ReservedConcurrentExecutions;
    expect(reserved({})).toBeUndefined();
    expect(reserved({ accountConcurrency: "1000", streamConcurrency: "40" })).toBe(40);
    expect(() => synthesize({ accountConcurrency: "1000", streamConcurrency: "901" })).toThrow(
      'context "streamConcurrency" must be at most 900: 100 executions stay unreserved',
    );
    expect(() => synthesize({ streamConcurrency: "40" })).toThrow(/"accountConcurrency" must be the account's quota/);
  });

  it.each([
    ["closedApi", "true"],
    ["webAclArn", EVERY_SETTING["webAclArn"] ?? ""],
    ["harnessRequestsPerSecond", "100"],
    ["originSecretSalts", "another"],
  ])("are refused without CloudFront: %s", (name, value) => {
    expect(() => synthesize({ frontDoor: "false", [name]: value })).toThrow(`context "${name}" needs CloudFront`);
  });

  it("refuse texts for the secret that could be guessed or are not letters and digits", () => {
    for (const originSecretSalts of ["short", "with-hyphen", "aaaaaaa,bbbbbbb,ccccccc,ddddddd"]) {
      expect(() => synthesize({ originSecretSalts })).toThrow(
        /context "originSecretSalts" must be at most three texts/,
      );
    }
  });
});
