import { describe, expect, it } from "vitest";
import { EVERY_SETTING, synthesize } from "./synthesize.ts";

/** Other kinds of deployments, whose resources differ from the default ones. */
const OTHER_KINDS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "On the AWS emulator": {
    stage: "local",
    baseUrl: "http://127.0.0.1:4500/api/v1",
    webUrl: "http://127.0.0.1:4500",
    githubApiUrl: "http://127.0.0.1:4501",
  },
  "Without CloudFront, with a restored table and bucket, and MicroVMs only": {
    existingBucket: "kept-bucket",
    existingTable: "runyard-restored",
    frontDoor: "false",
    lambdaSandbox: "zip",
    sandboxes: "microvm",
  },
};

/** There is one of each for each function or route, and separate tests check them. */
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
    const changes = Object.entries({ "With every setting": EVERY_SETTING, ...OTHER_KINDS }).flatMap(
      ([title, context]) => ["", `${title}:`, ...describeChanges(usual, describeResources(context))],
    );
    const text = [...lines, ...changes, ""].join("\n");
    await expect(text).toMatchFileSnapshot("templates.txt");
  });
});

/** Resources by stack and id, without values that depend on the stand-in code. */
function describeResources(context: Record<string, string>): ReadonlyMap<string, unknown> {
  const all = synthesize(context).stacks.flatMap(({ name, resources, outputValues: outputs, conditions, after }) => [
    [name, { after: after.toSorted(), outputs, conditions }] as const,
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
