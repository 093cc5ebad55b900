import { beforeAll, describe, expect, it } from "vitest";
import { routes } from "#infra/routes.ts";
import { type Synthesized, synthesize } from "./synthesize.ts";

interface FunctionProperties {
  readonly FunctionName: string;
  readonly Runtime?: string;
  readonly PackageType?: string;
  readonly Architectures: string[];
  readonly Timeout: number;
  readonly MemorySize: number;
  readonly TracingConfig?: { Mode: string };
  readonly LoggingConfig: { LogFormat: string; LogGroup: unknown };
  readonly Environment?: { Variables: Record<string, unknown> };
  readonly EphemeralStorage?: { Size: number };
  readonly TenancyConfig?: { TenantIsolationMode: string };
  readonly ReservedConcurrentExecutions?: number;
}

let aws: Synthesized;
let local: Synthesized;
beforeAll(() => {
  aws = synthesize();
  local = synthesize({ stage: "local", baseUrl: "http://127.0.0.1:4500/api/v1", webUrl: "http://127.0.0.1:4500" });
});
const functions = (deployment: Synthesized) => deployment.all<FunctionProperties>("AWS::Lambda::Function");

describe("the stacks", () => {
  it("stay far below the limit of 500 resources", () => {
    for (const { name, resources } of aws.stacks) expect(resources.length, name).toBeLessThanOrEqual(400);
  });

  it("are deployed as data, API, execution, routes", () => {
    const order = aws.stacks.map(({ name }) => name);
    expect(order.slice(0, 3)).toEqual(["Runyard-Data", "Runyard-Api", "Runyard-Execution"]);
    for (const { name, after } of aws.stacks) {
      for (const earlier of after)
        expect(order.indexOf(earlier), `${name} after ${earlier}`).toBeLessThan(order.indexOf(name));
    }
    expect(order.slice(3).every((name) => name.startsWith("Runyard-Routes-"))).toBe(true);
  });

  it("output every address", () => {
    const outputs = aws.stacks.flatMap((stack) => stack.outputs);
    const names = ["ApiId", "ApiEndpoint", "BaseUrl", "WebUrl", "TableName", "BucketName", "SandboxFunctionName"];
    expect(outputs).toEqual(expect.arrayContaining(names));
    expect(local.stacks.flatMap((stack) => stack.outputs)).toEqual(expect.arrayContaining(names));
  });

  it("contain nothing that is billed while idle", () => {
    const hourly = [
      /^AWS::EC2::/,
      /^AWS::ElasticLoadBalancing/,
      /^AWS::RDS::/,
      /^AWS::ElastiCache::/,
      /^AWS::ECS::Service/,
      /^AWS::WAF/,
      /^AWS::KMS::Key/,
      /^AWS::SecretsManager::/,
      /^AWS::Kinesis/,
      /^AWS::Route53::HostedZone/,
      /^AWS::ApplicationAutoScaling::/,
      /^AWS::Lambda::(Alias|Version)/,
    ];
    const types = aws.stacks.flatMap(({ resources }) => resources.map(({ Type }) => Type));
    expect(types.filter((type) => hourly.some((pattern) => pattern.test(type)))).toEqual([]);
    const json = JSON.stringify(aws.stacks.map(({ resources }) => resources));
    expect(json).not.toMatch(
      /"(ProvisionedThroughput|ProvisionedConcurrencyConfig|SnapStart|VpcConfig|WarmThroughput)"/,
    );
    expect(json).not.toMatch(/contributorInsights/i);
  });

  it("have one dashboard, of the three of an account that are free", () => {
    expect(aws.all("AWS::CloudWatch::Dashboard")).toHaveLength(1);
    expect(local.all("AWS::CloudWatch::Dashboard")).toEqual([]);
  });

  it("have at most three alarms more than the ten free ones", () => {
    expect(aws.all("AWS::CloudWatch::Alarm").length).toBeLessThanOrEqual(13);
  });

  it("reject settings that cannot work, by name", () => {
    expect(() => synthesize({ stage: "test" })).toThrow(/"stage".*aws or local/);
    expect(() => synthesize({ baseUrl: "https://runyard.example" })).toThrow(/"baseUrl".*\/api\/v1/);
    expect(() => synthesize({ dispatchConcurrency: "1" })).toThrow(/"dispatchConcurrency".*2 to 1000/);
    expect(() => synthesize({ githubApiUrl: "https://github.example/" })).toThrow(/"githubApiUrl".*slash/);
    expect(() => synthesize({ githubTokenParameter: "token" })).toThrow(/"githubTokenParameter".*\/a\/b/);
    expect(() => synthesize({ githubAppId: "my app" })).toThrow(/"githubAppId".*client id/);
    expect(() => synthesize({ githubAppKeyParameter: "/ours/app" })).toThrow(/"githubAppId"/);
    expect(() => synthesize({ githubAppId: "1", githubAppKeyParameter: "key" })).toThrow(
      /"githubAppKeyParameter".*\/a/,
    );
    expect(() => synthesize({ oidcIssuer: "http://issuer.example", oidcClientId: "a" })).toThrow(/"oidcIssuer".*https/);
    expect(() => synthesize({ oidcIssuer: "https://issuer.example" })).toThrow(/"oidcClientId"/);
    expect(() => synthesize({ oidcClientId: "a" })).toThrow(/"oidcIssuer"/);
  });
});

