import type { Json } from "../json.ts";
import { ACCOUNT_SAMPLES } from "./account.ts";
import { ACTIVITY_SAMPLES } from "./activity.ts";
import { CONFIG_SAMPLES } from "./config.ts";
import { HARNESS_SAMPLES } from "./harness.ts";
import { RUNS_SAMPLES } from "./runs.ts";
import { SCHEDULES_SAMPLES } from "./schedules.ts";
import { TRIGGERS_SAMPLES } from "./triggers.ts";
import type { Samples } from "./values.ts";

const SAMPLES: Samples = {
  ...RUNS_SAMPLES,
  ...CONFIG_SAMPLES,
  ...ACTIVITY_SAMPLES,
  ...HARNESS_SAMPLES,
  ...ACCOUNT_SAMPLES,
  ...SCHEDULES_SAMPLES,
  ...TRIGGERS_SAMPLES,
};

/** Components that contain the members of another one. */
const EXTENDED: Readonly<Record<string, string>> = {
  CreatedKey: "KeyItem",
  CreatedInvitation: "InvitationItem",
  StoredRepository: "Repository",
  ResolvedAgentConfig: "AmbientAgentConfig",
};

/** The sample of a member of a component: for this place in it, for any member of this name below `parent`, or for any of this name. */
export function findSample(component: string | undefined, member: string, parent?: string): Json | undefined {
  const base = component?.replace(/Input$/, "") ?? "";
  const bases = [base, EXTENDED[base]].filter((name) => name !== undefined);
  const nested =
    parent === undefined ? [] : [...bases.map((name) => `${name}.${parent}.${member}`), `${parent}.${member}`];
  const names = [...nested, ...bases.map((name) => `${name}.${member}`), member];
  return names.map((name) => SAMPLES[name]).find((sample) => sample !== undefined);
}
