import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { EVERY_SETTING, type Resource, repository, type Synthesized, synthesize } from "./synthesize.ts";

interface FunctionProperties {
  readonly FunctionName: string;
  readonly MemorySize: number;
  readonly RecursiveLoop?: string;
  readonly EphemeralStorage?: { Size: number };
  readonly TenancyConfig?: object;
  readonly Environment?: { Variables: Record<string, unknown> };
  readonly Handler?: string;
  readonly ImageConfig?: { Command: string[] };
  readonly Role: { "Fn::GetAtt": [string, string] };
  readonly TracingConfig?: { Mode: string };
}
interface Statement {
  readonly Effect: string;
  readonly Action?: string | string[];
  readonly NotAction?: string[];
  readonly Resource: unknown;
  readonly Principal?: unknown;
  readonly Condition?: unknown;
}
interface RoleProperties {
  readonly Description?: string;
  readonly Policies?: { PolicyDocument: { Statement: Statement[] } }[];
}

let usual: Synthesized;
beforeAll(() => {
  usual = synthesize();
});
const functionNamed = (name: string, of: Synthesized = usual) =>
  of.all<FunctionProperties>("AWS::Lambda::Function").find(({ Properties }) => Properties.FunctionName === name)
    ?.Properties;
const listTypes = (of: Synthesized) => of.stacks.flatMap(({ resources }) => resources.map(({ Type }) => Type));
const findStatements = (description: string): Statement[] =>
  usual
    .all<RoleProperties>("AWS::IAM::Role")
    .filter(({ Properties }) => Properties.Description === description)
    .flatMap(({ Properties: { Policies = [] } }) => Policies.flatMap(({ PolicyDocument }) => PolicyDocument.Statement));
const sandboxNames = (of: Synthesized) =>
  of
    .all<FunctionProperties>("AWS::Lambda::Function")
    .map(({ Properties }) => Properties.FunctionName)
    .filter((name) => name.startsWith("runyard-run-sandbox"));

describe("the start of a sandbox", () => {
  it("has 60 seconds to start where it is an image", () => {
    const secondsOf = (of: Synthesized) =>
      ["dispatch-run", "reap-runs"].map(
        (name) => functionNamed(`runyard-${name}`, of)?.Environment?.Variables["SANDBOX_START_SECONDS"],
      );
    expect(secondsOf(usual)).toEqual(["60", "60"]);
    expect(secondsOf(synthesize({ lambdaSandbox: "zip" }))).toEqual([undefined, undefined]);
  });
});

describe("the build of the sandbox image", () => {
  it("reads its source as CodeBuild does, and logs in to both registries", () => {
    const json = JSON.stringify(findStatements("runyard-build-sandbox-image"));
    expect(json).toMatch(/s3:GetBucketLocation.*s3:ListBucket/);
    expect(json).toContain("ecr-public:GetAuthorizationToken");
    expect(json).toContain("sts:GetServiceBearerToken");
    const [project] = usual.all("AWS::CodeBuild::Project");
    expect(JSON.stringify(project?.Properties)).toMatch(/ecr-public get-login-password --region us-east-1/);
  });

  it("tries a pull, a package installation and a push three times", () => {
    const [project] = usual.all("AWS::CodeBuild::Project");
    const spec = JSON.stringify(project?.Properties);
    expect(spec).toMatch(/for try in 1 2 3; do docker build/);
    expect(spec).toMatch(/for try in 1 2 3; do docker push/);
    const dockerfile = readFileSync(join(repository, "image/Dockerfile"), "utf8");
    expect(dockerfile).toContain("Acquire::Retries=3");
    expect(dockerfile).toContain("--fetch-retries=3");
  });

  it("keeps its logs when the stack is rolled back, under a name that the next attempt can use too", () => {
    const logs = usual
      .all<{ LogGroupName?: string }>("AWS::Logs::LogGroup")
      .filter(({ id }) => /^SandboxImage(Starter)?Log/.test(id));
    expect(logs).toHaveLength(2);
    for (const log of logs) {
      expect(log.DeletionPolicy).toBe("Retain");
      expect(log.Properties).not.toHaveProperty("LogGroupName");
    }
  });
});

