import { beforeAll, describe, expect, it } from "vitest";
import { type Synthesized, synthesize } from "./synthesize.ts";

interface Role {
  readonly Policies: { PolicyDocument: { Statement: { Action: string | string[]; Resource: unknown }[] } }[];
}
interface LambdaFunction {
  readonly FunctionName: string;
  readonly Timeout: number;
  readonly Environment: { Variables: Record<string, unknown> };
  readonly Role: { "Fn::GetAtt": [string, string] };
}

const GATEWAY = "runyard-call-model";

/** The permissions of the gateway's role, as pairs of actions and resources. */
function listRights(deployment: Synthesized): [string, string][] {
  const gateway = findFunction(deployment, GATEWAY);
  const role = deployment.all<Role>("AWS::IAM::Role").find(({ id }) => id === gateway?.Role["Fn::GetAtt"][0]);
  const statements = role?.Properties.Policies.flatMap(({ PolicyDocument }) => PolicyDocument.Statement) ?? [];
  return statements.map(({ Action, Resource }) => [[Action].flat().join(" "), JSON.stringify(Resource)]);
}

const findFunction = (deployment: Synthesized, name: string): LambdaFunction | undefined =>
  deployment.all<LambdaFunction>("AWS::Lambda::Function").find(({ Properties }) => Properties.FunctionName === name)
    ?.Properties;

