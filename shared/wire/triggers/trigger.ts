import * as v from "valibot";
import { AmbientAgentConfig, BudgetUsd, ResolvedAgentConfig } from "../config.ts";
import { Scope, Scopes } from "../keys/scope.ts";
import { FailureLimit } from "../limits/failure-limit.ts";
import { PageInfo } from "../list.ts";
import { MAX_METADATA, Metadata } from "../metadata.ts";
import { Count, Id, Name, textOfBytes } from "../primitives.ts";
import { RunMode, UserProfile } from "../run.ts";
import { RecentRun } from "../schedule.ts";
import { SecretName } from "../secrets/secret-name.ts";

/** The systems whose events a trigger takes. `webhook` stands for every system that signs its requests or sends a token. */
const TriggerKind = v.picklist(["github", "gitlab", "slack", "webhook"]);
export type TriggerKind = v.InferOutput<typeof TriggerKind>;

/** Systems whose verification and prompt a trigger of the kind `webhook` need not spell out. */
const TriggerPreset = v.picklist(["linear", "jira", "sentry", "pagerduty"]);
export type TriggerPreset = v.InferOutput<typeof TriggerPreset>;

const Login = textOfBytes(256, 1);

/** Who may start runs besides people with write access. */
export const TriggerAuthors = v.object({
  /** Names of accounts of bots and applications. */
  bots: v.exactOptional(v.pipe(v.array(Login), v.maxLength(50))),
  /** Whether every person may, whatever their rights. */
  anyone: v.exactOptional(v.boolean()),
});
export type TriggerAuthors = v.InferOutput<typeof TriggerAuthors>;

/** How the other system learns the state and the result of a run. */
export const TriggerReply = v.object({
  /** `thread`: a comment in the thread of the event, which is updated in place. It needs a `credential`. */
  to: v.picklist(["thread", "none"]),
  /** What the comment shows besides the result. Both by default in private repositories and projects and on Slack, otherwise nothing. */
  show: v.exactOptional(v.pipe(v.array(v.picklist(["cost", "link"])), v.maxLength(2))),
});
export type TriggerReply = v.InferOutput<typeof TriggerReply>;

const HeaderName = v.pipe(
  textOfBytes(128, 1),
  v.regex(/^[A-Za-z0-9-]+$/, "must be the name of a header"),
  v.check((name) => !/^(authorization|cookie|host|content-.*)$/i.test(name), "must be a header of its own"),
);

/** How the requests of the other system prove who sent them. */
export const TriggerVerification = v.object({
  /** `standard` are Standard Webhooks, `hmac` is an HMAC-SHA256 of the body, `bearer` is the secret itself. */
  scheme: v.picklist(["standard", "hmac", "bearer"]),
  /** The header with the signature. Required by `hmac`. */
  header: v.exactOptional(HeaderName),
  /** What precedes the signature in its header, such as `sha256=`. */
  prefix: v.exactOptional(textOfBytes(32)),
  /** The encoding of the signature. Defaults to `hex`. */
  encoding: v.exactOptional(v.picklist(["hex", "base64"])),
  /** The header with the time, in seconds, that is signed together with the body. */
  timestamp_header: v.exactOptional(HeaderName),
});
export type TriggerVerification = v.InferOutput<typeof TriggerVerification>;

const TriggerSecret = textOfBytes(512, 16);
export const TriggerPrompt = textOfBytes(8192, 1);
const TriggerEvents = v.pipe(v.array(textOfBytes(128, 1)), v.maxLength(50));
const TriggerMetadata = v.pipe(
  Metadata,
  v.check((metadata) => Object.keys(metadata).length <= MAX_METADATA - 2, `must have at most ${MAX_METADATA - 2} keys`),
);

/** An expression of the Common Expression Language over `event`. */
const TriggerExpression = textOfBytes(2048);

/** `continue`: later events of an issue, a pull request, a ticket or a conversation are follow-ups of the first one's run. */
const TriggerThreads = v.picklist(["continue", "separate"]);
/** What an event does whose thread has an active run. */
const BusyPolicy = v.picklist(["enqueue", "interrupt", "skip"]);