describe("the sandbox function", () => {
  it("has another name for each package type and tenancy, because a change of either replaces it", () => {
    expect(sandboxNames(usual)).toEqual(["runyard-run-sandbox-image"]);
    expect(sandboxNames(synthesize({ lambdaSandbox: "zip" }))).toEqual(["runyard-run-sandbox-zip"]);
    expect(sandboxNames(synthesize({ sandboxTenancy: "false" }))).toEqual(["runyard-run-sandbox-image-shared"]);
  });

  it("must exit after each execution if the account has no tenant isolation, and callers pass no tenant", () => {
    const shared = synthesize({ sandboxTenancy: "false" });
    expect(functionNamed("runyard-run-sandbox-image-shared", shared)).not.toHaveProperty("TenancyConfig");
    for (const name of ["runyard-dispatch-run", "runyard-discover-skills"]) {
      expect(functionNamed(name, shared)?.Environment?.Variables).toMatchObject({ SANDBOX_TENANCY: "shared" });
      expect(functionNamed(name)?.Environment?.Variables).not.toHaveProperty("SANDBOX_TENANCY");
    }
    const command = { Command: ["sharedHandler"] };
    expect(functionNamed("runyard-run-sandbox-image-shared", shared)?.ImageConfig).toEqual(command);
    expect(functionNamed("runyard-run-sandbox-image")).not.toHaveProperty("ImageConfig");
    const zipped = synthesize({ lambdaSandbox: "zip", sandboxTenancy: "false" });
    expect(functionNamed("runyard-run-sandbox-zip-shared", zipped)?.Handler).toBe("index.sharedHandler");
    expect(functionNamed("runyard-run-sandbox-zip", synthesize({ lambdaSandbox: "zip" }))?.Handler).toBe(
      "index.handler",
    );
    expect(() => synthesize({ sandboxTenancy: "no" })).toThrow(/"sandboxTenancy" must be true or false/);
  });

  it("has the memory and disk of the settings", () => {
    const large = synthesize({ sandboxMemoryMb: "10240", sandboxDiskMb: "10240" });
    expect(functionNamed("runyard-run-sandbox-image", large)).toMatchObject({
      MemorySize: 10240,
      EphemeralStorage: { Size: 10240 },
    });
    expect(() => synthesize({ sandboxMemoryMb: "20000" })).toThrow(/"sandboxMemoryMb".*512 to 10240/);
    expect(() => synthesize({ sandboxDiskMb: "100" })).toThrow(/"sandboxDiskMb".*512 to 10240/);
  });

  it("has a role that denies everything but its own log", () => {
    const deny = findStatements("runyard-run-sandbox-image").filter(({ Effect }) => Effect === "Deny");
    expect(deny).toEqual([{ Effect: "Deny", NotAction: ["logs:CreateLogStream", "logs:PutLogEvents"], Resource: "*" }]);
  });
});

describe("environment variables", () => {
  it.each([
    ["by default", {}],
    ["for a zip", { lambdaSandbox: "zip" }],
    ["for a shared image", { sandboxTenancy: "false" }],
    ["for a shared zip", { lambdaSandbox: "zip", sandboxTenancy: "false" }],
    ["with every setting", EVERY_SETTING],
  ])("are absent where the role denies kms:Decrypt, by which Lambda decrypts them at each start, %s", (_, context) => {
    const deployed = synthesize(context);
    const denying = deployed
      .all<RoleProperties>("AWS::IAM::Role")
      .filter(({ Properties: { Policies = [] } }) =>
        Policies.some(({ PolicyDocument }) => PolicyDocument.Statement.some(deniesDecrypt)),
      )
      .map(({ stack, id }) => `${stack} ${id}`);
    expect(denying.length).toBeGreaterThan(0);
    const functions = deployed
      .all<FunctionProperties>("AWS::Lambda::Function")
      .filter(({ stack, Properties }) => denying.includes(`${stack} ${Properties.Role["Fn::GetAtt"][0]}`));
    expect(functions.length).toBeGreaterThanOrEqual(denying.length);
    for (const { Properties } of functions)
      expect(Properties, Properties.FunctionName).not.toHaveProperty("Environment");
  });

  /** Whether a statement denies kms:Decrypt. Lambda has a grant for it, which an explicit Deny overrides. */
  function deniesDecrypt({ Effect, Action, NotAction }: Statement): boolean {
    if (Effect !== "Deny") return false;
    const names = (actions: string | readonly string[]) =>
      [actions].flat().some((action) => new RegExp(`^${action.replaceAll("*", ".*")}$`, "i").test("kms:Decrypt"));
    return Action === undefined ? !names(NotAction ?? []) : names(Action);
  }
});