describe("every function", () => {
  it("runs Node 24 on arm64, writes JSON to its own expiring log, and is traced unless it is the sandbox", () => {
    const logs = aws.all<{ RetentionInDays?: number }>("AWS::Logs::LogGroup");
    for (const log of logs) expect(log.Properties.RetentionInDays).toBe(30);
    for (const { Properties } of functions(aws)) {
      const isImage = Properties.PackageType === "Image";
      expect(Properties.Runtime).toBe(isImage ? undefined : "nodejs24.x");
      expect(Properties.Architectures).toEqual(["arm64"]);
      expect(Properties.LoggingConfig.LogFormat).toBe("JSON");
      const untraced = [
        "runyard-run-sandbox-image",
        "runyard-build-sandbox-image",
        "runyard-reap-runs",
        "runyard-reconcile-schedules",
        "runyard-plan-deliveries",
        "runyard-decide-events",
        "runyard-heartbeat",
        "runyard-append-messages",
        "runyard-record-live-output",
      ].includes(Properties.FunctionName);
      expect(Properties.TracingConfig?.Mode, Properties.FunctionName).toBe(untraced ? undefined : "Active");
    }
    const groups = functions(aws).map(
      ({ stack, Properties }) => stack + JSON.stringify(Properties.LoggingConfig.LogGroup),
    );
    expect(new Set(groups).size).toBe(groups.length);
  });

  it("keeps its environment below Lambda's 4 KB", () => {
    for (const { Properties } of functions(aws)) {
      expect(JSON.stringify(Properties.Environment ?? {}).length, Properties.FunctionName).toBeLessThan(3500);
    }
  });

  it("gets the name of a table, bucket or queue only if it has permissions on it", () => {
    const variables = getVariables(aws, "runyard-list-models");
    expect(Object.keys(variables).sort()).toEqual(
      ["BASE_URL", "PRINCIPALS", "SANDBOX_USD_PER_HOUR", "SCOPE", "STAGE", "TABLE_NAME", "WEB_URL"].sort(),
    );
    expect(variables["PRINCIPALS"]).toBe("personal,agent,run");
    expect(variables["SCOPE"]).toBe("models:read");
    expect(getVariables(aws, "runyard-run-sandbox-image")).toEqual({});
  });

  it("gets rate limits that differ from the default", () => {
    const rates = { createsPerMinute: "7", followupsPerMinute: "8", keysPerMinute: "9" };
    const ofTriggers = { triggerEventsPerMinute: "10", threadEventsPerMinute: "11" };
    expect(getVariables(synthesize({ ...rates, ...ofTriggers }), "runyard-create-run")).toMatchObject({
      TRIGGER_EVENTS_PER_MINUTE: "10",
      THREAD_EVENTS_PER_MINUTE: "11",
      CREATES_PER_MINUTE: "7",
      FOLLOWUPS_PER_MINUTE: "8",
      KEYS_PER_MINUTE: "9",
    });
    expect(() => synthesize({ keysPerMinute: "0" })).toThrow(/"keysPerMinute".*1 to 1000000/);
  });

  it("accepts as many requests in a second and at once as the settings say, and 500 and 1,000 by default", () => {
    const readLimits = (of: Synthesized) =>
      of
        .all<{ DefaultRouteSettings?: object }>("AWS::ApiGatewayV2::Stage")
        .flatMap(({ Properties: { DefaultRouteSettings: limits } }) => (limits === undefined ? [] : [limits]));
    expect(readLimits(synthesize())).toContainEqual({ ThrottlingRateLimit: 500, ThrottlingBurstLimit: 1_000 });
    const raised = synthesize({ requestsPerSecond: "2000", requestBurst: "3000" });
    expect(readLimits(raised)).toContainEqual({ ThrottlingRateLimit: 2_000, ThrottlingBurstLimit: 3_000 });
  });

  it("gets the time in which claimed runs begin, if it is set", () => {
    const chosen = synthesize({ workerClaimSeconds: "120" });
    for (const name of ["runyard-reap-runs", "runyard-receive-frame", "runyard-heartbeat"])
      expect(getVariables(chosen, name)["WORKER_CLAIM_SECONDS"], name).toBe("120");
    expect(getVariables(aws, "runyard-reap-runs")).not.toHaveProperty("WORKER_CLAIM_SECONDS");
    expect(() => synthesize({ workerClaimSeconds: "0" })).toThrow(/"workerClaimSeconds".*1 to 3600/);
  });

  it("gets the configured models, and nothing with only the embedded one", () => {
    const chosen = synthesize({
      anthropicKeyParameter: "/runyard/models/anthropic",
      bedrock: "true",
      compatibleBaseUrl: "https://models.example/v1",
      compatibleModels: "llama,qwen",
      disabledModels: "anthropic/claude-opus-5-5",
    });
    const expected = {
      MODEL_PROVIDERS: "anthropic,bedrock,compatible",
      COMPATIBLE_MODELS: "llama,qwen",
      DISABLED_MODELS: "anthropic/claude-opus-5-5",
    };
    for (const name of ["create-run", "list-models", "fire-schedule"]) {
      expect(getVariables(chosen, `runyard-${name}`)).toMatchObject(expected);
    }
    expect(Object.keys(getVariables(aws, "runyard-create-run")).filter((name) => name.includes("MODEL"))).toEqual([]);
    expect(JSON.stringify(getVariables(chosen, "runyard-run-sandbox-image"))).not.toContain("MODEL");
    expect(() => synthesize({ openaiKeyParameter: "sk-123" })).toThrow(/"openaiKeyParameter".*SSM parameter/);
    expect(() => synthesize({ compatibleModels: "llama" })).toThrow(/"compatibleBaseUrl"/);
    expect(() => synthesize({ compatibleBaseUrl: "https://models.example/v1" })).toThrow(/"compatibleModels"/);
  });

  it("reserves no concurrency by default, which a new account could not provide", () => {
    const reserved = (context: Record<string, string>) =>
      functions(synthesize(context)).filter(({ Properties }) => Properties.ReservedConcurrentExecutions !== undefined)
        .length;
    expect(reserved({})).toBe(0);
    expect(reserved({ reserveConcurrency: "true", sandboxConcurrency: "500", accountConcurrency: "5000" })).toBe(
      routes.filter((route) => route.reserved !== undefined).length + 4,
    );
  });

  it("rejects reservations that leave fewer than 100 executions of the account, with the remedy", () => {
    expect(() => synthesize({ sandboxConcurrency: "5" })).toThrow(/"accountConcurrency".*get-account-settings/);
    expect(() => synthesize({ sandboxConcurrency: "901", accountConcurrency: "1000" })).toThrow(/at most 900/);
    expect(() => synthesize({ reserveConcurrency: "true", accountConcurrency: "200" })).toThrow(
      /"sandboxConcurrency" to at most.*leave out "reserveConcurrency"/,
    );
    expect(() => synthesize({ sandboxConcurrency: "1", accountConcurrency: "10" })).toThrow(/higher quota/);
  });
});

