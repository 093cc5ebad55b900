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

/** Components that have the members of another one and more. */
const EXTENDED: Readonly<Record<string, string>> = {
  CreatedKey: "KeyItem",
  CreatedInvitation: "InvitationItem",
  CreatedTrigger: "TriggerItem",
  RotatedTrigger: "TriggerItem",
  TriggerDeliveryDetails: "TriggerDelivery",
  CreatedWebhook: "WebhookItem",
  RotateSecretResponse: "WebhookItem",
  TeamDetail: "TeamItem",
};

/** The sample of a member: for the member `parent` that contains it, for the component, or for any member of this name. */
export function findSample(component: string | undefined, member: string, parent?: string): Json | undefined {
  const base = component?.replace(/Input$/, "") ?? "";
  const owners = [parent, base, EXTENDED[base]].map((owner) => SAMPLES[`${owner}.${member}`]);
  return [...owners, SAMPLES[member]].find((sample) => sample !== undefined);
}
