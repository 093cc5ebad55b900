import type { CreateTriggerRequest, TriggerItem, UpdateTriggerRequest } from "../../clients/typescript/src/index.ts";
import { type System, systemOf } from "./trigger-texts.ts";

type Verification = NonNullable<TriggerItem["verification"]>;

/** A trigger while it is edited. All texts are those of fields. */
export interface TriggerDraft {
  readonly system: System;
  readonly name: string;
  readonly secret: string;
  readonly scheme: Verification["scheme"];
  readonly header: string;
  readonly prefix: string;
  readonly events: string;
  readonly filter: string;
  readonly prompt: string;
  readonly agent: string;
  readonly threads: NonNullable<TriggerItem["threads"]>;
  readonly busy: NonNullable<TriggerItem["busy"]>;
  readonly credential: string;
  readonly anyone: boolean;
  readonly pauseAfter: string;
}

export const emptyDraft: TriggerDraft = {
  system: "github",
  name: "",
  secret: "",
  scheme: "standard",
  header: "",
  prefix: "",
  events: "",
  filter: "",
  prompt: "",
  agent: "",
  threads: "continue",
  busy: "enqueue",
  credential: "",
  anyone: false,
  pauseAfter: "",
};

export const toDraft = (trigger: TriggerItem): TriggerDraft => ({
  ...emptyDraft,
  system: systemOf(trigger),
  name: trigger.name,
  events: (trigger.events ?? []).join("\n"),
  filter: trigger.filter ?? "",
  prompt: trigger.prompt,
  agent: trigger.agent_uid ?? "",
  threads: trigger.threads ?? "continue",
  busy: trigger.busy ?? "enqueue",
  credential: trigger.credential ?? "",
  anyone: trigger.allow?.anyone ?? false,
  pauseAfter: trigger.pause_after_failures === undefined ? "" : String(trigger.pause_after_failures),
});

/** What a request names for each system. */
const KINDS: Readonly<Record<System, Pick<CreateTriggerRequest, "kind" | "preset">>> = {
  github: { kind: "github" },
  gitlab: { kind: "gitlab" },
  slack: { kind: "slack" },
  linear: { kind: "webhook", preset: "linear" },
  jira: { kind: "webhook", preset: "jira" },
  sentry: { kind: "webhook", preset: "sentry" },
  pagerduty: { kind: "webhook", preset: "pagerduty" },
  webhook: { kind: "webhook" },
};

/** The systems whose API is asked about authors. */
export const hasCredential = (system: System): boolean => KINDS[system].kind !== "webhook";
/** The systems that generate the secret themselves. */
export const generatesSecret = (system: System): boolean => ["slack", "linear", "sentry", "pagerduty"].includes(system);
/** Whether a trigger of the system has a prompt of its own. */
export const hasPreset = (system: System): boolean => KINDS[system].preset !== undefined;

const listEvents = (text: string): string[] => text.split(/[\s,]+/).filter((event) => event !== "");

const toChanges = (draft: TriggerDraft) => ({
  name: draft.name.trim(),
  events: listEvents(draft.events),
  filter: draft.filter.trim(),
  threads: draft.threads,
  busy: draft.busy,
  pause_after_failures: Number(draft.pauseAfter || 0),
  ...(hasCredential(draft.system) ? { credential: draft.credential.trim() } : {}),
});

export function toCreateRequest(draft: TriggerDraft): CreateTriggerRequest {
  const { system, scheme, header, prefix } = draft;
  const hmac = { header: header.trim(), ...(prefix === "" ? {} : { prefix }) };
  return {
    ...toChanges(draft),
    ...KINDS[system],
    ...(system === "webhook" ? { verification: { scheme, ...(scheme === "hmac" ? hmac : {}) } } : {}),
    ...(draft.prompt.trim() === "" ? {} : { prompt: draft.prompt }),
    ...(draft.secret.trim() === "" ? {} : { secret: draft.secret.trim() }),
    ...(draft.agent === "" ? {} : { agent_uid: draft.agent }),
    ...(draft.anyone ? { allow: { anyone: true } } : {}),
  };
}

/** The bots that may start runs are not edited here and stay. */
export const toUpdateRequest = (draft: TriggerDraft, { allow }: TriggerItem): UpdateTriggerRequest => ({
  ...toChanges(draft),
  prompt: draft.prompt,
  agent_uid: draft.agent,
  allow: { ...(allow?.bots === undefined ? {} : { bots: allow.bots }), anyone: draft.anyone },
});