describe("the sandbox", () => {
  it("has 15 minutes, 2 GB of memory, 4 GB of disk and an unshared environment", () => {
    const sandbox = functions(aws).find(
      ({ Properties }) => Properties.FunctionName === "runyard-run-sandbox-image",
    )?.Properties;
    expect(sandbox).toMatchObject({
      Timeout: 900,
      MemorySize: 2048,
      EphemeralStorage: { Size: 4096 },
      TenancyConfig: { TenantIsolationMode: "PER_TENANT" },
    });
  });

  it("is started at most once, within a minute", () => {
    const configs = aws.all("AWS::Lambda::EventInvokeConfig");
    const [sandbox] = configs.filter(({ id }) => id.startsWith("RunSandbox"));
    expect(sandbox?.Properties).toMatchObject({ MaximumRetryAttempts: 0, MaximumEventAgeInSeconds: 60 });
    expect(sandbox?.Properties).not.toHaveProperty("DestinationConfig");
  });
});

describe("the API", () => {
  // @contract general.base.path
  it("has each line of routes.ts as a route, and a default route", () => {
    const keys = aws
      .all<{ RouteKey: string }>("AWS::ApiGatewayV2::Route")
      .filter(({ stack }) => stack !== "Runyard-Execution")
      .map(({ Properties }) => Properties.RouteKey);
    const expected = routes.map(({ method, path }) => (method === "ANY" ? "$default" : `${method} /api/v1${path}`));
    // The API of harnesses has those of harnesses, and the default route.
    const again = expected.filter((key) => key === "$default" || key.includes("/harness-support/"));
    expect([...keys].sort()).toEqual([...expected, ...again].sort());
    expect(keys).toContain("$default");
  });

  it("throttles, and logs requests without members that may contain a secret", () => {
    const [stage] = aws.all<{ DefaultRouteSettings: object; AccessLogSettings: { Format: string } }>(
      "AWS::ApiGatewayV2::Stage",
    );
    expect(stage?.Properties.DefaultRouteSettings).toEqual({ ThrottlingBurstLimit: 1000, ThrottlingRateLimit: 500 });
    expect(stage?.Properties.AccessLogSettings.Format).not.toMatch(/authoriz|header|query|context\.path/i);
  });

  it("is called through CloudFront, unless another address is configured", () => {
    expect(JSON.stringify(getVariables(aws, "runyard-get-run")["BASE_URL"])).toMatch(
      /ImportValue.*Distribution.*DomainName.*\/api\/v1/,
    );
    expect(getVariables(local, "runyard-get-run")["BASE_URL"]).toBe("http://127.0.0.1:4500/api/v1");
  });

  // @contract general.responses.gzip: CloudFront compresses responses.
  it("disables CloudFront's cache for its responses", () => {
    const [policy] = aws.all<{ CachePolicyConfig: object }>("AWS::CloudFront::CachePolicy");
    expect(policy?.Properties.CachePolicyConfig).toMatchObject({
      MinTTL: 0,
      DefaultTTL: 0,
      MaxTTL: 1,
      ParametersInCacheKeyAndForwardedToOrigin: { HeadersConfig: { Headers: ["Authorization"] } },
    });
  });
});

