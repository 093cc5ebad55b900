import type { App } from "aws-cdk-lib";
import { AwsSolutionsChecks } from "cdk-nag";
import { describe, expect, it } from "vitest";
import { acknowledge, acknowledgements } from "#infra/acknowledgements.ts";
import { synthesize } from "./synthesize.ts";

/** Findings of cdk-nag as "rule at path". */
function findings(app: App): string[] {
  return new AwsSolutionsChecks()
    .validateScope(app)
    .violations.flatMap(({ ruleName, violatingResources }) =>
      violatingResources.map(({ constructPath }) => `${ruleName} at ${constructPath}`),
    );
}

describe("cdk-nag's AwsSolutions", () => {
  let found: { readonly before: readonly string[]; readonly after: readonly string[] } | undefined;
  /** The findings before and after the acknowledgements. Synthesized in a test, so that coverage counts it for that test. */
  function findUsual() {
    if (found !== undefined) return found;
    const { app } = synthesize({
      alarmEmail: "ops@example.com",
      bedrock: "true",
      sandboxes: "lambda,microvm,fargate",
    });
    const before = findings(app);
    acknowledge(app);
    found = { before, after: findings(app) };
    return found;
  }

  it("finds nothing without an acknowledgement and a reason", () => {
    expect(findUsual().after).toEqual([]);
    for (const { reason } of acknowledgements) expect(reason.length).toBeGreaterThan(40);
  });

  it.each([
    { frontDoor: "false", sandboxTenancy: "false" },
    { existingTable: "runyard-restored", existingBucket: "kept-bucket" },
    {
      existingTable: "runyard-restored",
      existingTableStream:
        "arn:aws:dynamodb:us-east-1:111122223333:table/runyard-restored/stream/2026-05-18T19:00:00.000",
    },
  ])("finds nothing else with %j", (context) => {
    const other = synthesize(context).app;
    acknowledge(other, context);
    expect(findings(other)).toEqual([]);
  });

  const entries = acknowledgements.flatMap(({ rules, paths }) => rules.map((rule) => ({ rule, paths })));
  it.each(entries)("still finds $rule, which is acknowledged", ({ rule, paths }) => {
    const marker = `${rule} at `;
    expect(findUsual().before.some((one) => one.startsWith(marker) && paths.test(one.slice(marker.length)))).toBe(true);
  });
});
