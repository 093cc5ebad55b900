import type { TriggerPreset, TriggerVerification } from "#shared/wire/triggers/trigger.ts";
import { firstText, readMember, readText } from "./member.ts";
import type { EventIdentity, ReadHeader, Source } from "./source.ts";

interface Preset extends Source {
  readonly verification: TriggerVerification;
  readonly prompt: string;
}

const SYSTEM = { id: "", name: "", kind: "application" } as const;

const readUnsigned = (name: string, header: ReadHeader): EventIdentity => {
  const id = header(name);
  return { ...(id === undefined ? {} : { id }), isSigned: false };
};

/** https://linear.app/developers/webhooks */
const linear: Preset = {
  runSource: "LINEAR",
  verification: { scheme: "hmac", header: "Linear-Signature", encoding: "hex" },
  prompt:
    "Work on the Linear ticket that was changed. It is {{ event.payload.url }}, titled {{ event.payload.data.title }}.\n\nWhat was written: {{ event.text }}\n",

  read(payload) {
    const type = readText(payload, "type");
    const data = readMember(payload, "data");
    const actor = readMember(payload, "actor");
    return {
      type,
      action: readText(payload, "action"),
      text: firstText(readText(data, "body"), readText(data, "description")),
      author: {
        id: readText(actor, "id"),
        name: readText(actor, "name"),
        kind: readText(actor, "type") === "user" ? "person" : "application",
      },
      repository: "",
      thread:
        type === "Issue" ? readText(data, "id") : firstText(readText(data, "issueId"), readText(data, "issue", "id")),
    };
  },

  identify: (_payload, header) => readUnsigned("linear-delivery", header),
  judge: ({ author }) => (author.kind === "person" ? "trusted" : "bot"),
};

/** https://developer.atlassian.com/cloud/jira/platform/webhooks/ */
const jira: Preset = {
  runSource: "JIRA",
  verification: { scheme: "hmac", header: "X-Hub-Signature", prefix: "sha256=", encoding: "hex" },
  prompt:
    "Work on the Jira ticket {{ event.payload.issue.key }}, titled {{ event.payload.issue.fields.summary }}.\n\nWhat was written: {{ event.text }}\n",

  read(payload) {
    const type = readText(payload, "webhookEvent");
    const actor = readJiraActor(type, payload);
    return {
      type,
      action: readText(payload, "issue_event_type_name"),
      text: firstText(readText(payload, "comment", "body"), readText(payload, "issue", "fields", "description")),
      author: {
        id: readText(actor, "accountId"),
        name: readText(actor, "displayName"),
        kind: readText(actor, "accountType") === "app" ? "application" : "person",
      },
      repository: "",
      thread: readText(payload, "issue", "key"),
    };
  },

  identify: (_payload, header) => readUnsigned("x-atlassian-webhook-identifier", header),

  judge({ type, author, payload }) {
    if (author.kind !== "person") return "bot";
    return readText(readJiraActor(type, payload), "accountType") === "atlassian" ? "trusted" : "unknown";
  },
};

/** Events of comments have no user; who changed a comment need not be its author. */
const readJiraActor = (type: string, payload: unknown): unknown =>
  readMember(payload, "user") ?? readMember(payload, "comment", type === "comment_created" ? "author" : "updateAuthor");

/** https://docs.sentry.io/organization/integrations/integration-platform/webhooks/ */
const sentry: Preset = {
  runSource: "CUSTOM_WEBHOOK",
  verification: { scheme: "hmac", header: "Sentry-Hook-Signature", encoding: "hex" },
  prompt:
    "Find the cause of an alert of Sentry: {{ event.text }}\n\nIt is {{ event.payload.data.issue.web_url }}{{ event.payload.data.event.web_url }}.\n",

  read(payload, header) {
    const data = readMember(payload, "data");
    return {
      type: header("sentry-hook-resource") ?? "",
      action: readText(payload, "action"),
      text: firstText(
        ...["issue", "event", "error"].map((name) => readText(data, name, "title")),
        readText(data, "description_title"),
        readText(data, "comment"),
      ),
      author: SYSTEM,
      repository: "",
      thread: firstText(
        readText(data, "issue", "id"),
        readText(data, "event", "issue_id"),
        readText(data, "error", "issue_id"),
        readText(data, "issue_id"),
      ),
    };
  },

  identify: (_payload, header) => readUnsigned("request-id", header),
  judge: () => "trusted",
};

/** https://developer.pagerduty.com/docs/webhooks-overview */
const pagerduty: Preset = {
  runSource: "CUSTOM_WEBHOOK",
  verification: { scheme: "hmac", header: "X-PagerDuty-Signature", prefix: "v1=", encoding: "hex" },
  prompt:
    "Find the cause of an incident: {{ event.text }}\n\nIt is {{ event.payload.event.data.html_url }} of the service {{ event.payload.event.data.service.summary }}.\n",

  read(payload) {
    const event = readMember(payload, "event");
    const [type = "", ...action] = readText(event, "event_type").split(".");
    return {
      type,
      action: action.join("."),
      text: firstText(readText(event, "data", "title"), readText(event, "data", "summary")),
      author: SYSTEM,
      repository: "",
      thread: firstText(
        readText(event, "data", "incident", "id"),
        type === "incident" ? readText(event, "data", "id") : "",
      ),
    };
  },

  identify(payload) {
    const id = readText(payload, "event", "id");
    return { ...(id === "" ? {} : { id }), isSigned: true };
  },
  judge: () => "trusted",
};

export const PRESETS: Readonly<Record<TriggerPreset, Preset>> = { linear, jira, sentry, pagerduty };