describe("on the local cloud", () => {
  it("everything except CloudFront, the streams and the API of harnesses behind it, the stream of the table, the model gateway, the sandbox image, the alarm topic, the dashboard, the bucket's logs and protection against loss is as on AWS", () => {
    const ids = (deployment: Synthesized) =>
      deployment.stacks.flatMap(({ name, resources }) => resources.map(({ id, Type }) => `${name}/${Type}/${id}`));
    const absent = ids(aws).filter((id) => !ids(local).includes(id));
    expect(
      absent.filter(
        (id) =>
          !/FrontDoor|EventStream|Operations|Harness(Api|Stage)|Other(Integration|Route|Permission)|Webhooks(Dead|Plan|Source|AttemptEvents)|EventRule\w*WebhooksPlan|BucketLogs|CDKBucketDeployment|S3AutoDeleteObjects|Model(Gateway|Calls)|SandboxImage|SNS::Topic/.test(
            id,
          ),
      ),
    ).toEqual([]);
    expect(ids(local).filter((id) => !ids(aws).includes(id))).toEqual([]);
  });
});

function getVariables(deployment: Synthesized, functionName: string): Record<string, unknown> {
  return (
    functions(deployment).find(({ Properties }) => Properties.FunctionName === functionName)?.Properties.Environment
      ?.Variables ?? {}
  );
}
