import { RootConstruct } from "constructs";
import { describe, expect, it } from "vitest";
import { readSettings } from "#infra/read-settings.ts";
import type { Settings } from "#infra/settings.ts";

const appParameters = {
  keyParameter: "/runyard/github-app-key",
  clientSecretParameter: "/runyard/github-app-client-secret",
  webhookSecretParameter: "/runyard/github-app-webhook-secret",
};

/** Reads the settings from a construct that is not an App, because each App creates a folder. */
function read(context: Record<string, string>): Settings {
  const { node } = new RootConstruct();
  for (const [name, value] of Object.entries({ accountConcurrency: "1000000", ...context })) {
    node.setContext(name, value);
  }
  return readSettings(node);
}

/** Each numeric setting, with its minimum and maximum. */
const NUMBERS: readonly (readonly [name: keyof Settings, least: number, most: number])[] = [
  ["accountConcurrency", 10, 1_000_000],
  ["createsPerMinute", 1, 1_000_000],
  ["dispatchConcurrency", 2, 1_000],
  ["followupsPerMinute", 1, 1_000_000],
  ["harnessRequestBurst", 10, 100_000],
  ["harnessRequestsPerSecond", 10, 100_000],
  ["keysPerMinute", 1, 1_000_000],
  ["threadEventsPerMinute", 1, 1_000_000],
  ["triggerEventsPerMinute", 1, 1_000_000],
  ["requestBurst", 10, 100_000],
  ["requestsPerSecond", 10, 100_000],
  ["sandboxConcurrency", 1, 100_000],
  ["sandboxDiskMb", 512, 10_240],
  ["sandboxMemoryMb", 512, 10_240],
  ["sandboxSeconds", 10, 900],
  ["workerClaimSeconds", 1, 3_600],
];

