import type * as v from "valibot";
import { describe, expect, it } from "vitest";
import { RunyardError } from "#shared/errors.ts";
import { parseFields } from "#shared/http/request.ts";
import { CancelRunsRequest } from "#shared/wire/cancel.ts";
import { ReportArtifactRequest } from "#shared/wire/executions/report-artifact.ts";
import { CreateIdentityRequest } from "#shared/wire/identity.ts";
import { RunAgentRequest } from "#shared/wire/runs/new-run.ts";

function formatDetail(schema: v.GenericSchema<unknown, unknown>, input: unknown): string | undefined {
  try {
    parseFields(schema, input);
  } catch (error) {
    return error instanceof RunyardError ? error.detail : String(error);
  }
  return undefined;
}

describe("parseFields", () => {
  it.each([
    [CancelRunsRequest, {}, "filter: is required"],
    [CancelRunsRequest, { filter: { stat: "QUEUED" } }, "filter.stat: is not a known member; did you mean state?"],
    [CancelRunsRequest, { filter: { state: "QUEUED" } }, "filter.state: must be a list"],
    [CancelRunsRequest, undefined, "body: must be an object"],
    [RunAgentRequest, { prompt: 5 }, "prompt: must be a string"],
    [RunAgentRequest, { team: "yes" }, "team: must be true or false"],
    [RunAgentRequest, { mode: "fast" }, 'mode: must be "normal", "plan" or "orchestrate"'],
    [RunAgentRequest, { config: { idle_timeout_minutes: 1.5 } }, "config.idle_timeout_minutes: must be a whole number"],
    [RunAgentRequest, { config: { idle_timeout_minutes: -1 } }, "config.idle_timeout_minutes: must be at least 0"],
    [RunAgentRequest, { config: { idle_timeout_minutes: 61 } }, "config.idle_timeout_minutes: must be at most 60"],
    [RunAgentRequest, { config: { skills: Array(21).fill("a:b") } }, "config.skills: must have at most 20 items"],
    [CreateIdentityRequest, { name: "" }, "name: must not be empty"],
    [ReportArtifactRequest, { artifact_type: "PLAN", data: [] }, "data.content: is required"],
  ])("names the field and the remedy (case %#)", (schema, input, detail) => {
    expect(formatDetail(schema, input)).toBe(detail);
  });

  it("says that a missing discriminator is required", () => {
    expect(formatDetail(ReportArtifactRequest, {})).toMatch(/^artifact_type: is required and must be "PLAN", /);
  });

  it("never repeats the value, which may be a secret", () => {
    for (const value of ["s3cret", { key: "s3cret" }, ["s3cret"]]) {
      expect(formatDetail(CancelRunsRequest, { filter: value })).not.toContain("s3cret");
      expect(formatDetail(RunAgentRequest, { mode: value })).not.toContain("s3cret");
    }
  });
});