describe("alarms", () => {
  it("may publish to the topic, from this account only", () => {
    const [policy] = synthesize({ alarmEmail: "ops@example.com" }).all<{
      PolicyDocument: { Statement: Statement[] };
    }>("AWS::SNS::TopicPolicy");
    const allowed = policy?.Properties.PolicyDocument.Statement.filter(({ Effect }) => Effect === "Allow");
    expect(allowed).toMatchObject([
      {
        Action: "sns:Publish",
        Principal: { Service: "cloudwatch.amazonaws.com" },
        Condition: { StringEquals: { "aws:SourceAccount": { Ref: "AWS::AccountId" } } },
      },
    ]);
  });
});

describe("CloudFront", () => {
  it("caches no error of the API, not even those that it caches in spite of their no-store", () => {
    const [distribution] = usual.all<{
      DistributionConfig: { CustomErrorResponses: { ErrorCode: number; ErrorCachingMinTTL: number }[] };
    }>("AWS::CloudFront::Distribution");
    const responses = distribution?.Properties.DistributionConfig.CustomErrorResponses;
    expect(responses?.toSorted((a, b) => a.ErrorCode - b.ErrorCode)).toEqual(
      [404, 405, 414, 500, 501, 502, 503, 504].map((ErrorCode) => ({ ErrorCode, ErrorCachingMinTTL: 0 })),
    );
  });

  it("is absent with frontDoor=false, and the API serves the web app", () => {
    const plain = synthesize({ frontDoor: "false" });
    expect(listTypes(plain).filter((type) => /CloudFront|BucketDeployment/.test(type))).toEqual([]);
    const keys = plain
      .all<{ RouteKey: string }>("AWS::ApiGatewayV2::Route")
      .map(({ Properties }) => Properties.RouteKey);
    expect(keys).toEqual(expect.arrayContaining(["GET /", "GET /{path+}", "GET /api/{path+}", "$default"]));
    const variables = functionNamed("runyard-get-run", plain)?.Environment?.Variables ?? {};
    expect(JSON.stringify(variables["BASE_URL"])).toMatch(/ApiEndpoint.*\/api\/v1/);
    expect(JSON.stringify(variables["WEB_URL"])).toMatch(/ApiEndpoint/);
    expect(() => synthesize({ frontDoor: "no" })).toThrow(/"frontDoor" must be true or false/);
  });

  it("serves the domain name of the settings with its certificate, at which callers then find the API and the web app", () => {
    const certificateArn = "arn:aws:acm:us-east-1:111122223333:certificate/1-2";
    const own = synthesize({ domainName: "agents.example", certificateArn });
    const [distribution] = own.all<{ DistributionConfig: object }>("AWS::CloudFront::Distribution");
    expect(distribution?.Properties.DistributionConfig).toMatchObject({
      Aliases: ["agents.example"],
      ViewerCertificate: {
        AcmCertificateArn: certificateArn,
        MinimumProtocolVersion: "TLSv1.2_2021",
        SslSupportMethod: "sni-only",
      },
    });
    const variables = (of: Synthesized) => functionNamed("runyard-get-run", of)?.Environment?.Variables;
    const urls = { BASE_URL: "https://agents.example/api/v1", WEB_URL: "https://agents.example" };
    expect(variables(own)).toMatchObject(urls);
    expect(
      variables(synthesize({ domainName: "agents.example", certificateArn, webUrl: "https://runs.example" })),
    ).toMatchObject({
      ...urls,
      WEB_URL: "https://runs.example",
    });
    const [usualDistribution] = usual.all<{ DistributionConfig: object }>("AWS::CloudFront::Distribution");
    for (const member of ["Aliases", "ViewerCertificate"])
      expect(usualDistribution?.Properties.DistributionConfig).not.toHaveProperty(member);
    const api = own.stacks.find(({ name }) => name === "Runyard-Api");
    expect(api?.outputs, "the target of the DNS record").toContain("CloudFrontDomainName");
  });

  it("has a bucket of web files that is emptied before it is deleted, as every bucket that goes with its stack", () => {
    const deleted = usual.all("AWS::S3::Bucket").filter(({ DeletionPolicy }) => DeletionPolicy === "Delete");
    expect(deleted.map(({ stack }) => stack)).toEqual(["Runyard-Api"]);
    const emptied = usual.all<{ BucketName: { Ref: string } }>("Custom::S3AutoDeleteObjects");
    expect(emptied.map(({ Properties }) => Properties.BucketName.Ref)).toEqual(deleted.map(({ id }) => id));
    const [policy] = usual
      .all<{ Bucket: { Ref: string }; PolicyDocument: { Statement: Statement[] } }>("AWS::S3::BucketPolicy")
      .filter(({ Properties }) => Properties.Bucket.Ref === deleted[0]?.id);
    const allowed = policy?.Properties.PolicyDocument.Statement.filter(({ Effect }) => Effect === "Allow") ?? [];
    expect(allowed.find(({ Action }) => [Action].flat().includes("s3:DeleteObject*"))?.Principal).toEqual({
      AWS: { "Fn::GetAtt": [expect.stringMatching(/^CustomS3AutoDeleteObjects/), "Arn"] },
    });
  });
});

