import { describe, expect, it } from "vitest";
import { synthesize } from "./synthesize.ts";

const EVERY_SETTING: Readonly<Record<string, string>> = {
  accountConcurrency: "5000",
  alarmEmail: "ops@example.com",
  anthropicKeyParameter: "/ours/anthropic",
  bedrock: "true",
  compatibleBaseUrl: "https://models.example/v1",
  compatibleKeyParameter: "/ours/models",
  compatibleModels: "small,large",
  createsPerMinute: "11",
  disabledModels: "openai/gpt-5.4",
  dispatchConcurrency: "7",
  followupsPerMinute: "12",
  githubApiUrl: "https://github.example/api/v3",
  githubAppId: "314159",
  githubAppKeyParameter: "/ours/app",
  githubTokenParameter: "/ours/token",
  keysPerMinute: "13",
  microvmBaseVersion: "3",
  microvmRegions: "eu-central-1",
  modelPrices: "compatible/small=0.1/0.2",
  oidcClientId: "runyard",
  oidcClientSecretParameter: "/ours/oidc",
  oidcIssuer: "https://login.example",
  openaiKeyParameter: "/ours/openai",
  reserveConcurrency: "true",
  sandboxConcurrency: "60",
  sandboxDiskMb: "1024",
  sandboxMemoryMb: "3072",
  sandboxSeconds: "600",
  sandboxTenancy: "false",
  sandboxes: "lambda,microvm,fargate",
  webUrl: "https://runs.example",
  workerClaimSeconds: "30",
};

/** There is one of each for each function or route, and tests of their own say what is in them. */
const REPEATED = [
  "AWS::Lambda::Permission",
  "AWS::Logs::LogGroup",
  "AWS::ApiGatewayV2::Integration",
  "AWS::CDK::Metadata",
];

describe("the templates", () => {
  it("are those of templates.txt (`npx vitest run test/infra/templates.test.ts -u` after a change)", async () => {
    const usual = describeResources({});
    const lines = [...usual].map(([name, resource]) => `${name} ${JSON.stringify(resource)}`);
    const changed = describeChanges(usual, describeResources(EVERY_SETTING));
    const text = [...lines, "", "With every setting:", ...changed, ""].join("\n");
    await expect(text).toMatchFileSnapshot("templates.txt");
  });
});

/** Resources by stack and id, without what depends on the stand-in for code. */
function describeResources(context: Record<string, string>): ReadonlyMap<string, unknown> {
  const all = synthesize(context).stacks.flatMap(({ name, resources, outputs, after }) => [
    [name, { after: after.toSorted(), outputs }] as const,
    ...resources
      .filter(({ Type }) => !REPEATED.includes(Type))
      .map(({ id, stack, ...rest }) => [`${stack} ${id}`, rest] as const),
  ]);
  return new Map(
    all.map(([name, rest]) => [name, JSON.parse(JSON.stringify(rest).replaceAll(/[0-9a-f]{64}/g, "<hash>"))]),
  );
}

/** A line for each change, with all resources that have it. */
function describeChanges(before: ReadonlyMap<string, unknown>, after: ReadonlyMap<string, unknown>): readonly string[] {
  const changes = new Map<string, string[]>();
  const note = (change: string, name: string) => changes.set(change, [...(changes.get(change) ?? []), name]);
  for (const name of before.keys()) if (!after.has(name)) note("is absent", name);
  for (const [name, resource] of after) {
    const known = new Set(flatten(before.get(name), ""));
    for (const line of flatten(resource, "")) if (!known.has(line)) note(line, name);
  }
  return [...changes].map(([change, names]) => `${change}: ${names.join(", ")}`);
}

function flatten(value: unknown, path: string): readonly string[] {
  if (typeof value !== "object" || value === null) return [`${path} = ${JSON.stringify(value)}`];
  const isList = Array.isArray(value);
  return Object.entries(value).flatMap(([name, inner]) => flatten(inner, isList ? `${path}[]` : `${path}.${name}`));
}