describe("readSettings", () => {
  it.each(NUMBERS)("accepts %s from %i to %i, and no other number", (name, least, most) => {
    for (const number of [least, most]) expect(read({ [name]: String(number) })[name]).toBe(number);
    for (const number of [least - 1, most + 1, least + 0.5, "many"]) {
      const range = `context "${name}" must be a whole number from ${least} to ${most}, not "${number}"`;
      expect(() => read({ [name]: String(number) }), String(number)).toThrow(range);
    }
  });

  it.each(["frontDoor", "sandboxTenancy"] as const)("treats %s as true unless it is false", (name) => {
    expect([read({})[name], read({ [name]: "" })[name], read({ [name]: "true" })[name]]).toEqual([true, true, true]);
    expect(read({ [name]: "false" })[name]).toBe(false);
  });

  it.each(["bedrock", "reserveConcurrency"] as const)("treats %s as false unless it is true", (name) => {
    expect([read({})[name], read({ [name]: "yes" })[name], read({ [name]: "true" })[name]]).toEqual([
      false,
      false,
      true,
    ]);
  });

  const certificateArn = "arn:aws:acm:us-east-1:111122223333:certificate/1-2";
  const parameter = "must be the name of an SSM parameter";
  const price = "must be a list of id=input/output";
  it.each([
    [{ anthropicKeyParameter: "a/b" }, parameter],
    [{ openaiKeyParameter: "/a/b/" }, parameter],
    [{ compatibleKeyParameter: "/a b" }, parameter],
    [{ oidcClientSecretParameter: "secret" }, parameter],
    [{ secretsKey: "kms" }, 'context "secretsKey" must be the ARN of a KMS key'],
    [{ secretsKey: "arn:aws:kms:eu-west-1:111122223333:alias/secrets" }, "ARN of a KMS key"],
    [{ modelPrices: "a=1/2,b=1" }, `${price}, not "b=1"`],
    [{ modelProviders: "box" }, "must be a list, in cdk.json or as JSON"],
    [
      { modelProviders: '[{"name":"box","kind":"compatible","models":["a"]}]' },
      "modelProviders[0].base_url: is required",
    ],
    [
      { modelProviders: '[{"name":"a","kind":"anthropic","key":"secret-key"}]' },
      "modelProviders[0].key: must be Object",
    ],
    [
      {
        modelProviders: JSON.stringify([
          {
            name: "box",
            kind: "compatible",
            base_url: "https://x/v1",
            models: ["m".repeat(200), "n".repeat(200)].flatMap((name) =>
              Array.from({ length: 9 }, (_, index) => `${name.slice(1)}${index}`),
            ),
          },
        ]),
      },
      "too long for the variables",
    ],
    [
      {
        modelProviders: JSON.stringify([
          {
            name: "box",
            kind: "compatible",
            base_url: "https://x/v1",
            models: [{ name: "m", display_name: "é".repeat(1_000) }],
          },
        ]),
      },
      "too long for the variables",
    ],
    [{ modelPrices: "a=1/2USD" }, price],
    [{ modelPrices: "=1/2" }, price],
    [
      { modelLimits: "a=many" },
      'context "modelLimits" must be a list of id=context or id=context/output, not "a=many"',
    ],
    [{ baseUrl: "https://a.example/api/v1/" }, '"baseUrl" must be an address that ends in /api/v1'],
    [
      { domainName: "https://a.example", certificateArn },
      'must be a host name, such as agents.example.com, not "https://a.',
    ],
    [
      { domainName: "*.a.example", certificateArn },
      'must be a host name, such as agents.example.com, not "*.a.example"',
    ],
    [{ domainName: "a.example" }, '"certificateArn" must be the ARN of a certificate for "domainName" in us-east-1'],
    [{ certificateArn }, '"domainName" must name the host that "certificateArn" is for'],
    [
      { domainName: "a.example", certificateArn: certificateArn.replace("us-east-1", "eu-west-1") },
      /"certificateArn" must be .* in us-east-1, .* not "arn:aws:acm:eu-west-1:.*request one there/,
    ],
    [{ domainName: "a.example", certificateArn, frontDoor: "false" }, '"domainName" needs CloudFront: leave out'],
    [{ domainName: "a.example", certificateArn, stage: "local" }, '"domainName" needs CloudFront: leave out'],
    [{ githubApiUrl: "https://a.example/api?v=3" }, "without a slash at its end"],
    [{ githubApiUrl: "https://a.example/api/" }, "without a slash at its end"],
    [{ gitlabApiUrl: "gitlab.example" }, '"gitlabApiUrl" must be an address'],
    [{ slackApiUrl: "https://a.example/api/" }, '"slackApiUrl" must be an address'],
    [{ githubAppId: "x".repeat(65) }, '"githubAppId"'],
    [{ githubAppTeam: "0199a3c4-0000-7000-8000-000000000001" }, '"githubAppId"'],
    [{ githubAppId: "1", githubAppTeam: "alpha" }, '"githubAppTeam"'],
    [{ oidcIssuer: "https://a.example?x=1", oidcClientId: "web" }, '"oidcIssuer"'],
    [{ oidcIssuer: "https://me@a.example", oidcClientId: "web" }, '"oidcIssuer"'],
    [{ oidcClientSecretParameter: "/a/secret" }, '"oidcIssuer"'],
    [{ otlpHeadersParameter: "/a/headers" }, '"otlpEndpoint" must be the address of a collector'],
    [{ otlpEndpoint: "collector.example:4318" }, '"otlpEndpoint" must be the address of a collector'],
    [{ otlpEndpoint: "https://me:hunter2@a.example" }, /^(?!.*hunter2).*name the parameter in "otlpHeadersParameter"/],
    [{ compatibleModels: "tiny" }, '"compatibleBaseUrl" must be the address'],
    [{ compatibleBaseUrl: "models.example", compatibleModels: "tiny" }, '"compatibleBaseUrl" must be the address'],
    ...["https://me:hunter2@m.example/v1", "https://hunter2@m.example/v1", "http://:hunter2@m.example/v1"].map(
      (address): [Record<string, string>, RegExp] => [
        { compatibleBaseUrl: address, compatibleModels: "tiny" },
        /^(?!.*hunter2).*must not contain a user name or a password.*"compatibleKeyParameter"/,
      ],
    ),
    [{ compatibleBaseUrl: "https://models.example" }, '"compatibleModels" must name the models'],
    [{ frontDoor: "no" }, '"frontDoor" must be true or false, not "no"'],
  ])("refuses %j", (context: Record<string, string>, message: string | RegExp) => {
    expect(() => read(context)).toThrow(message);
  });

  it("has a default for each setting that is not set", () => {
    const { concurrency: _, ...settings } = read({});
    expect(settings).toEqual({
      stage: "aws",
      sandboxes: ["lambda"],
      lambdaSandbox: "image",
      microvmRegions: [],
      microvmBaseVersion: "1",
      githubApiUrl: "https://api.github.com",
      gitlabApiUrl: "https://gitlab.com/api/v4",
      slackApiUrl: "https://slack.com/api",
      githubTokenParameter: "/runyard/github-token",
      tableName: "runyard",
      frontDoor: true,
      closedApi: false,
      detailedAlarms: false,
      originSecretSalts: ["initial"],
      sandboxTenancy: true,
      accountConcurrency: 1_000_000,
      dispatchConcurrency: 50,
      reserveConcurrency: false,
      bedrock: false,
      disabledModels: [],
      modelProviders: [],
      modelPrices: [],
      modelLimits: [],
    });
  });

  it.each([
    [{ webUrl: "https://a.example/" }, { webUrl: "https://a.example" }],
    [{ domainName: "a.b-c.example", certificateArn }, { domain: { name: "a.b-c.example", certificateArn } }],
    [{ githubAppId: "Iv1.a" }, { githubApp: { id: "Iv1.a", ...appParameters } }],
    [
      { githubAppId: "1", githubAppTeam: "0199a3c4-0000-7000-8000-000000000001" },
      { githubApp: { id: "1", ...appParameters, team: "0199a3c4-0000-7000-8000-000000000001" } },
    ],
    [
      { githubAppId: "1", githubAppKeyParameter: "/ours/app", githubAppWebhookSecretParameter: "/ours/hook" },
      {
        githubApp: {
          id: "1",
          ...appParameters,
          keyParameter: "/ours/app",
          webhookSecretParameter: "/ours/hook",
        },
      },
    ],
    [
      { oidcIssuer: "https://a.example/realm", oidcClientId: "web", oidcClientSecretParameter: "/ours/secret" },
      { oidc: { issuer: "https://a.example/realm", clientId: "web", clientSecretParameter: "/ours/secret" } },
    ],
    [
      { otlpEndpoint: "https://otlp.example:4318", otlpHeadersParameter: "/ours/headers" },
      { tracing: { endpoint: "https://otlp.example:4318", headersParameter: "/ours/headers" } },
    ],
    [{ otlpEndpoint: "http://otlp.example" }, { tracing: { endpoint: "http://otlp.example" } }],
    [
      { oidcIssuer: "https://a.example", oidcClientId: "web" },
      { oidc: { issuer: "https://a.example", clientId: "web" } },
    ],
    [
      { compatibleBaseUrl: "http://m.example/v1", compatibleModels: "a,,b", compatibleKeyParameter: "/ours/key" },
      { compatible: { baseUrl: "http://m.example/v1", models: ["a", "b"], keyParameter: "/ours/key" } },
    ],
    [{ modelPrices: "a/b=1.5/6,c=0/1" }, { modelPrices: ["a/b=1.5/6", "c=0/1"] }],
    [
      { modelLimits: "a/b=8192/1024,c=4096", compatibleTimeoutSeconds: "600" },
      { modelLimits: ["a/b=8192/1024", "c=4096"], compatibleTimeoutSeconds: 600 },
    ],
    [
      { secretsKey: "arn:aws-cn:kms:cn-north-1:111122223333:key/mrk-1a" },
      { secretsKey: "arn:aws-cn:kms:cn-north-1:111122223333:key/mrk-1a" },
    ],
    [{ disabledModels: "a,b" }, { disabledModels: ["a", "b"] }],
    [{ sandboxes: "microvm,lambda" }, { sandboxes: ["microvm", "lambda"] }],
    [{ stage: "local" }, { stage: "local", lambdaSandbox: "zip" }],
    [{ githubApiUrl: "http://127.0.0.1:4501/api/v3" }, { githubApiUrl: "http://127.0.0.1:4501/api/v3" }],
    [
      { anthropicKeyParameter: "/aws/reference/secretsmanager/a" },
      { anthropicKeyParameter: "/aws/reference/secretsmanager/a" },
    ],
  ])("reads %j", (context: Record<string, string>, expected) => {
    expect(read(context)).toMatchObject(expected);
  });

  it("uses the quota that was looked up, unless one is set", () => {
    const { node } = new RootConstruct();
    expect(readSettings(node, { accountConcurrency: 500 }).accountConcurrency).toBe(500);
    node.setContext("accountConcurrency", "600");
    expect(readSettings(node, { accountConcurrency: 500 }).accountConcurrency).toBe(600);
  });
});
