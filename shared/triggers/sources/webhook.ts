import { firstText, readText } from "./member.ts";
import type { ReadHeader, Source } from "./source.ts";

/** Members and headers in which systems name the type of an event, and its own id. */
const TYPE_MEMBERS = ["type", "event_type", "event", "webhookEvent"];
const TYPE_HEADERS = ["x-github-event", "x-gitlab-event", "sentry-hook-resource"];
const ID_HEADERS = [
  "webhook-id",
  "x-github-delivery",
  "linear-delivery",
  "x-atlassian-webhook-identifier",
  "request-id",
];

const base: Omit<Source, "identify"> = {
  runSource: "CUSTOM_WEBHOOK",

  read: (payload, header) => ({
    type: firstText(
      ...TYPE_HEADERS.map((name) => header(name) ?? ""),
      ...TYPE_MEMBERS.map((name) => readText(payload, name)),
    ),
    action: readText(payload, "action"),
    text: firstText(readText(payload, "text"), readText(payload, "message")),
    author: { id: "", name: "", kind: "application" },
    repository: "",
    thread: "",
  }),

  judge: () => "trusted",
};

const readId = (header: ReadHeader): { readonly id?: string } => {
  const id = ID_HEADERS.map(header).find((one) => one !== undefined);
  return id === undefined ? {} : { id };
};

/** Any system that sends JSON. */
export const webhook: Source = { ...base, identify: (_payload, header) => ({ ...readId(header), isSigned: false }) };

/** A system that signs its requests by Standard Webhooks, their ids included. */
export const standardWebhook: Source = {
  ...base,
  identify(_payload, header) {
    const id = header("webhook-id");
    return { ...(id === undefined ? {} : { id }), isSigned: true };
  },
};