describe("Lambda's detection of recursive loops", () => {
  it("is off for dispatch-run and decide-events, which send to their own queues, and for end-run, which sends the next run to that of dispatch-run, only", () => {
    const allowed = usual
      .all<FunctionProperties>("AWS::Lambda::Function")
      .filter(({ Properties }) => Properties.RecursiveLoop !== undefined)
      .map(({ Properties }) => [Properties.FunctionName, Properties.RecursiveLoop]);
    expect(allowed).toEqual([
      ["runyard-dispatch-run", "Allow"],
      ["runyard-end-run", "Allow"],
      ["runyard-decide-events", "Allow"],
    ]);
  });
});

describe("a later change of the addresses", () => {
  const findExports = (of: Synthesized, name: string) => of.stacks.find((stack) => stack.name === name)?.outputs ?? [];
  const exported = (of: Synthesized) => findExports(of, "Runyard-Api").filter((output) => output.startsWith("Exports"));

  it("removes no export that the other stacks still import during the update", () => {
    const certificateArn = "arn:aws:acm:us-east-1:111122223333:certificate/1-2";
    expect(exported(usual).length).toBeGreaterThan(0);
    for (const addresses of [
      { baseUrl: "https://api.example/api/v1", webUrl: "https://runs.example" },
      { domainName: "agents.example", certificateArn },
    ])
      expect(exported(synthesize({ ...addresses }))).toEqual(expect.arrayContaining(exported(usual)));
    const mailed = synthesize({ alarmEmail: "ops@example.com" });
    expect(exported(usual)).toEqual(expect.arrayContaining(exported(mailed)));
  });
});

describe("a restored table and bucket", () => {
  it("replace those that the data stack creates, which stay unchanged", () => {
    const restored = synthesize({ existingTable: "runyard-restored", existingBucket: "old-bucket" });
    const variables = functionNamed("runyard-get-artifact", restored) ?? functionNamed("runyard-get-run", restored);
    expect(variables?.Environment?.Variables["TABLE_NAME"]).toBe("runyard-restored");
    expect(functionNamed("runyard-end-run", restored)?.Environment?.Variables["BUCKET_NAME"]).toBe("old-bucket");
    const data = (of: Synthesized): Resource[] =>
      of.stacks.filter(({ name }) => name === "Runyard-Data").flatMap(({ resources }) => [...resources]);
    expect(data(restored)).toEqual(data(usual));
    expect(exportsOfData(restored)).toEqual(expect.arrayContaining(exportsOfData(usual)));
    expect(JSON.stringify(statementsIn(restored))).toMatch(/table\/runyard-restored\/index\/gsi1/);
  });
  const exportsOfData = (of: Synthesized) =>
    (of.stacks.find(({ name }) => name === "Runyard-Data")?.outputs ?? []).filter((name) => name.startsWith("Exports"));
  const statementsIn = (of: Synthesized) =>
    of.all<RoleProperties>("AWS::IAM::Role").flatMap(({ Properties }) => Properties.Policies);
});

describe("X-Ray", () => {
  it("traces neither heartbeats nor messages nor live output, the most frequent calls", () => {
    for (const name of ["runyard-heartbeat", "runyard-append-messages", "runyard-record-live-output"]) {
      expect(functionNamed(name)).not.toHaveProperty("TracingConfig");
    }
    expect(functionNamed("runyard-get-run")?.TracingConfig?.Mode).toBe("Active");
  });
});
