import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { App } from "aws-cdk-lib";
import { readSettings } from "#infra/read-settings.ts";
import { runyard } from "#infra/runyard.ts";

export const repository = join(import.meta.dirname, "../..");

export interface Resource<P = Record<string, unknown>> {
  readonly id: string;
  readonly stack: string;
  readonly Type: string;
  readonly Properties: P;
  readonly DeletionPolicy?: string;
  readonly UpdateReplacePolicy?: string;
}

export interface Synthesized {
  readonly app: App;
  readonly stacks: readonly {
    name: string;
    resources: readonly Resource[];
    outputs: readonly string[];
    conditions: object;
    after: string[];
  }[];
  /** The templates of all stacks, as CloudFormation gets them. */
  readonly templates: readonly { readonly name: string; readonly template: object }[];
  /** The conditions of all stacks. */
  readonly conditions: readonly object[];
  /** All resources of one CloudFormation type, in all stacks, except those of CDK's own functions that copy and delete the web app. */
  all<P = Record<string, unknown>>(type: string): readonly Resource<P>[];
}

/** A deployment that leaves no setting at its default. */
export const EVERY_SETTING: Readonly<Record<string, string>> = {
  accountConcurrency: "5000",
  alarmEmail: "ops@example.com",
  anthropicKeyParameter: "/ours/anthropic",
  bedrock: "true",
  closedApi: "true",
  certificateArn: "arn:aws:acm:us-east-1:111122223333:certificate/12345678-1234-1234-1234-123456789012",
  compatibleBaseUrl: "https://models.example/v1",
  compatibleKeyParameter: "/ours/models",
  compatibleModels: "small,large",
  compatibleTimeoutSeconds: "600",
  createsPerMinute: "11",
  detailedAlarms: "true",
  disabledModels: "openai/gpt-5.4",
  dispatchConcurrency: "7",
  domainName: "agents.example",
  followupsPerMinute: "12",
  githubApiUrl: "https://github.example/api/v3",
  githubAppId: "314159",
  githubAppKeyParameter: "/ours/app",
  githubTokenParameter: "/ours/token",
  gitlabApiUrl: "https://gitlab.example/api/v4",
  harnessRequestBurst: "555",
  harnessRequestsPerSecond: "222",
  keysPerMinute: "13",
  logRetentionDays: "90",
  microvmBaseVersion: "3",
  microvmRegions: "eu-central-1",
  modelLimits: "compatible/small=32768/4096",
  modelPrices: "compatible/small=0.1/0.2",
  oidcClientId: "runyard",
  oidcClientSecretParameter: "/ours/oidc",
  oidcIssuer: "https://login.example",
  openaiKeyParameter: "/ours/openai",
  originSecretSalts: "second1,initial",
  otlpEndpoint: "https://otlp.example",
  otlpHeadersParameter: "/ours/otlp",
  requestBurst: "777",
  requestsPerSecond: "333",
  reserveConcurrency: "true",
  sandboxConcurrency: "60",
  sandboxDiskMb: "1024",
  sandboxMemoryMb: "3072",
  sandboxSeconds: "600",
  sandboxTenancy: "false",
  secretsKey: "arn:aws:kms:eu-west-1:111122223333:key/1-2",
  slackApiUrl: "https://slack.example/api",
  sandboxes: "lambda,microvm,fargate",
  streamConcurrency: "150",
  webAclArn: "arn:aws:wafv2:us-east-1:111122223333:global/webacl/ours/12345678-1234-1234-1234-123456789012",
  webUrl: "https://runs.example",
  workerClaimSeconds: "30",
};

/** The templates of the last settings. The files of this folder share a process, and most use the same ones. */
const known = new Map<string, Synthesized>();
const MAX_KNOWN = 6;

/** Synthesizes the templates of a deployment. Functions have stand-in code, which does not affect the templates. */
export function synthesize(context: Record<string, string> = {}): Synthesized {
  const key = JSON.stringify(context);
  const synthesized = known.get(key) ?? makeTemplates(context);
  known.delete(key);
  known.set(key, synthesized);
  const [oldest] = known.keys();
  if (known.size > MAX_KNOWN && oldest !== undefined) known.delete(oldest);
  return synthesized;
}

function makeTemplates(context: Record<string, string>): Synthesized {
  const directory = mkdtempSync(join(tmpdir(), "runyard-synth-"));
  try {
    const assetDir = join(directory, "code");
    mkdirSync(assetDir);
    writeFileSync(join(assetDir, "index.mjs"), "export const handler = () => {};\n");
    const app = new App({
      context: { ...cdkJson().context, ...context },
      outdir: join(directory, "out"),
      analyticsReporting: false,
      builtinCloudFormationValidation: false,
    });
    const webDir = join(directory, "web");
    mkdirSync(webDir);
    for (const name of ["index.html", "404.html"]) writeFileSync(join(webDir, name), "<!doctype html>\n");
    copyFileSync(join(repository, "web/public/paths.json"), join(webDir, "paths.json"));
    const imageDir = join(directory, "image");
    mkdirSync(imageDir);
    writeFileSync(join(imageDir, "Dockerfile"), "FROM scratch\n");
    const bundle = { assetDir: () => assetDir, imageDir: () => imageDir };
    runyard(app, { settings: readSettings(app.node), bundle, webDir });
    const synthesized = app.synth().stacks;
    const stacks = synthesized.map((stack) => ({
      name: stack.stackName,
      resources: listResources(stack.stackName, stack.template),
      conditions: stack.template.Conditions ?? {},
      outputs: Object.keys(stack.template.Outputs ?? {}),
      after: stack.dependencies.map(({ id }) => id).filter((id) => !id.endsWith(".assets")),
    }));
    return {
      app,
      stacks,
      templates: synthesized.map(({ stackName, template }) => ({ name: stackName, template })),
      conditions: stacks.map(({ conditions }) => conditions),
      // A template is untyped JSON: the caller declares which properties of a type it reads.
      all: (type) =>
        JSON.parse(
          JSON.stringify(
            stacks.flatMap(({ resources }) => resources.filter((one) => one.Type === type && isOurs(one))),
          ),
        ),
    };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function isOurs({ id }: Resource): boolean {
  return !/^Custom(CDKBucketDeployment|S3AutoDeleteObjects)/.test(id);
}

function cdkJson(): { context: Record<string, unknown> } {
  return JSON.parse(readFileSync(join(repository, "cdk.json"), "utf8"));
}

function listResources(
  stack: string,
  template: { Resources?: Record<string, Omit<Resource, "id" | "stack">> },
): Resource[] {
  return Object.entries(template.Resources ?? {}).map(([id, resource]) => ({ id, stack, ...resource }));
}
