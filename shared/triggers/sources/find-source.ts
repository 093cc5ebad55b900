import type { TriggerKind, TriggerPreset, TriggerVerification } from "#shared/wire/triggers/trigger.ts";
import { github } from "./github.ts";
import { gitlab } from "./gitlab.ts";
import { PRESETS } from "./presets.ts";
import { slack } from "./slack.ts";
import type { Source } from "./source.ts";
import { standardWebhook, webhook } from "./webhook.ts";

const KINDS = { github, gitlab, slack };

/** What decides how deliveries to a trigger are verified and read. */
export interface SourceChoice {
  readonly kind: TriggerKind;
  readonly preset?: TriggerPreset;
  /** Of the kind `webhook` only. */
  readonly verification?: TriggerVerification;
}

/** How the deliveries to a trigger are read. */
export function findSource({ kind, preset, verification }: SourceChoice): Source {
  if (kind !== "webhook") return KINDS[kind];
  if (preset !== undefined) return PRESETS[preset];
  return verification?.scheme === "standard" ? standardWebhook : webhook;
}
