import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { App } from "aws-cdk-lib";
import * as v from "valibot";
import { readSettings } from "#infra/read-settings.ts";
import { runyard } from "#infra/runyard.ts";

/** The billed resources of a deployment, read from its templates. */
export interface Deployed {
  /** Queues that Lambda polls. */
  readonly mappings: number;
  readonly alarms: number;
  readonly dashboards: number;
  /** Names of the functions that a rule invokes each minute. */
  readonly minutely: readonly string[];
  /** Names of those that a rule invokes each hour. */
  readonly hourly: readonly string[];
  readonly functions: ReadonlyMap<string, DeployedFunction>;
  /** KMS keys that functions use. */
  readonly kmsKeys: number;
}

interface DeployedFunction {
  readonly memoryGb: number;
  /** Disk beyond what is free of charge. */
  readonly diskGb: number;
  readonly isTraced: boolean;
  readonly isImage: boolean;
}

const Reference = v.object({ "Fn::GetAtt": v.tuple([v.string(), v.string()]) });
const Template = v.object({
  Resources: v.record(v.string(), v.object({ Type: v.string(), Properties: v.optional(v.unknown()) })),
});
const FunctionProperties = v.object({
  FunctionName: v.string(),
  MemorySize: v.number(),
  PackageType: v.exactOptional(v.string()),
  EphemeralStorage: v.exactOptional(v.object({ Size: v.number() })),
  Environment: v.exactOptional(v.object({ Variables: v.object({ SECRETS_KMS_KEY: v.exactOptional(v.string()) }) })),
  TracingConfig: v.exactOptional(v.object({ Mode: v.string() })),
});
const RuleProperties = v.object({
  ScheduleExpression: v.picklist(["rate(1 minute)", "rate(1 hour)"]),
  Targets: v.array(v.object({ Arn: Reference })),
});
const StreamProperties = v.looseObject({ StartingPosition: v.string() });
const FREE_DISK_MB = 512;

/** The context of cdk.json, which the command line of the CDK would read. */
function featureFlags(): Record<string, unknown> {
  const file = readFileSync(join(import.meta.dirname, "../../cdk.json"), "utf8");
  return v.parse(v.pipe(v.string(), v.parseJson(), v.object({ context: v.record(v.string(), v.unknown()) })), file)
    .context;
}

/** Synthesizes the deployment, with code that is only a stand-in, and reads what has a price. */
export function readDeployed(context: Readonly<Record<string, string>> = {}): Deployed {
  const directory = mkdtempSync(join(tmpdir(), "runyard-cost-"));
  try {
    const code = join(directory, "code");
    mkdirSync(code);
    writeFileSync(join(code, "index.html"), "");
    writeFileSync(join(code, "Dockerfile"), "FROM scratch\n");
    const app = new App({
      context: { ...featureFlags(), ...context },
      outdir: join(directory, "out"),
      analyticsReporting: false,
    });
    const bundle = { assetDir: () => code, imageDir: () => code };
    runyard(app, { settings: readSettings(app.node), bundle, webDir: code });
    const templates = app.synth().stacks.map((stack) => v.parse(Template, stack.template));
    return read(templates);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function read(templates: readonly v.InferOutput<typeof Template>[]): Deployed {
  const resources = templates.flatMap(({ Resources }) => Object.entries(Resources));
  const ofType = (type: string) => resources.filter(([, { Type }]) => Type === type);
  const functions = new Map<string, DeployedFunction>();
  const names = new Map<string, string>();
  const kmsKeys = new Set<string>();
  for (const [id, { Properties }] of ofType("AWS::Lambda::Function")) {
    const parsed = v.safeParse(FunctionProperties, Properties);
    // The functions of the CDK itself have no names, and run while a stack is deployed.
    if (!parsed.success) continue;
    const kmsKey = parsed.output.Environment?.Variables.SECRETS_KMS_KEY;
    if (kmsKey !== undefined) kmsKeys.add(kmsKey);
    const { FunctionName: name, MemorySize, PackageType, EphemeralStorage, TracingConfig } = parsed.output;
    names.set(id, name);
    functions.set(name, {
      memoryGb: MemorySize / 1024,
      diskGb: Math.max(0, (EphemeralStorage?.Size ?? 0) - FREE_DISK_MB) / 1024,
      isTraced: TracingConfig?.Mode === "Active",
      isImage: PackageType === "Image",
    });
  }
  const rules = ofType("AWS::Events::Rule").map(([, { Properties }]) => v.parse(RuleProperties, Properties));
  const invokedAt = (rate: string) =>
    rules
      .filter(({ ScheduleExpression }) => ScheduleExpression === rate)
      .flatMap(({ Targets }) => Targets.flatMap(({ Arn }) => names.get(Arn["Fn::GetAtt"][0]) ?? []));
  return {
    // Lambda reads the stream of a table free of charge.
    mappings: ofType("AWS::Lambda::EventSourceMapping").filter(
      ([, { Properties }]) => !v.is(StreamProperties, Properties),
    ).length,
    alarms: ofType("AWS::CloudWatch::Alarm").length,
    dashboards: ofType("AWS::CloudWatch::Dashboard").length,
    minutely: invokedAt("rate(1 minute)"),
    hourly: invokedAt("rate(1 hour)"),
    functions,
    kmsKeys: kmsKeys.size,
  };
}

/** A function of the deployment. @throws where there is none of this name */
export function functionOf({ functions }: Deployed, name: string): DeployedFunction {
  const found = functions.get(name) ?? functions.get(`${name}-image`);
  if (found === undefined) throw new Error(`the deployment has no function ${name}`);
  return found;
}
