import { describe, expect, it } from "vitest";
import { EVERY_SETTING, type Synthesized, synthesize } from "./synthesize.ts";

/** The properties by which an account or a region tells resources of one type apart. */
const NAMES = /^(?:\w*Name|Name|Family)$/;

/** Texts of the templates that contain the usual prefix although the names of resources do not. */
const FREE = [
  // Headers, a cookie and a family of definitions, which the code of every deployment uses.
  /runyard-(?:origin-secret|viewer-host)|__Host-runyard|task-definition\/runyard-\*/g,
  // Prose, and the comment of the distribution.
  /Runyard(?:'s)?[ :]|of Runyard|^Runyard$/g,
  // The id of a custom resource in its stack, and tags with the paths of constructs.
  /PhysicalResourceId: "runyard-sandbox-image"|^Runyard-Execution\/FargateTasks\/.*/g,
  // Names of the constructs in the templates, which differ between stacks and not between deployments.
  /Runyard(?=[A-Z])/g,
];

function listTexts(value: unknown): readonly string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap(listTexts);
}

/** The texts of a deployment's templates that name something by the usual prefix. */
function findUsualNames({ stacks }: Synthesized): readonly string[] {
  const texts = stacks.flatMap(({ resources }) => resources.flatMap(({ Properties }) => listTexts(Properties)));
  const named = texts.filter((text) => /runyard/i.test(FREE.reduce((rest, free) => rest.replaceAll(free, ""), text)));
  return [...new Set(named)];
}

/** The physical names of a deployment's resources, with their types. */
function listNames({ stacks }: Synthesized): readonly string[] {
  return stacks.flatMap(({ name, resources }) => [
    `stack ${name}`,
    ...resources.flatMap(({ Type, Properties }) =>
      Object.entries(Properties ?? {}).flatMap(([property, value]) =>
        NAMES.test(property) && typeof value === "string" && /runyard|acme/i.test(value) ? [`${Type} ${value}`] : [],
      ),
    ),
  ]);
}

describe("the context prefix", () => {
  it.each([
    ["the usual settings", {}],
    ["every setting", { ...EVERY_SETTING, oidcClientId: "client" }],
  ] as const)("begins the names of all resources with %s, so that deployments share an account", (_, settings) => {
    const acme = synthesize({ ...settings, prefix: "acme-dev" });
    expect(findUsualNames(acme)).toEqual([]);
    const [ours, theirs] = [new Set(listNames(synthesize(settings))), listNames(acme)];
    expect(theirs.length).toBeGreaterThan(300);
    expect(theirs.filter((name) => ours.has(name))).toEqual([]);
    expect(theirs.filter((name) => name.startsWith("stack "))).toContain("stack AcmeDev-Data");
  });

  it.each(["Acme", "1acme", "acme_dev", "acme-", "a-prefix-that-is-long"])("cannot be %s", (prefix) => {
    expect(() => synthesize({ prefix })).toThrow(/context "prefix" must be at most 16 lowercase letters/);
  });
});

describe("the name of a function, log group, queue, alarm or table", () => {
  /** The types whose names people and other resources know, with the property that has it. */
  const NAMED: Readonly<Record<string, string>> = {
    "AWS::CloudWatch::Alarm": "AlarmName",
    "AWS::DynamoDB::Table": "TableName",
    "AWS::Lambda::Function": "FunctionName",
    "AWS::Logs::LogGroup": "LogGroupName",
    "AWS::SNS::Topic": "TopicName",
    "AWS::SQS::Queue": "QueueName",
  };

  it.each([
    ["the usual settings", {}],
    ["every setting", EVERY_SETTING],
  ] as const)("is the same whichever stack has it, with %s", (_, settings) => {
    const { stacks } = synthesize(settings);
    const named = stacks.flatMap(({ name: stack, resources }) =>
      resources
        .filter(({ Type }) => Type in NAMED)
        .map(({ id, Type, Properties }) => ({ stack, id, Type, name: Properties?.[NAMED[Type] ?? ""] })),
    );
    expect(named.length).toBeGreaterThan(300);
    // A name that CloudFormation chooses begins with that of the stack; a text of parts would name it.
    const chosen = named.filter(({ name }) => typeof name !== "string");
    expect(chosen.map(({ id }) => id).filter((id) => !UNNAMED.test(id))).toEqual([]);
    const names = named.map(({ name }) => name).filter((name) => typeof name === "string");
    expect(names.filter((name) => /^Runyard-|Runyard-(?:Api|Data|Execution|Routes)/.test(name))).toEqual([]);
    const all = named.filter(({ name }) => typeof name === "string").map(({ Type, name }) => `${Type} ${String(name)}`);
    expect(new Set(all).size).toBe(all.length);
  });
});

/** Those that nobody refers to: the functions of the CDK that copy the web app, and the logs of what only deployments and tasks run. */
const UNNAMED = /^CustomCDK|^CustomS3|^SandboxImage|^FargateTasks/;

describe("the context logRetentionDays", () => {
  const listDays = (context: Record<string, string>) =>
    new Set(
      synthesize(context)
        .all<{ RetentionInDays?: number }>("AWS::Logs::LogGroup")
        .map(({ Properties }) => Properties.RetentionInDays),
    );

  it("applies to every log group, a month by default", () => {
    expect(listDays({})).toEqual(new Set([30]));
    expect(listDays({ ...EVERY_SETTING, logRetentionDays: "365" })).toEqual(new Set([365]));
    expect(listDays({ frontDoor: "false", logRetentionDays: "7" })).toEqual(new Set([7]));
  });

  it("is one of the numbers that CloudWatch accepts", () => {
    expect(() => synthesize({ logRetentionDays: "31" })).toThrow(
      /context "logRetentionDays" must be one of 1, 3, 5, 7/,
    );
    expect(() => synthesize({ logRetentionDays: "0" })).toThrow(/context "logRetentionDays" must be a whole number/);
  });
});