const optionalMembers = {
  /** The types of events that start runs, such as `build` or `build.failed`. All by default. */
  events: v.exactOptional(TriggerEvents),
  /** The identity that executes the runs. By default the trigger's creator does. */
  agent_uid: v.exactOptional(Id),
  /** The configuration of the runs, before the defaults of the identity, the environment and the team. `{}` is none. */
  agent_config: v.exactOptional(AmbientAgentConfig),
  /** The most that each run with its children and follow-ups may spend on models, in US dollars. A lower budget of the configuration stays. */
  budget_usd: v.exactOptional(BudgetUsd),
  /**
   * The condition that events have to meet, an expression of the Common Expression Language over `event`. Absent or
   * empty for none.
   */
  filter: v.exactOptional(TriggerExpression),
  /** The expression that yields the thread of an event of the kind `webhook`, a string. An empty one is no thread. */
  thread_key: v.exactOptional(TriggerExpression),
  /** The mode of the runs. */
  mode: v.exactOptional(RunMode),
  /** The template of the follow-ups that later events of a thread send. Defaults to `{{ event.text }}`. */
  followup_prompt: v.exactOptional(TriggerPrompt),
  /**
   * Whether later events of an issue, a pull request, a ticket or a conversation continue the first one's run
   * (`continue`, the default), or start runs of their own (`separate`).
   */
  threads: v.exactOptional(TriggerThreads),
  /**
   * What an event of a thread does while its run is active: its follow-up waits for the turn (`enqueue`, the
   * default) or interrupts it, or the event is ignored (`skip`).
   */
  busy: v.exactOptional(BusyPolicy),
  /** Who may start runs besides people with write access. */
  allow: v.exactOptional(TriggerAuthors),
  /**
   * The name of a secret of the team with a token of the other system, of the kinds `github`, `gitlab` and `slack`: people with
   * write access may start runs then. `""` is none.
   */
  credential: v.exactOptional(v.union([SecretName, v.literal("")])),
  /** Whether runs reply to the events that start them. They do not by default. */
  reply: v.exactOptional(TriggerReply),
  /** The labels of the runs, at most 18. */
  metadata: v.exactOptional(TriggerMetadata),
  /**
   * The number of consecutive failed runs after which the trigger pauses itself, at most 10. By default it never does. 0
   * clears the limit.
   */
  pause_after_failures: v.exactOptional(FailureLimit),
  /** Whether events start runs. Defaults to true. */
  enabled: v.exactOptional(v.boolean()),
};

/** A new trigger. */
export const CreateTriggerRequest = v.object({
  /** A name for people, which is the title of the runs. */
  name: Name,
  /** The system that sends the events. `webhook` stands for all others. */
  kind: TriggerKind,
  /** Fills verification and prompt of a trigger of the kind `webhook`. */
  preset: v.exactOptional(TriggerPreset),
  /** The template of the prompts, with values such as `{{ event.payload.title }}`. Required without a preset. */
  prompt: v.exactOptional(TriggerPrompt),
  /** How requests to a trigger of the kind `webhook` are verified. Standard Webhooks by default. */
  verification: v.exactOptional(TriggerVerification),
  /** Whether the team owns the trigger. Defaults to true if the caller has a team. */
  team: v.exactOptional(v.boolean()),
  /** What its runs may use their keys for. By default all scopes of the request's credential, which has to have each of them. */
  scopes: v.exactOptional(Scopes),
  /** The secret, if the other system generates it. By default Runyard generates it. */
  secret: v.exactOptional(TriggerSecret),
  ...optionalMembers,
});
export type CreateTriggerRequest = v.InferOutput<typeof CreateTriggerRequest>;

/** Changes to a trigger. Absent members keep their values. */
export const UpdateTriggerRequest = v.object({
  /** A name for people, which is the title of the runs. */
  name: v.exactOptional(Name),
  /** The template of the prompts, at most 8 KiB. A preset has one. */
  prompt: v.exactOptional(TriggerPrompt),
  ...optionalMembers,
  /** What its runs may use their keys for. `[]` stands for all scopes of the request's credential. */
  scopes: v.exactOptional(v.array(Scope)),
  /** The identity that executes the runs. `""` clears it: the trigger's creator executes them. */
  agent_uid: v.exactOptional(v.union([Id, v.literal("")])),
  /** The most that each run with its children and follow-ups may spend on models, in US dollars. `null` clears it. */
  budget_usd: v.exactOptional(v.nullable(BudgetUsd)),
  /** The template of the follow-ups that later events of a thread send. `""` restores `{{ event.text }}`. */
  followup_prompt: v.exactOptional(v.union([TriggerPrompt, v.literal("")])),
});
export type UpdateTriggerRequest = v.InferOutput<typeof UpdateTriggerRequest>;

/** What a delivery to a trigger resulted in. */
export const TriggerOutcome = v.picklist(["started", "followed_up", "ignored", "duplicate", "failed"]);
export type TriggerOutcome = v.InferOutput<typeof TriggerOutcome>;

/** The latest delivery to a trigger, and its outcome if it has one yet. */
export const LastDelivery = v.object({
  /** The time of its arrival. @format date-time */
  at: v.string(),
  /** What it resulted in. */
  outcome: v.exactOptional(TriggerOutcome),
});
export type LastDelivery = v.InferOutput<typeof LastDelivery>;

/** Deliveries to a trigger of the last 24 hours by outcome, of the latest 1,000. */
export const DeliveryCounts = v.object({
  /** Deliveries that started a run. */
  started: Count,
  /** Deliveries that sent a follow-up. */
  followed_up: Count,
  /** Deliveries that were ignored. */
  ignored: Count,
  /** Deliveries that repeated another one. */
  duplicate: Count,
  /** Deliveries for which no run could be started. */
  failed: Count,
});
export type DeliveryCounts = v.InferOutput<typeof DeliveryCounts>;