describe("the model gateway", () => {
  let bare: Synthesized;
  let full: Synthesized;
  beforeAll(() => {
    bare = synthesize();
    full = synthesize({
      anthropicKeyParameter: "/runyard/models/anthropic",
      openaiKeyParameter: "/runyard/models/openai",
      compatibleBaseUrl: "https://models.example/v1",
      compatibleModels: "llama",
      compatibleKeyParameter: "/runyard/models/compatible",
      bedrock: "true",
      modelPrices: "openai/gpt-5.4=1.25/10",
    });
  });

  it("streams from a URL of its own, for a function's maximum time", () => {
    const [url, ...others] = bare.all("AWS::Lambda::Url").filter(({ id }) => id.startsWith("ModelGateway"));
    expect(others).toEqual([]);
    expect(url?.Properties).toMatchObject({ AuthType: "NONE", InvokeMode: "RESPONSE_STREAM" });
    expect(findFunction(bare, GATEWAY)?.Timeout).toBe(900);
  });

  it("can be invoked only through its URL", () => {
    const permissions = bare
      .all<{ FunctionName: unknown }>("AWS::Lambda::Permission")
      .filter(({ Properties }) => JSON.stringify(Properties.FunctionName).includes("ModelGateway"));
    expect(permissions.map(({ Properties: { FunctionName: _, ...rest } }) => rest)).toEqual([
      { Action: "lambda:InvokeFunctionUrl", FunctionUrlAuthType: "NONE", Principal: "*" },
      { Action: "lambda:InvokeFunction", InvokedViaFunctionUrl: true, Principal: "*" },
    ]);
  });

  it("is the model URL of executions", () => {
    expect(JSON.stringify(findFunction(bare, "runyard-dispatch-run")?.Environment.Variables["MODEL_URL"])).toMatch(
      /https:.*ModelGatewayUrl.*FunctionUrl/,
    );
    expect(JSON.stringify(findFunction(bare, "runyard-reap-runs")?.Environment)).not.toContain("MODEL_URL");
  });

  it("reads a key in Secrets Manager, and no other secret", () => {
    const deployment = synthesize({ anthropicKeyParameter: "/aws/reference/secretsmanager/models/anthropic" });
    const services = listRights(deployment).filter(([actions]) => /^(ssm|secretsmanager):/.test(actions));
    const [parameter, ofTeams, secret] = services;
    expect(services.map(([actions]) => actions)).toEqual([
      "ssm:GetParameter",
      "ssm:GetParameters",
      "secretsmanager:GetSecretValue",
    ]);
    expect(parameter?.[1]).toContain("parameter/runyard/vault/secrets");
    expect(ofTeams?.[1]).toContain("parameter/runyard/secrets/*");
    expect(parameter?.[1]).toContain("parameter/aws/reference/secretsmanager/models/anthropic");
    expect(secret?.[1]).toContain(":secret:models/anthropic-??????");
  });

  it("reads the configured keys and those of teams, calls Bedrock if enabled, and has no other such permission", () => {
    const services = (deployment: Synthesized) =>
      listRights(deployment).filter(([actions]) => /^(ssm|bedrock):/.test(actions));
    const vaultKey = ["ssm:GetParameter", expect.stringContaining("parameter/runyard/vault/secrets")];
    const ofTeams = ["ssm:GetParameters", expect.stringContaining("parameter/runyard/secrets/*")];
    expect(services(bare)).toEqual([vaultKey, ofTeams]);
    const [[read, parameters] = [], first, [invoke, models] = [], ...others] = services(full);
    expect(first).toEqual(ofTeams);
    expect(others).toEqual([]);
    expect(read).toBe("ssm:GetParameter");
    expect(parameters?.match(/parameter\/runyard\/\w+\/\w+/g)?.sort()).toEqual([
      "parameter/runyard/models/anthropic",
      "parameter/runyard/models/compatible",
      "parameter/runyard/models/openai",
      "parameter/runyard/vault/secrets",
    ]);
    expect(parameters).not.toContain("*");
    expect(invoke).toBe("bedrock:InvokeModel bedrock:InvokeModelWithResponseStream");
    expect(models).toMatch(/:inference-profile\/global\.anthropic\.\*.*:bedrock:\*::foundation-model\/anthropic\.\*/);
  });

  it("gets the providers of its settings, of which the other functions get names and models alone", () => {
    const modelProviders = [
      {
        ...{ name: "box", kind: "compatible", base_url: "https://box.example/v1", models: ["org/qwen"] },
        ...{ key: { parameter: "/runyard/models/box" }, timeouts: { first_byte_seconds: 600 } },
      },
    ];
    const deployed = synthesize({ modelProviders: JSON.stringify(modelProviders) });
    const named = [{ name: "box", kind: "compatible", models: [{ name: "org/qwen" }], is_custom: true }];
    const { PROVIDER_CONNECTIONS: connections, ...variables } =
      findFunction(deployed, GATEWAY)?.Environment.Variables ?? {};
    expect(JSON.parse(String(variables["NAMED_PROVIDERS"]))).toEqual(named);
    const [{ models: _, ...connection } = {}] = modelProviders;
    expect(JSON.parse(String(connections))).toEqual([connection]);
    const functions = deployed.all<LambdaFunction>("AWS::Lambda::Function").map(({ Properties }) => Properties);
    const withAddress = functions.filter((one) => JSON.stringify(one.Environment ?? {}).includes("box.example"));
    expect(withAddress.map(({ FunctionName }) => FunctionName)).toEqual([GATEWAY]);
    expect(JSON.stringify(deployed.all("AWS::IAM::Role"))).toContain("parameter/runyard/models/box");
  });

  it("is the only function that gets the locations of the keys", () => {
    expect(findFunction(full, GATEWAY)?.Environment.Variables).toMatchObject({
      ANTHROPIC_KEY_PARAMETER: "/runyard/models/anthropic",
      OPENAI_KEY_PARAMETER: "/runyard/models/openai",
      COMPATIBLE_KEY_PARAMETER: "/runyard/models/compatible",
      COMPATIBLE_BASE_URL: "https://models.example/v1",
      MODEL_PRICES: "openai/gpt-5.4=1.25/10",
      MODEL_PROVIDERS: "anthropic,openai,bedrock,compatible",
    });
    const withLocations = full
      .all<LambdaFunction>("AWS::Lambda::Function")
      .filter(({ Properties }) => JSON.stringify(Properties.Environment ?? {}).includes("KEY_PARAMETER"));
    expect(withLocations.map(({ Properties }) => Properties.FunctionName)).toEqual([GATEWAY]);
    expect(() => synthesize({ modelPrices: "openai/gpt-5.4=cheap" })).toThrow(/"modelPrices".*id=input\/output/);
  });
});