/** A trigger as responses show it. */
export const TriggerItem = v.object({
  /** The trigger's id. */
  uid: v.string(),
  /** A name for people, which is the title of the runs. */
  name: v.string(),
  /** The system that sends the events. `webhook` stands for all others. */
  kind: TriggerKind,
  /** The system whose verification and prompt a trigger of the kind `webhook` has. */
  preset: v.exactOptional(TriggerPreset),
  /** Whether events start runs. False while the trigger is paused. */
  enabled: v.boolean(),
  /** Where the other system sends its events. */
  ingress_url: v.string(),
  /** How requests to a trigger of the kind `webhook` are verified. Standard Webhooks by default. */
  verification: v.exactOptional(TriggerVerification),
  /** The template of the prompts, at most 8 KiB. A preset has one. */
  prompt: v.string(),
  /** The types of events that start runs, such as `build` or `build.failed`. Absent for all. */
  events: v.exactOptional(v.array(v.string())),
  /**
   * The condition that events have to meet, an expression of the Common Expression Language over `event`. Absent or
   * empty for none.
   */
  filter: v.exactOptional(v.string()),
  /** The expression that yields the thread of an event of the kind `webhook`, a string. An empty one is no thread. */
  thread_key: v.exactOptional(v.string()),
  /** The identity that executes the runs. Absent if the trigger's creator does. */
  agent_uid: v.exactOptional(v.string()),
  /** The configuration of the runs, before the defaults of the identity, the environment and the team. */
  agent_config: v.exactOptional(ResolvedAgentConfig),
  /** The most that each run with its children and follow-ups may spend on models, in US dollars. */
  budget_usd: v.exactOptional(v.number()),
  /** The mode of the runs. */
  mode: RunMode,
  /** The template of the follow-ups that later events of a thread send. Defaults to `{{ event.text }}`. */
  followup_prompt: v.exactOptional(v.string()),
  /**
   * Whether later events of an issue, a pull request, a ticket or a conversation continue the first one's run
   * (`continue`, the default), or start runs of their own (`separate`).
   */
  threads: v.exactOptional(TriggerThreads),
  /**
   * What an event of a thread does while its run is active: its follow-up waits for the turn (`enqueue`, the
   * default) or interrupts it, or the event is ignored (`skip`).
   */
  busy: v.exactOptional(BusyPolicy),
  /** Who may start runs besides people with write access. */
  allow: v.exactOptional(TriggerAuthors),
  /** The name of the secret with the token for the other system. */
  credential: v.exactOptional(v.string()),
  /** Whether runs reply to the events that start them. Absent where they do not. */
  reply: v.exactOptional(TriggerReply),
  /** The labels of the runs. */
  metadata: v.exactOptional(Metadata),
  /** What its runs may use their keys for. Absent where that is not limited. */
  scopes: v.exactOptional(v.array(Scope)),
  /** The owner. */
  scope: v.object({
    /** `Team` for a team's trigger, `User` for a personal one. */
    type: v.picklist(["Team", "User"]),
    /** The id of the team or the person. */
    uid: v.string(),
  }),
  /** The person who created the trigger, and in whose name its runs are created. */
  created_by: UserProfile,
  /** The time of creation. @format date-time */
  created_at: v.string(),
  /** The time of the latest change. @format date-time */
  updated_at: v.string(),
  /** The number of consecutive failed runs after which the trigger pauses itself. Absent if it never does. */
  pause_after_failures: v.exactOptional(Count),
  /**
   * Why the trigger has paused itself: its runs failed, its identity was deleted, or its creator has left the team. The last two are
   * also stored with a trigger that a person has paused. Absent for others, and after the trigger is resumed.
   */
  pause_reason: v.exactOptional(v.string()),
  /**
   * The creation time of the first of the consecutive failed runs. Absent if the latest run that has ended did not
   * fail. @format date-time
   */
  failing_since: v.exactOptional(v.string()),
  /** The latest delivery. Absent if there is none. */
  last_delivery: v.exactOptional(LastDelivery),
  /** The deliveries of the last 24 hours by outcome, in the response to a GET of one trigger. */
  counts_24h: v.exactOptional(DeliveryCounts),
  /** Its latest runs, at most 10, newest first. In the response to a GET of one trigger. */
  recent_runs: v.exactOptional(v.array(RecentRun)),
});
export type TriggerItem = v.InferOutput<typeof TriggerItem>;

/** A new trigger with its secret, which is shown only once. */
export const CreatedTrigger = v.object({
  ...TriggerItem.entries,
  /** The secret, returned once. */
  secret: v.string(),
});

/** A new secret for a trigger. */
export const RotateTriggerSecretRequest = v.object({
  /** The secret, if the other system generates it. By default Runyard generates it. */
  secret: v.exactOptional(TriggerSecret),
});

/** A trigger with its new secret, which is shown only once. */
export const RotatedTrigger = v.object({
  ...CreatedTrigger.entries,
  /** The time until which requests with the previous secret are accepted as well. @format date-time */
  previous_secret_expires_at: v.string(),
});

/** A page of triggers. */
export const ListTriggersResponse = v.object({
  /** The triggers, oldest first. */
  triggers: v.array(TriggerItem),
  /** The position of the page in the list. */
  page_info: v.exactOptional(PageInfo),
});
